/** Principle 2 for every kind of output: what is desired depends on the outputs in effect, never on the order in which they came and went. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffObject } from '../diff/object-diff.ts';
import { rowId } from '../nb/row-id.ts';
import { keysOf } from '../engine/domain.ts';
import { labelSetOf } from '../world/label-set.ts';
import { selectorText } from '../world/selections/selector.ts';
import { defineView } from '../world/selections/view.ts';
import { RuleBench } from '../testing/rule-bench.ts';
import { Desired } from './desired.ts';
import { memberKey } from './desired-rows.ts';
import { KeyedOutputs } from '../engine/keyed-outputs.ts';
import type { KeyOutput, Output, PatchOutput, RowOwner } from './output.ts';

const view = defineView(
  'desired-order-test',
  (world) => keysOf(world.pods),
  () => ({ labelSet: labelSetOf('a', {}), members: ['10.0.0.1'] }),
);
const older: RowOwner = { kind: 'service', namespace: 'a', name: 'one', uid: 'uid-1', created: '2026-01-01T00:00:00Z' };
const younger: RowOwner = { ...older, name: 'two', uid: 'uid-2', created: '2026-02-01T00:00:00Z' };
const youngest: RowOwner = { ...older, name: 'three', uid: 'uid-3', created: '2026-03-01T00:00:00Z' };
const lb = rowId('Load_Balancer', 'lb');
const vip = { key: '10.96.0.1:80' };

function key(value: string, owner: RowOwner): KeyOutput {
  return { kind: 'member', row: lb, column: 'vips', member: { ...vip, value }, owner, rule: 'test' };
}

function patch(more: Partial<PatchOutput>): PatchOutput {
  return { kind: 'patch', resource: 'vpcs', key: 'v', uid: 'uid-v', ...more };
}

const ready = (message: string): PatchOutput => patch({ conditions: [{ type: 'Ready', status: 'True', reason: 'RouterReady', message }] });

const pool = (gateway: string): Output => ({
  kind: 'pool',
  subnet: 'red',
  v4: '10.0.0.0/24',
  gateways: [gateway],
  gatewayMacs: [],
  excludeIps: [],
  named: [],
});

const request = (v4: string): Output => ({
  kind: 'address-request',
  request: { claimant: 'web.a', subnets: ['red'], families: 'subnet', v4, since: '2026-01-01T00:00:00Z' },
});

const row = (name: string, owner: RowOwner): Output => ({ kind: 'row', id: lb, owner, rule: 'test', columns: { name } });

/** Three outputs of each kind for one identity, and what is desired of them. */
const KINDS: Readonly<
  Record<Output['kind'] | 'key', { readonly outputs: readonly Output[]; readonly seen: (desired: Desired) => unknown }>
> = {
  row: {
    outputs: [row('a', older), row('b', younger), row('c', youngest)],
    seen: ({ rows }) => rows.row(lb)?.rows.map(({ columns }) => columns),
  },
  key: {
    outputs: [key('A', older), key('B', younger), key('C', youngest)],
    seen: ({ rows }) => [
      rows.member(lb, memberKey('vips', { ...vip, value: '' }))?.member,
      [...rows.members(lb)],
      [...rows.sharedKeys(lb)],
    ],
  },
  member: {
    outputs: [1, 2, 3].map((): Output => ({
      kind: 'member',
      row: lb,
      column: 'load_balancer',
      member: { ref: rowId('Load_Balancer', 'x') },
    })),
    seen: ({ rows }) => [...rows.members(lb)],
  },
  selection: {
    outputs: [1, 2, 3].map((): Output => ({
      kind: 'selection',
      row: lb,
      column: 'ports',
      selector: selectorText({ namespaces: 'a', pods: {} }),
      view,
    })),
    seen: ({ rows }) => [[...rows.members(lb)], rows.hasMembers(lb)],
  },
  patch: {
    outputs: [
      { ...ready('one'), annotations: { note: 'a', other: null }, status: { v4: 1n }, spec: { size: 1 }, labels: { l: 'a' } },
      {
        ...ready('two'),
        annotations: { note: 'b', other: 'x' },
        status: { v4: 2n },
        spec: { size: 2 },
        labels: { l: 'b' },
        finalizer: true,
      },
      { ...ready('three'), annotations: { note: null }, finalizer: false },
    ],
    seen: writesOf,
  },
  create: {
    outputs: ['a', 'b', 'c'].map((size): Output => ({ kind: 'create', resource: 'vpcs', key: 'new', object: { spec: { size } } })),
    seen: ({ objects }) => diffObject('vpcs', 'new', objects.of('vpcs/new' as never), undefined, '2026-01-01T00:00:00Z'),
  },
  delete: { outputs: [1, 2, 3].map((): Output => ({ kind: 'delete', resource: 'vpcs', key: 'v', uid: 'uid-v' })), seen: writesOf },
  evict: {
    outputs: [1, 2, 3].map((): Output => ({ kind: 'evict', resource: 'vpcs', key: 'v', uid: 'uid-v' })),
    seen: (desired) => writesOf(desired).slice(0, 1),
  },
  'address-request': {
    outputs: [request('10.0.0.5'), request('10.0.0.6'), request('10.0.0.7')],
    seen: ({ addresses }) => addresses.request('web.a'),
  },
  pool: { outputs: [pool('10.0.0.1'), pool('10.0.0.2'), pool('10.0.0.3')], seen: ({ addresses }) => addresses.pool('red') },
  report: {
    outputs: ['a', 'b', 'c'].map((message): Output => ({
      kind: 'report',
      resource: 'vpcs',
      key: 'v',
      uid: 'uid-v',
      type: 'Warning',
      reason: 'Conflict',
      message,
    })),
    seen: ({ reports }) => [...reports.all].map(({ message }) => message).toSorted(),
  },
};

function writesOf({ objects }: Desired): readonly unknown[] {
  const observed = {
    metadata: { name: 'v', uid: 'uid-v', resourceVersion: '1', annotations: { other: 'y', note: 'z' } },
    spec: { size: 9 },
  };
  return diffObject('vpcs', 'v', objects.of('vpcs/v' as never), observed, '2026-01-01T00:00:00Z');
}

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

for (const [kind, { outputs, seen }] of Object.entries(KINDS)) {
  test(`what is desired of outputs of kind ${kind} does not depend on the order in which they came and went`, () => {
    const { world } = new RuleBench({ rules: [] });
    const desiredNow = (): Desired => new Desired(world);
    for (const order of permutations(outputs)) {
      for (const leaving of permutations(order)) {
        const desired = desiredNow();
        const held = new Map(order.map((output) => [output, desired.replace([], [output])]));
        let left: readonly Output[] = outputs;
        for (const output of leaving) {
          const fresh = desiredNow();
          for (const one of left) fresh.replace([], [one]);
          assert.deepEqual(
            seen(desired),
            seen(fresh),
            `${order.map((one) => outputs.indexOf(one)).join()} before ${outputs.indexOf(output)} leaves`,
          );
          desired.replace(held.get(output) ?? [], []);
          left = left.filter((one) => one !== output);
        }
        assert.deepEqual(seen(desired), seen(desiredNow()));
      }
    }
  });
}

test('outputs of one identity that a target keeps by itself are read in the order of their contents', () => {
  const links = ['c', 'a', 'b'].map((name) => ({ kind: 'link', name }));
  for (const order of permutations(links)) {
    const part = new KeyedOutputs<{ readonly kind: string; readonly name: string }>(['link'], () => 'all');
    for (const one of order) part.add(one);
    assert.deepEqual(
      part.of('all').map(({ name }) => name),
      ['a', 'b', 'c'],
    );
    part.remove(links[1] as (typeof links)[0]);
    assert.deepEqual(
      part.of('all').map(({ name }) => name),
      ['b', 'c'],
    );
  }
});

test('of two values for one key the older owner has it, and after its withdrawal the other one', () => {
  const [first, second] = [key('A', older), key('B', younger)];
  const desired = new Desired();
  const value = (): unknown => desired.rows.member(lb, memberKey('vips', { ...vip, value: '' }))?.member;
  const held = [desired.replace([], [second]), desired.replace([], [first])] as const;
  assert.deepEqual(value(), { ...vip, value: 'A' });
  desired.replace(held[1], []);
  assert.deepEqual(value(), { ...vip, value: 'B' });
  desired.replace(held[0], []);
  assert.equal(value(), undefined);
});
