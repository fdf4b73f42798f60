import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OWNER_KEY, RULE_KEY, UID_KEY, VENDOR, VENDOR_KEY } from '../nb/ownership.ts';
import type { RowChange, Uuid } from '../ovsdb/index.ts';
import { MemoryNorthbound } from '../testing/memory-northbound.ts';
import { TABLES } from '../nb/tables.ts';
import { ObservedRows } from './observed-rows.ts';
import { Reactor } from '../engine/reactor.ts';

/** Names and UUIDs. */
const SWITCHES = [1, 2].map((n) => `00000000-0000-4000-8000-00000000010${n}`);
const PORTS = [1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-00000000020${n}`);

/** A port is put into a switch, moves to another one, is removed, or becomes ours. */
const step = fc.record({
  what: fc.constantFrom('put', 'move', 'take', 'own'),
  port: fc.constantFrom(...PORTS),
  to: fc.constantFrom(...SWITCHES),
});

function owned(name: string): ReadonlyMap<string, string> {
  return new Map([
    [VENDOR_KEY, VENDOR],
    [OWNER_KEY, `pod/ns/${name}`],
    [UID_KEY, name],
    [RULE_KEY, 'r'],
  ]);
}

class Scene {
  readonly northbound = new MemoryNorthbound();
  readonly #homes = new Map<string, string>();

  constructor() {
    for (const name of SWITCHES) this.northbound.insert('Logical_Switch', name, { name });
  }

  do({ what, port, to }: { what: string; port: string; to: string }): RowChange[] {
    const home = this.#homes.get(port);
    const uuid = port as Uuid;
    const member = (parent: string, add: boolean) =>
      ({ kind: 'member', table: 'Logical_Switch', uuid: parent as Uuid, column: 'ports', add, value: port }) as const;
    if (what === 'put' && home === undefined) {
      this.#homes.set(port, to);
      return this.northbound.insert('Logical_Switch_Port', port, { name: port }, { table: 'Logical_Switch', uuid: to, column: 'ports' });
    }
    if (home === undefined) return [];
    if (what === 'move' && home !== to) {
      this.#homes.set(port, to);
      return this.northbound.apply([member(home, false), member(to, true)]);
    }
    if (what === 'take') {
      this.#homes.delete(port);
      return this.northbound.apply([member(home, false)]);
    }
    if (what === 'own')
      return this.northbound.apply([{ kind: 'update', table: 'Logical_Switch_Port', uuid, row: { external_ids: owned(port) } } as never]);
    return [];
  }

  /** All rows, as in a monitor's first reply. @param order of the rows */
  contents(order: (a: RowChange, b: RowChange) => number): RowChange[] {
    const all = TABLES.flatMap(({ table }) =>
      [...this.northbound.table(table)].map(([uuid, row]): RowChange => ({ table, uuid, kind: 'insert', row })),
    );
    return all.toSorted(order);
  }
}

function seen(rows: ObservedRows): unknown {
  return [...SWITCHES, ...PORTS].map((name) => {
    const entry = rows.entry(name as Uuid);
    return [
      name,
      entry?.id,
      entry?.parent?.uuid,
      entry?.ownership,
      [...rows.ownedBy(`pod/ns/${name}`)],
      [...rows.ownedCounts].filter(([, count]) => count > 0),
    ];
  });
}

test('rows are the same whether they arrive batch by batch, all at once in any order, or in steps', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const scene = new Scene();
      const followed = new ObservedRows(new Reactor());
      followed.apply(
        scene.northbound,
        scene.contents(() => 0),
      );
      for (const one of steps) followed.apply(scene.northbound, scene.do(one));
      const expected = seen(followed);
      for (const order of [
        (a: RowChange, b: RowChange) => (a.table < b.table ? -1 : 1),
        (a: RowChange, b: RowChange) => (a.table < b.table ? 1 : -1),
      ]) {
        const fresh = new ObservedRows(new Reactor());
        const announced: string[] = [];
        fresh.onChange({ row: (id) => announced.push(id), member: () => undefined });
        for (const _ of fresh.applying(scene.northbound, scene.contents(order)));
        assert.deepEqual(JSON.parse(JSON.stringify(seen(fresh))), JSON.parse(JSON.stringify(expected)));
        assert.equal(new Set(announced).size, announced.length);
      }
    }),
    { numRuns: 200 },
  );
});

test('the owners of rows are a domain: each enters with its first row and leaves with its last, whether its object exists or not', () => {
  const northbound = new MemoryNorthbound();
  const rows = new ObservedRows(new Reactor());
  const keys = (owner: string): ReadonlyMap<string, string> => new Map([...owned('u'), [OWNER_KEY, owner]]);
  const put = (uuid: string, owner: string): void =>
    rows.apply(northbound, northbound.insert('Logical_Switch', uuid, { name: `n${uuid.at(-1)}`, external_ids: keys(owner) }));
  const [first = '', second = ''] = SWITCHES;
  const [third = '', fourth = ''] = PORTS;
  put(first, 'subnet//red');
  const present = new Set<string>();
  const log: string[] = [];
  rows.ownersOf('subnet').watch({
    enter: (name) => {
      assert.ok(!present.has(name), `${name} enters twice`);
      present.add(name);
      log.push(`+${name}`);
    },
    leave: (name) => {
      assert.ok(present.delete(name), `${name} leaves and was not there`);
      log.push(`-${name}`);
    },
  });
  put(second, 'subnet//red');
  put(third, 'vpc//red');
  put(fourth, 'subnet//blue');
  assert.deepEqual(log.splice(0), ['+red', '+blue']);
  const remove = (uuid: string): void => rows.apply(northbound, northbound.remove('Logical_Switch', uuid as Uuid));
  remove(first);
  assert.deepEqual(log.splice(0), []);
  remove(second);
  assert.deepEqual(log.splice(0), ['-red']);
  const moved = { kind: 'update', table: 'Logical_Switch', uuid: fourth as Uuid, row: { external_ids: keys('subnet//green') } } as const;
  rows.apply(northbound, northbound.apply([moved]));
  assert.deepEqual([[...present], log], [['green'], ['-blue', '+green']]);
});
