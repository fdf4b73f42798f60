/**
 * The transaction of a restore: one for everything, or nothing. It fails if the leader's term, a row that it refers to, or a value that it
 * overwrites changed since the plan was made, and if a row of a restored name was made meanwhile.
 */
import type { RestorePlan } from '../backup/restore-changes.ts';
import { TERM_KEY } from '../nb/ownership.ts';
import type { DatabaseSchema, Operation, Row, Uuid } from '../ovsdb/index.ts';
import { deleteRows, includes, insert, mapSet, mutate, mutateDelete, update, waitFor, waitForNone, waitForRow } from '../ovsdb/index.ts';

/** Root tables whose names OVN does not keep unique. */
const UNINDEXED: ReadonlySet<string> = new Set(['Logical_Switch', 'Logical_Router', 'Load_Balancer']);

/** @param global the row of NB_Global that the plan was made with */
export function restoreTransaction(plan: RestorePlan, schema: DatabaseSchema, global: Row | undefined): readonly Operation[] {
  const { rows, values, members, removedMembers, deletions, keys } = plan;
  const external = global?.['external_ids'];
  const term: unknown = external instanceof Map ? external.get(TERM_KEY) : undefined;
  const guards: Operation[] = [];
  if (global !== undefined && typeof term === 'string')
    guards.push(waitForRow('NB_Global', global._uuid, [includes('external_ids', { [TERM_KEY]: term })]));
  const needed = new Map<Uuid, string>([...members, ...removedMembers, ...deletions].map(({ uuid, table }) => [uuid, table]));
  for (const [uuid, table] of needed) guards.push(waitForRow(table, uuid));
  for (const { table, columns } of rows) {
    const { name } = columns;
    if (UNINDEXED.has(table) && typeof name === 'string' && name !== '') guards.push(waitForNone(table, 'name', name));
  }
  for (const { table, uuid, column, now } of values) guards.push(waitFor(table, uuid, [{ [column]: now }]));
  const changes: Operation[] = [
    ...rows.map(({ table, columns, uuid }) => insert(table, columns, uuid)),
    ...values.map(({ table, uuid, column, value }) => update(table, uuid, { [column]: value })),
    ...members.map(({ table, uuid, column, members: add, isSingle }): Operation =>
      isSingle ? update(table, uuid, { [column]: add.slice(0, 1) }) : mutate(table, uuid, [{ column, mutator: 'insert', value: add }]),
    ),
    ...removedMembers.map(({ table, uuid, column, members: remove }) => mutateDelete(table, uuid, column, remove)),
    // Rows of the other tables go with the last reference to them.
    ...deletions.flatMap(({ table, uuid }) => (schema.tables.get(table)?.isRoot === true ? [deleteRows(table, uuid)] : [])),
  ];
  if (global !== undefined)
    for (const { column, key, value } of keys) changes.push(mapSet('NB_Global', global._uuid, column, { [key]: value }));
  return [...guards, ...changes];
}
