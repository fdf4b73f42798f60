/** The desired contents of a row: its columns as far as the server's schema has them, and its parent. */
import type { ColumnValue, RowOutput, Scalar } from '../compile/output.ts';
import { ownerKeys } from '../nb/ownership.ts';
import type { RowId, RowRef } from '../nb/row-id.ts';
import { isRowRef, tableOf } from '../nb/row-id.ts';
import type { TableSpec } from '../nb/tables.ts';
import type { InputValue, Row, Uuid } from '../ovsdb/index.ts';
import type { ObservedRow } from '../world/observed-rows.ts';
import { resolveValue } from './column-diff.ts';
import type { DiffContext } from './diff-context.ts';

export type Observed = ObservedRow & { readonly row: Row };

/** The output retains the row as it is: it has no columns. */
export function isRetained({ columns }: RowOutput): boolean {
  return Object.keys(columns).length === 0;
}

type Contents = { readonly ok: true; readonly row: Record<string, InputValue> } | { readonly ok: false; readonly missing: RowId };

/** The columns of a new row. */
export function contentsOf(desired: RowOutput, spec: TableSpec, context: DiffContext): Contents {
  const row: Record<string, InputValue> = {};
  for (const [column, value] of holdable(desired, spec, context)) {
    if (spec.columns[column] === 'refs' || value === null) continue;
    const resolved = resolveValue(value, (ref) => resolve(ref, context));
    if (!resolved.ok) return resolved;
    row[column] = resolved.value;
  }
  return { ok: true, row };
}

export function columnsOf(desired: RowOutput): Record<string, ColumnValue> {
  return { ...desired.columns, external_ids: { ...desired.externalIds, ...ownerKeys(desired.owner, desired.rule) } };
}

/** The desired columns, as far as the server's schema has them. */
export function holdable(desired: RowOutput, spec: TableSpec, context: DiffContext): [string, ColumnValue][] {
  const columns = columnsOf(desired);
  const held: [string, ColumnValue][] = [];
  for (const column of Object.keys(columns)) {
    const value = columns[column] as ColumnValue;
    if (!context.canHold(spec.table, column)) continue;
    const isAllowed = (member: Scalar | RowRef): boolean => isRowRef(member) || context.allows(spec.table, column, member);
    held.push([column, Array.isArray(value) ? (value as readonly (Scalar | RowRef)[]).filter(isAllowed) : value]);
  }
  return held;
}

export interface Parent {
  readonly table: string;
  readonly uuid: Uuid;
  readonly column: string;
  /** Absent if this transaction inserts it. */
  readonly row: Observed | undefined;
}

export function parentOf(desired: RowOutput, context: DiffContext): Parent | 'missing' | undefined {
  if (desired.parent === undefined) return undefined;
  const { id, column } = desired.parent;
  const uuid = desired.parent.isOfOthers === true ? rowOfOthers(id, context) : resolve(id, context);
  if (uuid === undefined) return 'missing';
  return { table: tableOf(id), uuid, column, row: context.planned.has(id) ? undefined : context.rows.best(id) };
}

/** The UUID of another program's row; of several of one name, the same in every process. */
function rowOfOthers(id: RowId, context: DiffContext): Uuid | undefined {
  const row = context.rows.best(id);
  return row?.ownership.kind === 'foreign' ? row.uuid : undefined;
}

/** The UUID of an identity, existing or inserted by this transaction. None for a foreign row. */
export function resolve(id: RowId, context: DiffContext): Uuid | undefined {
  const planned = context.planned.get(id);
  if (planned !== undefined) return planned;
  const row = context.rows.best(id);
  return row === undefined || (row.ownership.kind === 'foreign' && tableOf(id) !== 'NB_Global') ? undefined : row.uuid;
}
