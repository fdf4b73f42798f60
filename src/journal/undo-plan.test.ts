/** Plans of undos of several deletions of the same rows. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import type { RowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import { parseSchema } from '../ovsdb/index.ts';
import { northboundSchemaFile } from '../ovsdb/testing/ovsdb-server-process.ts';
import type { JournaledReference, JsonRow } from './journal.ts';
import type { SelectedChange } from './selection.ts';
import type { Present } from './undo-plan.ts';
import { undoPlan } from './undo-plan.ts';

const schema = parseSchema(JSON.parse(readFileSync(northboundSchemaFile, 'utf8')));
const SWITCH = rowId('Logical_Switch', 's1');
const DHCP = rowId('DHCP_Options', 's1', 'IPv4');

/** Nothing of it is left. */
const GONE: Present = {
  schema,
  row: () => undefined,
  rowsOf: () => [],
  exists: () => false,
  translating: () => [],
  entriesGo: () => undefined,
  ownerExists: () => false,
};

function deleted(tx: string, id: RowId, uuid: string, row: JsonRow = {}, references: readonly JournaledReference[] = []): SelectedChange {
  const [table = ''] = id.split('/');
  return {
    ...{ kind: 'change', at: '2026-01-01T00:00:00Z', tx, change: 'delete', table, id, uuid: uuid as Uuid },
    ...{ owner: 'subnet//s1', uid: tx, reason: 'unexplained', row, references },
  };
}

function overwritten(tx: string, id: RowId, uuid: string): SelectedChange {
  return { ...deleted(tx, id, uuid), change: 'overwrite', reason: 'changed', keys: { external_ids: { 'kiln.io/uid': ['a', 'b'] } } };
}

function port(tx: string, name: string, home: string, dhcp: string): SelectedChange {
  const parent: JournaledReference = { kind: 'parent', table: 'Logical_Switch', uuid: home as Uuid, id: SWITCH, column: 'ports' };
  return deleted(tx, rowId('Logical_Switch_Port', name), `${name} ${tx}`, { name, dhcpv4_options: dhcp }, [parent]);
}

test('what was restored, created again and deleted twice more is restored as it was last; earlier overwrites are no contradiction', () => {
  const plan = undoPlan(
    [
      ...[
        deleted('1', SWITCH, 'first', { name: 's1' }),
        overwritten('2', SWITCH, 'second'),
        deleted('3', SWITCH, 'second', { name: 's1' }),
      ],
      ...[deleted('5', SWITCH, 'fourth', { name: 's1' })],
    ],
    GONE,
  );
  assert.deepEqual([plan.contradictions, plan.rows.map(({ id }) => id)], [[], [SWITCH]]);
  assert.deepEqual(plan.left, [{ id: SWITCH, tx: '2', why: 'was deleted later, and is restored as it was then' }]);
});

test('a port that went with an earlier switch of the name comes back into the one that is restored, with its DHCP options', () => {
  const plan = undoPlan(
    [
      ...[port('1', 'p1', 'first', 'dhcp-first'), deleted('1', DHCP, 'dhcp-first'), deleted('1', SWITCH, 'first', { name: 's1' })],
      ...[deleted('2', DHCP, 'dhcp-last'), deleted('2', SWITCH, 'last', { name: 's1' })],
      // Its switch is in the journal of another node.
      port('3', 'p2', 'elsewhere', 'dhcp-last'),
    ],
    GONE,
  );
  assert.deepEqual([plan.contradictions, plan.lost], [[], []]);
  const [home, options, first, second] = [SWITCH, DHCP, rowId('Logical_Switch_Port', 'p1'), rowId('Logical_Switch_Port', 'p2')].map((id) =>
    plan.rows.find((one) => one.id === id),
  );
  assert.deepEqual(new Set(home?.columns['ports'] as Iterable<Uuid>), new Set([first?.uuid, second?.uuid]));
  assert.deepEqual([first?.columns['dhcpv4_options'], second?.columns['dhcpv4_options']], [options?.uuid, options?.uuid]);
});

test('a NAT row whose external address another router translates by now is refused; one of the same router is not', () => {
  const router = rowId('Logical_Router', 'blue');
  const parent: JournaledReference = { kind: 'parent', table: 'Logical_Router', uuid: 'router' as Uuid, id: router, column: 'nat' };
  const id = rowId('NAT', 'blue', 'snat', '172.20.0.4', '10.5.0.0/24');
  const changes = [deleted('1', router, 'router', { name: 'blue' }), deleted('1', id, 'nat', { external_ip: '172.20.0.4' }, [parent])];
  const translatedBy = (router: string): Present => ({
    ...GONE,
    translating: (address) => [rowId('NAT', router, 'dnat_and_snat', address, '10.6.0.9')],
  });
  const whys = (by: string): readonly string[] => undoPlan(changes, translatedBy(by)).contradictions.map(({ why }) => why);
  assert.deepEqual(whys('green'), ['its external address 172.20.0.4 is translated by router green by now']);
  assert.deepEqual(whys('blue'), []);
});
