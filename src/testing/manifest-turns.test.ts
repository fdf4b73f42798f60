import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSeen, manifestTurns } from './manifest-turns.ts';
import type { PrintedObject } from './printed-objects.ts';

const document = (kind: string, name: string): string => `---\nkind: ${kind}\nmetadata:\n  name: ${name}\n`;

test('pods that come with a Subnet are a turn of their own, and nothing else is', () => {
  const [vpc, subnet, space, pod, set] = [
    document('Vpc', 'v'),
    document('Subnet', 's'),
    document('Namespace', 'n'),
    document('Pod', 'p'),
    document('StatefulSet', 'p'),
  ];
  assert.deepEqual(manifestTurns(vpc + pod + subnet + set + space), {
    turns: [vpc + subnet + space, pod + set],
    binding: [
      { kind: 'subnet', name: 's' },
      { kind: 'namespace', name: 'n' },
    ],
  });
  for (const one of [vpc + subnet + space, space + pod, '{"kind":"Pod"}'])
    assert.deepEqual(manifestTurns(one), { turns: [one], binding: [] });
});

test('a Subnet is seen when something is said of it as it is, a Namespace when its Subnets are', () => {
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
