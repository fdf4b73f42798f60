import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import { Desired } from './desired.ts';
import { KeyedOutputs } from '../engine/keyed-outputs.ts';
import type { RowOwner, MemberOutput, PatchOutput, RowOutput, AddressRequestOutput } from './output.ts';
import { Outputs } from '../engine/outputs.ts';

const owner: RowOwner = { kind: 'vpc', namespace: '', name: 'v', uid: 'uid-v', created: '2026-01-01T00:00:00Z' };

function claim(columns: RowOutput['columns'], more: Partial<RowOutput> = {}): RowOutput {
  return { kind: 'row', id: rowId('Logical_Router', 'v'), owner, rule: 'test', columns, ...more };
}

test('of several rows for one identity every process writes the same one, in whatever order they are emitted', () => {
  const younger = { ...owner, uid: 'uid-a', created: '2026-02-01T00:00:00Z' };
  const claims = [
    claim({ name: 'a' }),
    claim({ name: 'b' }),
    claim({ name: 'c' }, { owner: younger }),
    claim({ name: 'd' }, { rule: 'rule' }),
    claim({ name: 'b' }, { externalIds: { node: 'n.1' } }),
    claim({ name: 'b' }, { externalIds: { node: 'n-1' } }),
  ];
  for (const order of [claims, claims.toReversed(), [...claims.slice(2), ...claims.slice(0, 2)]]) {
    const desired = new Desired();
    for (const one of order) desired.replace([], [one]);
    assert.deepEqual(
      desired.rows.row(claims[0]?.id as RowOutput['id'])?.rows.map(({ columns, externalIds }) => [columns['name'], externalIds?.['node']]),
      [
        ['d', undefined],
        ['a', undefined],
        ['b', 'n-1'],
        ['b', 'n.1'],
        ['b', undefined],
        ['c', undefined],
      ],
    );
  }
});

test('of several requests of one claimant each stands while its rule emits it, and every process answers the same', () => {
  const request = (v4: string): AddressRequestOutput => ({
    kind: 'address-request',
    request: { claimant: 'web.shop', subnets: ['red'], families: 'subnet', v4, since: '2026-01-01T00:00:00Z' },
  });
  for (const [first, second] of [
    ['10.0.0.5', '10.0.0.6'],
    ['10.0.0.6', '10.0.0.5'],
  ] as const) {
    for (const leaving of [0, 1] as const) {
      const desired = new Desired();
      const held = [desired.replace([], [request(first)]), desired.replace([], [request(second)])] as const;
      assert.equal(desired.addresses.request('web.shop')?.v4, '10.0.0.5');
      desired.addresses.dueRequests.clear();
      desired.replace(held[leaving], []);
      assert.deepEqual(
        [desired.addresses.request('web.shop')?.v4, [...desired.addresses.dueRequests]],
        [leaving === 0 ? second : first, ['web.shop']],
      );
      const other = desired.replace(held[1 - leaving] ?? [], [request('10.0.0.7')]);
      assert.equal(desired.addresses.request('web.shop')?.v4, '10.0.0.7');
      desired.replace(other, []);
      assert.equal([...desired.addresses.claimants].length, 0);
    }
  }
});

test('rows are counted by table, and conditions by status and reason, as outputs are added and removed', () => {
  const desired = new Desired();
  const ready = (status: 'True' | 'False'): PatchOutput => ({
    kind: 'patch',
    resource: 'vpcs',
    key: 'v',
    uid: 'uid-v',
    conditions: [{ type: 'Ready', status, reason: 'RouterReady', message: '' }],
  });
  const counted = (): unknown => [
    desired.rows.rowCounts.get('Logical_Router') ?? 0,
    Object.fromEntries([...desired.objects.conditionCounts].map(({ status, objects }) => [status, objects])),
  ];
  const first = desired.replace([], [claim({ name: 'a' }), ready('True')]);
  const second = desired.replace([], [claim({ name: 'b' }, { rule: 'other' })]);
  assert.deepEqual(counted(), [1, { True: 1 }], 'two claims to one row are one row');
  const third = desired.replace(first, [claim({ name: 'a' }), ready('False')]);
  assert.deepEqual(counted(), [1, { True: 0, False: 1 }]);
  desired.replace(second, []);
  desired.replace(third, []);
  assert.deepEqual(counted(), [0, { True: 0, False: 0 }]);
});

test('an equal output of the next run stays the same object, in whatever order a rule emits it', () => {
  const desired = new Desired();
  const rows = ['a', 'b', 'c', 'd'].map((name) => claim({ name }, { id: rowId('Logical_Router', name) }));
  const before = desired.replace([], rows);
  desired.rows.dueRows.clear();
  const after = desired.replace(before, [
    ...rows
      .toReversed()
      .slice(1)
      .map((row) => ({ ...row })),
    claim({ name: 'e' }),
  ]);
  assert.deepEqual(
    after.slice(0, 3).map((row) => before.indexOf(row)),
    [2, 1, 0],
  );
  assert.deepEqual([...desired.rows.dueRows].toSorted(), [rowId('Logical_Router', 'd'), rowId('Logical_Router', 'v')]);
});

test('the first of many members of one row is added and removed at the same cost for each member, however many there are', () => {
  let reads = 0;
  const member = (name: number): MemberOutput => ({
    kind: 'member',
    get row() {
      reads++;
      return rowId('Port_Group', 'all');
    },
    column: 'ports',
    member: { ref: rowId('Logical_Switch_Port', String(name)) },
  });
  const costs = [100, 32_000].map((size) => {
    const desired = new Desired();
    const numbers = Array.from({ length: size }, (_, at) => at);
    const all = desired.replace([], numbers.map(member));
    const held = desired.rows.row(rowId('Port_Group', 'all'));
    assert.equal(held?.members.size, size);
    desired.rows.dueMembers.clear();
    reads = 0;
    const rest = desired.replace(all, numbers.slice(1).map(member));
    const [left] = desired.rows.dueMembers.values();
    assert.deepEqual([...(left ?? [])], ['ports\nLogical_Switch_Port/0']);
    desired.rows.dueMembers.clear();
    desired.replace(rest, numbers.map(member));
    const [came] = desired.rows.dueMembers.values();
    assert.deepEqual([...(came ?? [])], ['ports\nLogical_Switch_Port/0']);
    assert.equal(held?.members.size, size);
    return reads / size;
  });
  assert.ok((costs[1] ?? 0) < (costs[0] ?? 0) * 1.2, `reads of each member: ${costs.join(', ')}`);
});

test('members that a rule emits in another order are found again, at the same cost for each, however many there are', () => {
  let reads = 0;
  const member = (name: number): MemberOutput => ({
    kind: 'member',
    row: rowId('Port_Group', 'all'),
    column: 'ports',
    get member() {
      reads++;
      return { ref: rowId('Logical_Switch_Port', String(name)) };
    },
  });
  const costs = [50, 1_000].map((size) => {
    const desired = new Desired();
    const numbers = Array.from({ length: size }, (_, at) => at);
    const all = desired.replace([], numbers.map(member));
    desired.rows.dueMembers.clear();
    reads = 0;
    desired.replace(all, numbers.toReversed().map(member));
    assert.equal(desired.rows.dueMembers.size, 0);
    return reads / size;
  });
  assert.ok((costs[1] ?? 0) < (costs[0] ?? 0) * 1.2, `reads of each member: ${costs.join(', ')}`);
});

test('a member that two rules emit stays until neither does', () => {
  const desired = new Desired();
  const id = rowId('Port_Group', 'all');
  const member = (): MemberOutput => ({ kind: 'member', row: id, column: 'ports', member: { ref: rowId('Logical_Switch_Port', 'a') } });
  const held = [desired.replace([], [member()]), desired.replace([], [member()])];
  desired.replace(held[0] ?? [], []);
  assert.equal(desired.rows.hasMembers(id), true);
  desired.replace(held[1] ?? [], []);
  assert.equal(desired.rows.hasMembers(id), false);
});

test('each kind of output has one part of the desired state', () => {
  const links = (): KeyedOutputs<{ readonly kind: string; readonly name: string }> => new KeyedOutputs(['link'], ({ name }) => name);
  assert.throws(() => new Outputs([links(), links()]), /two parts of the desired state take outputs of kind link/);
  const outputs = new Outputs([links()]);
  assert.throws(() => outputs.replace([], [{ kind: 'route', name: 'a' }]), /no part of the desired state takes outputs of kind route/);
});
