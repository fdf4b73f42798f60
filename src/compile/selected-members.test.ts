import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabelSelector } from '../api/kubernetes/meta.ts';
import { selectorMatches } from '../api/kubernetes/label-selector.ts';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import { RuleBench } from '../testing/rule-bench.ts';
import { keysOf } from '../engine/domain.ts';
import { labelSetOf } from '../world/label-set.ts';
import { selectorText } from '../world/selections/selector.ts';
import type { View } from '../world/selections/view.ts';
import { defineView } from '../world/selections/view.ts';
import type { World } from '../world/world.ts';
import type { Rule } from './rule.ts';
import { memberKey } from './desired-rows.ts';
import type { Output, RowOwner } from './output.ts';

const owner: RowOwner = { kind: 'vpc', namespace: '', name: 'v', uid: 'uid-v', created: '2026-01-01T00:00:00Z' };

function viewOf(name: string, members: (address: string, pod: string) => Parameters<typeof memberOf>[1]): View {
  return defineView(
    name,
    (world) => keysOf(world.pods),
    (world, pod) => memberOf(world, members(world.pods.get(pod)?.metadata.annotations?.['address'] ?? '', pod), pod),
  );
}

function memberOf(world: World, members: NonNullable<ReturnType<View['entry']>>['members'], pod: string): ReturnType<View['entry']> {
  const { namespace = '', labels } = world.pods.get(pod)?.metadata ?? { name: '' };
  return { labelSet: labelSetOf(namespace, labels), members };
}

const addresses = viewOf('test-addresses', (address) => [address]);
const balancers = viewOf('test-balancers', (_, pod) => [{ ref: rowId('Load_Balancer', pod) }]);
/** The address, which may change, as the value of a key. */
const backends = viewOf('test-backends', (address, pod) => [{ key: keyOf(pod), value: address }]);

const WEB_OF_A = selectorText({ namespaces: 'a', pods: { matchLabels: { app: 'web' } } });

/** A key of a map for a pod. Its text is in no other column. */
function keyOf(pod: string): string {
  return `10.96.0.${pod.charCodeAt(0)}:${pod.charCodeAt(pod.length - 1)}`;
}

interface Policy {
  readonly namespaces: string | LabelSelector;
  readonly pods: LabelSelector;
}

function policyOf(text: string | undefined): Policy {
  return JSON.parse(text ?? '') as Policy;
}

/** Policies are Vpcs with a selector in an annotation; each has an address set, and a router with load balancers, one for each pod. */
const rules: readonly Rule[] = [
  {
    name: 'policy',
    over: (world) => keysOf(world.vpcs),
    run: (world, key) => {
      const selector = selectorText(policyOf(world.vpcs.get(key)?.metadata.annotations?.['policy']));
      const [set, router, map] = [rowId('Address_Set', key), rowId('Logical_Router', key), rowId('Load_Balancer', `of-${key}`)];
      return [
        { kind: 'row', id: set, owner, rule: 'policy', columns: { name: key, addresses: ['192.0.2.1'] } },
        { kind: 'selection', row: set, column: 'addresses', selector, view: addresses },
        { kind: 'row', id: router, owner, rule: 'policy', columns: { name: key } },
        { kind: 'selection', row: router, column: 'load_balancer', selector, view: balancers },
        { kind: 'row', id: map, owner, rule: 'policy', columns: { name: `of-${key}`, vips: {}, ip_port_mappings: {} } },
        { kind: 'selection', row: map, column: 'vips', selector, view: backends },
      ] satisfies Output[];
    },
  },
  {
    // Emits the same selection once more, and in another column that of some pods of namespace "a".
    name: 'again',
    over: (world) => keysOf(world.vpcs),
    run: (world, key) => {
      const { annotations = {} } = world.vpcs.get(key)?.metadata ?? {};
      if (annotations['again'] === undefined) return [];
      const map = rowId('Load_Balancer', `of-${key}`);
      const selector = selectorText(policyOf(annotations['policy']));
      return [
        ...(annotations['again'] === 'yes' ? [{ kind: 'selection', row: map, column: 'vips', selector, view: backends } as const] : []),
        { kind: 'selection', row: map, column: 'ip_port_mappings', selector: WEB_OF_A, view: backends },
      ] satisfies Output[];
    },
  },
  {
    name: 'balancer',
    over: (world) => keysOf(world.pods),
    run: (_, key) => [{ kind: 'row', id: rowId('Load_Balancer', key), owner, rule: 'balancer', columns: { name: key } }],
  },
];

function putPod(bench: RuleBench, name: string, labels: Readonly<Record<string, string>>, address: string): void {
  bench.put('pods', { metadata: { name, namespace: name.slice(0, 1), labels, annotations: { address } }, spec: {} });
}

function putPolicy(bench: RuleBench, name: string, policy: Policy, again?: string): void {
  bench.put('vpcs', {
    metadata: { name, annotations: { policy: JSON.stringify(policy), ...(again !== undefined && { again }) } },
    spec: {},
  });
}

/** By row, the names of the members, computed naively from the objects. */
function naive({ world }: RuleBench): ReadonlyMap<RowId, ReadonlySet<string>> {
  return new Map(
    [...world.vpcs.entries()].flatMap(([name, vpc]) => {
      const { namespaces, pods } = policyOf(vpc.metadata.annotations?.['policy']);
      const selected = [...world.pods.entries()].filter(([, { metadata }]) => {
        const { namespace = '', labels } = metadata;
        const within =
          typeof namespaces === 'string'
            ? namespace === namespaces
            : selectorMatches(namespaces, world.namespaces.peek(namespace)?.metadata.labels);
        return within && selectorMatches(pods, labels);
      });
      return [
        [rowId('Address_Set', name), new Set(selected.map(([, { metadata }]) => metadata.annotations?.['address'] ?? ''))],
        [rowId('Logical_Router', name), new Set(selected.map(([pod]) => rowId('Load_Balancer', pod)))],
      ] as const;
    }),
  );
}

function columnOf(row: RowId): string {
  return row.startsWith('Address_Set/') ? 'addresses' : 'load_balancer';
}

/** Every row whose members changed must be marked for comparison. */
function assertMarked(bench: RuleBench, before: ReadonlyMap<RowId, ReadonlySet<string>>): void {
  bench.world.reactor.runDue();
  const { dueMembers, dueSelections } = bench.desired.rows;
  for (const [row, members] of naive(bench)) {
    if (dueSelections.has(row)) continue;
    const former = before.get(row) ?? new Set<string>();
    for (const member of new Set([...members, ...former]))
      if (members.has(member) !== former.has(member))
        assert.ok(dueMembers.get(row)?.has(memberKey(columnOf(row), member)), `${member} of ${row} is to be compared`);
  }
}

function assertRight(bench: RuleBench): void {
  for (const [row, members] of naive(bench)) {
    const [table = '', name = ''] = row.split('/');
    const held = new Set(bench.list(table, name, columnOf(row)));
    assert.deepEqual(held, new Set([...(table === 'Address_Set' ? ['192.0.2.1'] : []), ...members]));
  }
  for (const [name] of bench.world.vpcs.entries()) {
    const selected = naive(bench).get(rowId('Logical_Router', name)) ?? new Set();
    const entries = (isIn: (pod: string) => boolean): unknown =>
      Object.fromEntries(
        [...bench.world.pods.entries()]
          .filter(([pod]) => isIn(pod))
          .map(([pod, { metadata }]) => [keyOf(pod), metadata.annotations?.['address'] ?? '']),
      );
    assert.deepEqual(
      bench.map('Load_Balancer', `of-${name}`, 'vips'),
      entries((pod) => selected.has(rowId('Load_Balancer', pod))),
    );
    assert.deepEqual(
      bench.map('Load_Balancer', `of-${name}`, 'ip_port_mappings'),
      entries((pod) => pod.startsWith('a/') && bench.world.pods.peek(pod)?.metadata.labels?.['app'] === 'web'),
    );
  }
}

const SELECTORS: readonly LabelSelector[] = [
  {},
  { matchLabels: { app: 'web' } },
  { matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'web'] }] },
  { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['db'] }] },
  { matchExpressions: [{ key: 'tier', operator: 'Exists' }], matchLabels: { app: 'web' } },
  { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] },
];

for (const seed of [1, 2, 3])
  test(`rows have what their selectors select, whatever is created, changed and deleted (history ${seed})`, () => {
    let state = seed * 7_919;
    const draw = (most: number): number => (state = (state * 48_271) % 2_147_483_647) % most;
    const labels = (): Record<string, string> => ({
      ...(draw(4) > 0 && { app: draw(2) === 0 ? 'web' : 'db' }),
      ...(draw(3) === 0 && { tier: String(draw(2)) }),
    });
    let bench = new RuleBench({ rules });
    let before: ReturnType<typeof naive> = new Map();
    for (const namespace of ['a', 'b']) bench.put('namespaces', { metadata: { name: namespace, labels: labels() } });
    for (let step = 0; step < 150; step++) {
      const pod = `${'ab'[draw(2)]}/p${draw(6)}`;
      const exists = bench.world.pods.peek(pod) !== undefined;
      const what = draw(12);
      if (what < 6) {
        const [namespace = '', name = ''] = pod.split('/');
        // Two pods may have one address.
        bench.put('pods', { metadata: { name, namespace, labels: labels(), annotations: { address: `10.0.0.${draw(5)}` } }, spec: {} });
      } else if (what < 8 && exists) bench.removeByForce('pods', pod);
      else if (what === 8) bench.put('namespaces', { metadata: { name: 'ab'[draw(2)] as string, labels: labels() } });
      else if (what < 11) {
        const pods = SELECTORS[draw(SELECTORS.length)] as LabelSelector;
        const namespaces = draw(2) === 0 ? 'a' : (SELECTORS[draw(SELECTORS.length)] as LabelSelector);
        putPolicy(bench, `policy-${draw(3)}`, { namespaces, pods }, draw(2) === 0 ? 'yes' : 'no');
      } else if (draw(3) === 0) [bench, before] = [bench.restarted(), new Map()];
      if (draw(3) > 0) continue;
      assertMarked(bench, before);
      bench.converge();
      assertRight(bench);
      before = naive(bench);
    }
    bench.converge();
    assertRight(bench);
    assert.equal(bench.writesAfterRestart(), 0, 'a fresh controller writes nothing');
  });

test('a pod that comes costs the same at any number of pods, and nothing for policies that do not select it', () => {
  const costs = [
    [50, 5],
    [1_000, 100],
  ].map(([pods = 0, policies = 0]) => {
    const bench = new RuleBench({ rules });
    bench.put('namespaces', { metadata: { name: 'a' } });
    for (let number = 0; number < policies; number++)
      putPolicy(bench, `other-${number}`, { namespaces: 'a', pods: { matchLabels: { app: `other-${number}` } } });
    putPolicy(bench, 'web', { namespaces: 'a', pods: { matchLabels: { app: 'web' } } });
    for (let number = 0; number < pods; number++) putPod(bench, `a-${number}`, { app: 'web' }, `10.0.${number >> 8}.${number & 255}`);
    bench.world.reactor.runDue();
    const { runs } = bench.world.reactor;
    const { rows: desired } = bench.desired;
    for (const due of [desired.dueRows, desired.dueMembers, desired.dueSelections]) due.clear();
    putPod(bench, 'a-new', { app: 'web' }, '10.9.9.9');
    bench.world.reactor.runDue();
    const [set, router, map] = [rowId('Address_Set', 'web'), rowId('Logical_Router', 'web'), rowId('Load_Balancer', 'of-web')];
    assert.deepEqual(
      desired.dueMembers,
      new Map([
        [set, new Set(['addresses\n10.9.9.9'])],
        [router, new Set([`load_balancer\n${rowId('Load_Balancer', 'a/a-new')}`])],
        [map, new Set([`vips\n${keyOf('a/a-new')}`])],
      ]),
    );
    assert.equal(desired.dueSelections.size, 0);
    return bench.world.reactor.runs - runs;
  });
  assert.equal(costs[0], costs[1]);
  assert.ok((costs[0] ?? 0) <= 5, `${costs[0]} runs`);
});

test('equal selectors have one text, in whatever order they are written', () => {
  const text = (pods: LabelSelector): string => selectorText({ namespaces: 'a', pods });
  const values = (...some: string[]): LabelSelector => ({ matchExpressions: [{ key: 'app', operator: 'In', values: some }] });
  assert.equal(text(values('db', 'web', 'db')), text(values('web', 'db')));
  assert.equal(text({ matchLabels: { app: 'web', tier: '1' } }), text({ matchLabels: { tier: '1', app: 'web' } }));
  assert.equal(text({ matchLabels: { app: 'web' } }), text(values('web')));
  assert.notEqual(text(values('web')), text(values('db')));
  const exists = (more: { readonly values?: string[] }): LabelSelector => ({
    matchExpressions: [{ key: 'app', operator: 'Exists', ...more }],
  });
  assert.equal(text(exists({ values: [] })), text(exists({})));
});

test('a selection that two rules emit stays while one of them does', () => {
  const bench = new RuleBench({ rules });
  bench.put('namespaces', { metadata: { name: 'a' } });
  putPod(bench, 'a-1', { app: 'web' }, '10.0.0.1');
  const web: Policy = { namespaces: 'a', pods: { matchLabels: { app: 'web' } } };
  putPolicy(bench, 'web', web, 'yes');
  bench.converge();
  putPolicy(bench, 'web', web, 'no');
  bench.converge();
  assert.deepEqual(bench.map('Load_Balancer', 'of-web', 'vips'), { [keyOf('a/a-1')]: '10.0.0.1' });
  // Its pods are still followed.
  putPod(bench, 'a-2', { app: 'web' }, '10.0.0.2');
  bench.converge();
  assert.deepEqual(bench.map('Load_Balancer', 'of-web', 'vips'), { [keyOf('a/a-1')]: '10.0.0.1', [keyOf('a/a-2')]: '10.0.0.2' });
});

test('another value of a selected key is to be compared, and nothing else', () => {
  const bench = new RuleBench({ rules });
  bench.put('namespaces', { metadata: { name: 'a' } });
  putPod(bench, 'a-1', { app: 'web' }, '10.0.0.1');
  putPolicy(bench, 'web', { namespaces: 'a', pods: {} });
  bench.converge();
  const { rows: desired } = bench.desired;
  for (const due of [desired.dueRows, desired.dueMembers, desired.dueSelections]) due.clear();
  putPod(bench, 'a-1', { app: 'web' }, '10.0.0.2');
  bench.world.reactor.runDue();
  assert.deepEqual(
    desired.dueMembers,
    new Map([
      [rowId('Address_Set', 'web'), new Set(['addresses\n10.0.0.1', 'addresses\n10.0.0.2'])],
      [rowId('Load_Balancer', 'of-web'), new Set([`vips\n${keyOf('a/a-1')}`])],
    ]),
  );
});

test('a policy that comes or has gone announces no single member, nor does one that no longer selects a pod', () => {
  const bench = new RuleBench({ rules });
  bench.put('namespaces', { metadata: { name: 'a', labels: { team: 'x' } } });
  putPod(bench, 'a-1', { app: 'web' }, '10.0.0.1');
  // So that the views exist already.
  putPolicy(bench, 'none', { namespaces: 'b', pods: {} });
  bench.converge();
  const { rows: desired } = bench.desired;
  const announcedBy = (change: () => void): readonly RowId[] => {
    for (const due of [desired.dueRows, desired.dueMembers, desired.dueSelections]) due.clear();
    change();
    bench.world.reactor.runDue();
    return [...desired.dueMembers.keys()].filter((row) => !row.startsWith('Load_Balancer/a/'));
  };
  const podChanges =
    (address: string): (() => void) =>
    () =>
      putPod(bench, 'a-1', { app: 'web' }, address);
  const team: Policy = { namespaces: { matchLabels: { team: 'x' } }, pods: { matchLabels: { app: 'web' } } };
  assert.deepEqual(
    announcedBy(() => putPolicy(bench, 'web', team)),
    [],
    'all members of its rows are compared',
  );
  assert.equal(announcedBy(podChanges('10.0.0.2')).length, 2);
  bench.put('namespaces', { metadata: { name: 'a', labels: { team: 'y' } } });
  bench.converge();
  assert.deepEqual(announcedBy(podChanges('10.0.0.3')), [], 'its namespace is no longer selected');

  bench.put('namespaces', { metadata: { name: 'a', labels: { team: 'x' } } });
  bench.converge();
  bench.removeByForce('vpcs', 'web');
  bench.converge();
  assert.deepEqual(announcedBy(podChanges('10.0.0.4')), [], 'it is gone');
  assert.deepEqual(
    announcedBy(() => putPod(bench, 'a-1', { app: 'other' }, '10.0.0.4')),
    [],
  );
  // A label set that comes is not followed for a policy that is gone.
  assert.deepEqual(announcedBy(podChanges('10.0.0.5')), []);
});
