/**
 * The rows inside a row: OVSDB deletes a row that no other row refers to, so all of them go with it, at any depth (a gateway chassis in a
 * router port in a router). What the diff needs to know of them before it deletes the row, and the guards that keep it true.
 */
import type { RowId } from '../nb/row-id.ts';
import { childColumns } from '../nb/tables.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { DiffContext } from './diff-context.ts';
import type { Edit } from './edits.ts';
import type { Observed } from './row-contents.ts';

type Rows = Pick<DiffContext, 'rows'>;

/** A row inside another one. */
export interface RowInside {
  readonly row: Observed;
  /** The row that has it in a column: the outer row, or one between. */
  readonly holder: Observed;
  /** Column of the holder. */
  readonly column: string;
}

/** All rows inside a row, a holder before what is in it. */
export function* rowsInside(outer: Observed, { rows }: Rows, seen = new Set<Uuid>([outer.uuid])): Generator<RowInside> {
  for (const { column } of childColumns(outer.table)) {
    const held = outer.row[column];
    if (!(held instanceof Set)) continue;
    for (const uuid of held as ReadonlySet<Uuid>) {
      const row = rows.entry(uuid);
      if (row === undefined || seen.has(uuid)) continue;
      seen.add(uuid);
      yield { row, holder: outer, column };
      yield* rowsInside(row, { rows }, seen);
    }
  }
}

/** The first foreign row by name, so that every process reports the same one. */
export function firstForeignInside(outer: Observed, context: Rows): RowInside | undefined {
  let first: RowInside | undefined;
  for (const one of rowsInside(outer, context)) {
    if (one.row.ownership.kind !== 'foreign') continue;
    if (first === undefined || isBefore(one.row, first.row)) first = one;
  }
  return first;
}

function isBefore(a: { readonly id: RowId; readonly uuid: Uuid }, b: { readonly id: RowId; readonly uuid: Uuid }): boolean {
  return a.id === b.id ? a.uuid < b.uuid : a.id < b.id;
}

/** Guards against rows that another program adds to the row, or to one inside it, meanwhile: they would be deleted with it. */
export function noMoreInside(outer: Observed, context: DiffContext): Edit[] {
  return [...holdsOf(outer, context), ...[...rowsInside(outer, context)].flatMap(({ row }) => holdsOf(row, context))];
}

function holdsOf({ table, uuid, row }: Observed, context: DiffContext): Edit[] {
  return childColumns(table)
    .filter(({ column }) => context.canHold(table, column))
    .map(({ column }) => ({ kind: 'holds', table, uuid, column, members: [...((row[column] ?? []) as Iterable<Uuid>)] }));
}
