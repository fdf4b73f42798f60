import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasPods, isSeen, manifestTurns } from './manifest-turns.ts';
import type { PrintedObject } from './printed-objects.ts';

const document = (kind: string, name: string): string => `---\nkind: ${kind}\nmetadata:\n  name: ${name}\n`;

test('pods with objects that bind them are applied in a second turn, and nothing else is', () => {
  const [vpc, subnet, pool, space, pod, set] = [
    document('Vpc', 'v'),
    document('Subnet', 's'),
    document('IPPool', 'i'),
    document('Namespace', 'n'),
    document('Pod', 'p'),
    document('StatefulSet', 'p'),
  ];
  assert.deepEqual(manifestTurns(vpc + pod + subnet + pool + set + space), {
    turns: [vpc + subnet + pool + space, pod + set],
    binding: [
      { kind: 'vpc', name: 'v' },
      { kind: 'subnet', name: 's' },
      { kind: 'ippool', name: 'i' },
      { kind: 'namespace', name: 'n' },
    ],
  });
  assert.deepEqual(manifestTurns(vpc + space + pod), { turns: [vpc + space, pod], binding: [{ kind: 'vpc', name: 'v' }] });
  assert.deepEqual(manifestTurns(subnet), { turns: [subnet], binding: [{ kind: 'subnet', name: 's' }] });
  for (const one of [space + pod, '{"kind":"Pod"}']) assert.deepEqual(manifestTurns(one), { turns: [one], binding: [] });
  assert.deepEqual(
    [pod, set, vpc + space, space + pod].map((one) => hasPods(one)),
    [true, true, false, true],
  );
});

test('the name is found on its own line after labels, and in braces', () => {
  for (const metadata of ['metadata: {name: s}\n', 'metadata:\n  labels:\n    name: other\n  name: s\nspec:\n  name: t\n'])
    assert.deepEqual(manifestTurns(`---\nkind: Subnet\n${metadata}`).binding, [{ kind: 'subnet', name: 's' }]);
});

test('an object is observed when it has a current report, a Namespace when it has its Subnets', () => {
  const metadata = { name: 'x', uid: 'u', resourceVersion: '1', generation: 2 };
  const subnet = (observedGeneration: number): PrintedObject => ({
    metadata,
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'False', observedGeneration }] },
  });
  assert.deepEqual(
    [subnet(1), subnet(2), { metadata, spec: {} }].map((object) => isSeen({ kind: 'subnet', name: 'x' }, object)),
    [false, true, false],
  );
  const annotations = { 'ovn.kubernetes.io/logical_switch': 's' };
  assert.deepEqual(
    [{}, annotations].map((each) => isSeen({ kind: 'namespace', name: 'x' }, { metadata: { ...metadata, annotations: each }, spec: {} })),
    [false, true],
  );
});
