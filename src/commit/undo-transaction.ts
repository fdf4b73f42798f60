/**
 * The transaction of an undo: one for everything, or nothing. It fails if the leader's term, a row that it refers to, or the value that it
 * puts back changed since the plan was made, and if a row of a restored name was made meanwhile.
 */
import type { UndoPlan } from '../journal/undo-plan.ts';
import { TERM_KEY } from '../nb/ownership.ts';
import type { InputValue, Operation, Row, Uuid } from '../ovsdb/index.ts';
import { includes, insert, mutate, update, waitFor, waitForNone, waitForRow } from '../ovsdb/index.ts';

/** Root tables whose names OVN does not keep unique. */
const UNINDEXED: ReadonlySet<string> = new Set(['Logical_Switch', 'Logical_Router', 'Load_Balancer']);

/** @param global the row of NB_Global that the plan was made with */
export function undoTransaction({ rows, members, values, needed }: UndoPlan, global: Row | undefined): readonly Operation[] {
  const external = global?.['external_ids'];
  const term: unknown = external instanceof Map ? external.get(TERM_KEY) : undefined;
  const guards: Operation[] = [
    ...(global === undefined || typeof term !== 'string'
      ? []
      : [waitForRow('NB_Global', global._uuid, [includes('external_ids', { [TERM_KEY]: term })])]),
    ...needed.map(({ table, uuid }) => waitForRow(table, uuid)),
    ...rows.flatMap(({ table, columns: { name } }) =>
      UNINDEXED.has(table) && typeof name === 'string' && name !== '' ? [waitForNone(table, 'name', name)] : [],
    ),
    ...values.flatMap(({ table, uuid, column, key, now }) => {
      if (key === undefined) return [waitFor(table, uuid, [{ [column]: now }])];
      return now === null ? [waitForRow(table, uuid)] : [waitForRow(table, uuid, [includes(column, { [key]: now as string })])];
    }),
  ];
  return [
    ...guards,
    ...rows.map(({ table, columns, uuid }) => insert(table, columns, uuid)),
    ...members.flatMap(({ table, uuid, column, add, isSingle }): Operation[] => {
      if (add.length === 0) return [];
      if (isSingle) return [update(table, uuid, { [column]: add.slice(0, 1) })];
      return [mutate(table, uuid, [{ column, mutator: 'insert', value: add }])];
    }),
    ...values.map(({ table, uuid, column, key, value }) => valueOperation(table, uuid, column, key, value)),
  ];
}

function valueOperation(table: string, uuid: Uuid, column: string, key: string | undefined, value: InputValue): Operation {
  if (key === undefined) return update(table, uuid, { [column]: value });
  return mutate(table, uuid, [
    { column, mutator: 'delete', value: [key] },
    ...(value === null ? [] : [{ column, mutator: 'insert' as const, value: { [key]: value as string } }]),
  ]);
}
