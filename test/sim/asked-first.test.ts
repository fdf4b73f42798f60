import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { northboundSchemaFile } from '../../src/ovsdb/testing/ovsdb-server-process.ts';
import { SimulatedServer } from '../../src/ovsdb/testing/simulated/server.ts';
import type { Uuid } from '../../src/ovsdb/index.ts';
import { notAskedFirst } from './asked-first.ts';
import { byUuid } from './row-by-hand.ts';

const TERM = {
  op: 'wait',
  table: 'NB_Global',
  where: [['external_ids', 'includes', ['map', [['kiln.io/term', '4']]]]],
  columns: ['_uuid'],
};
const COMMENT = { op: 'comment', comment: 'kiln: term 4, 1 rows, first Port_Group/g' };
const MARKS = [
  ['kiln.io/owner', 'node//n0'],
  ['kiln.io/uid', 'u'],
  ['vendor', 'kube-ovn'],
];

function group(): { readonly server: SimulatedServer; readonly uuid: Uuid } {
  const schemaJson: unknown = JSON.parse(readFileSync(northboundSchemaFile, 'utf8'));
  const server = new SimulatedServer({
    schemaJson,
    clock: { now: () => 0, schedule: () => () => undefined },
    newUuid: () => randomUUID() as Uuid,
  });
  const row = { name: 'g', external_ids: ['map', MARKS] };
  const [difference] = server.transact([{ op: 'insert', table: 'Port_Group', row }]).differences;
  assert(difference !== undefined);
  return { server, uuid: difference.uuid };
}

function wrong(guards: readonly object[], change: (uuid: Uuid) => object, fence: readonly object[] = [TERM]): readonly string[] {
  const { server, uuid } = group();
  const placed = guards.map((guard) => ({
    ...guard,
    where: [...(byUuid(uuid) as unknown[]), ...((guard as { where?: unknown[] }).where ?? [])],
  }));
  return notAskedFirst(server.database, [...fence, ...placed, change(uuid), COMMENT]);
}

const OWNED = { op: 'wait', table: 'Port_Group', columns: ['_uuid'], where: [['external_ids', 'includes', ['map', MARKS]]] };
const ANY = { op: 'wait', table: 'Port_Group', columns: ['_uuid'] };
const EMPTY = ['acls'].map((column) => ({ op: 'wait', table: 'Port_Group', columns: [column] }));
const update = (uuid: Uuid): object => ({ op: 'update', table: 'Port_Group', where: byUuid(uuid), row: {} });
const away = (uuid: Uuid): object => ({ op: 'delete', table: 'Port_Group', where: byUuid(uuid) });

test('A transaction asks for its term first, and for the owner of each row that it changes', () => {
  assert.deepEqual(wrong([OWNED], update), []);
  assert.match(wrong([OWNED], update, []).join(), /does not ask for its term first/);
  assert.match(wrong([], update).join(), /has not asked whose Port_Group g is/);
  assert.match(wrong([ANY], update).join(), /has not asked whose Port_Group g is/);
});

test('Who deletes a row has asked what is in it', () => {
  assert.deepEqual(wrong([OWNED, ...EMPTY], away), []);
  assert.match(wrong([OWNED], away).join(), /has not asked what is in it/);
});
