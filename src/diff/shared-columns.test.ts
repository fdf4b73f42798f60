import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rule } from '../compile/rule.ts';
import type { MemberOutput, RowOutput } from '../compile/output.ts';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import { tableSpec, TABLES } from '../nb/tables.ts';
import { RuleBench } from '../testing/rule-bench.ts';
import { keysOf } from '../engine/domain.ts';

/** One column for each mode of members, and the contributions of two namespaces. */
const COLUMNS: readonly {
  readonly mode: string;
  readonly id: RowId;
  readonly column: string;
  readonly base?: RowOutput['columns'][string];
  readonly member: (namespace: string) => MemberOutput['member'];
  readonly held: (namespaces: readonly string[]) => unknown;
}[] = [
  {
    mode: 'entries',
    id: rowId('Load_Balancer', 'shared'),
    column: 'vips',
    base: { '10.96.0.1:443': '192.0.2.1:6443' },
    member: (namespace) => ({ key: `10.96.0.9:80${namespace.length}`, value: `10.0.0.${namespace.length}:80` }),
    held: (namespaces) =>
      new Map([
        ['10.96.0.1:443', '192.0.2.1:6443'],
        ...namespaces.map((one) => [`10.96.0.9:80${one.length}`, `10.0.0.${one.length}:80`] as const),
      ]),
  },
  {
    mode: 'map',
    id: rowId('Load_Balancer', 'shared'),
    column: 'options',
    base: { hairpin_snat_ip: '192.0.2.9' },
    member: (key) => ({ key, value: 'true' }),
    held: (namespaces) => new Map([['hairpin_snat_ip', '192.0.2.9'], ...namespaces.map((one) => [one, 'true'] as const)]),
  },
  {
    mode: 'keys',
    id: rowId('Logical_Switch', 'shared'),
    column: 'other_config',
    base: { mcast_ip4_src: '192.0.2.1' },
    member: (namespace) => ({ key: namespace === 'a' ? 'mcast_snoop' : 'mcast_querier', value: 'true' }),
    held: (namespaces) =>
      new Map([
        ['mcast_ip4_src', '192.0.2.1'],
        ...namespaces.map((one) => [one === 'a' ? 'mcast_snoop' : 'mcast_querier', 'true'] as const),
      ]),
  },
  {
    mode: 'elements',
    id: rowId('Address_Set', 'shared'),
    column: 'addresses',
    base: ['192.0.2.1'],
    member: (namespace) => `10.0.0.${namespace.length}`,
    held: (namespaces) => new Set(['192.0.2.1', ...namespaces.map((one) => `10.0.0.${one.length}`)]),
  },
  {
    mode: 'refs',
    id: rowId('Logical_Router', 'shared'),
    column: 'load_balancer',
    member: (namespace) => ({ ref: rowId('Load_Balancer', namespace) }),
    held: (namespaces) => new Set(namespaces.map((one) => rowId('Load_Balancer', one))),
  },
];

function modeOf(id: RowId, column: string): string {
  const mode = tableSpec(id.slice(0, id.indexOf('/'))).columns[column];
  return Array.isArray(mode) ? 'keys' : String(mode);
}

for (const { mode, id, column, base, member, held } of COLUMNS) {
  const owner = { kind: 'vpc', namespace: '', name: 'v', uid: 'uid-v', created: '2026-01-01T00:00:00Z' };
  const rules: readonly Rule[] = [
    {
      name: 'shared',
      over: (world) => keysOf(world.vpcs),
      run: () => {
        const columns = { name: 'shared', ...(base !== undefined && { [column]: base }) };
        const others = ['a', 'bb'].map((name): RowOutput => ({
          kind: 'row',
          id: rowId('Load_Balancer', name),
          owner,
          rule: 'shared',
          columns: { name },
        }));
        return [{ kind: 'row', id, owner, rule: 'shared', columns }, ...others];
      },
    },
    {
      name: 'contributed',
      over: (world) => keysOf(world.namespaces),
      run: (_, key) => [{ kind: 'member', row: id, column, member: member(key), owner, rule: 'contributed' } as MemberOutput],
    },
  ];
  const started = (): RuleBench => {
    const bench = new RuleBench({ rules });
    bench.put('vpcs', { metadata: { name: 'v' }, spec: {} });
    for (const name of ['a', 'bb']) bench.put('namespaces', { metadata: { name } });
    bench.converge();
    return bench;
  };
  const read = (bench: RuleBench): unknown => {
    const value = bench.world.rows.best(id)?.row[column];
    if (mode !== 'refs') return value;
    return new Set([...(value as ReadonlySet<string>)].map((uuid) => bench.world.rows.entry(uuid as never)?.id));
  };

  test(`a column of mode ${mode} has the values of the row output and of the members, and loses a member that is no longer emitted`, () => {
    assert.equal(modeOf(id, column), mode);
    const bench = started();
    assert.deepEqual(read(bench), held(['a', 'bb']));
    bench.removeByForce('namespaces', 'bb');
    bench.converge();
    assert.deepEqual(read(bench), held(['a']));
    bench.removeByForce('namespaces', 'a');
    bench.converge();
    assert.deepEqual(read(bench), held([]));
  });

  test(`a member of a column of mode ${mode} that is no longer emitted after a restart is collected`, () => {
    const bench = started();
    bench.removeByForce('namespaces', 'bb');
    const again = bench.restarted();
    again.converge();
    assert.deepEqual(read(again), held(['a']));
    const writes = again.writes;
    again.converge();
    assert.equal(again.writes, writes, 'nothing is left to write');
  });
}

test('entries of a column that the row output does not name stay', () => {
  const id = rowId('Load_Balancer', 'shared');
  const owner = { kind: 'vpc', namespace: '', name: 'v', uid: 'uid-v', created: '2026-01-01T00:00:00Z' };
  const vips = { '10.96.0.1:443': '192.0.2.1:6443' };
  const rule: Rule = {
    name: 'shared',
    over: (world) => keysOf(world.vpcs),
    run: (world, name) => {
      const isNamed = world.vpcs.get(name)?.metadata.annotations?.['named'] === 'yes';
      return [{ kind: 'row', id, owner, rule: 'shared', columns: { name: 'shared', ...(isNamed && { vips }) } }];
    },
  };
  const bench = new RuleBench({ rules: [rule] });
  bench.put('vpcs', { metadata: { name: 'v', annotations: { named: 'yes' } }, spec: {} });
  bench.converge();
  bench.put('vpcs', { metadata: { name: 'v', annotations: {} }, spec: {} });
  const again = bench.restarted();
  again.converge();
  assert.deepEqual(again.map('Load_Balancer', 'shared', 'vips'), vips);
});

test('every mode of a column that members can be in is tested here', () => {
  const modes = new Set(TABLES.flatMap(({ table, columns }) => Object.keys(columns).map((column) => modeOf(rowId(table, ''), column))));
  modes.delete('value');
  assert.deepEqual([...modes].toSorted(), COLUMNS.map(({ mode }) => mode).toSorted());
});
