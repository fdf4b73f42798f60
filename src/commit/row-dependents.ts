/** Rows to compare again because of another one: rows that refer to its name, and rows inside of several rows of one name. */
import type { DesiredRows, MemberKey } from '../compile/desired-rows.ts';
import { memberKey } from '../compile/desired-rows.ts';
import type { RowId } from '../nb/row-id.ts';
import { isRowRef, tableOf } from '../nb/row-id.ts';
import { childColumns, referringColumns, tableSpec } from '../nb/tables.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { ObservedRow } from '../world/row-identity.ts';
import type { World } from '../world/world.ts';

export class RowDependents {
  readonly #rows: World['rows'];
  readonly #desired: DesiredRows;
  /** The row that has a name, in tables with top-level rows. */
  readonly #standing = new Map<RowId, Uuid>();

  constructor(rows: World['rows'], desired: DesiredRows) {
    this.#rows = rows;
    this.#desired = desired;
  }

  /** @param row the row that has the name now. @returns the rows to compare because of it */
  *of(id: RowId, row: ObservedRow | undefined): Generator<RowId> {
    yield* this.#childrenOfMany(id);
    if (tableSpec(tableOf(id)).parents.length > 0) return;
    const before = this.#standing.get(id);
    if (row === undefined) this.#standing.delete(id);
    else this.#standing.set(id, row.uuid);
    // Another program renamed the row: its children are desired in the row that has the name next.
    const renamed = before === undefined || before === row?.uuid ? undefined : this.#rows.entry(before);
    if (renamed !== undefined) yield* this.#childrenOf([renamed]);
    // The row is no longer ours, or another row has the name: referrers have to refer to that one, or to the one that will be inserted.
    if (row?.ownership.kind !== 'ours' || (before !== undefined && before !== row.uuid)) yield* this.#referrers(id);
  }

  /** The columns in which rows are desired as members, by a search over all outputs: for re-created rows, which are few. */
  *memberships(ids: readonly RowId[]): Generator<readonly [id: RowId, key: MemberKey]> {
    const keys = new Map<string, MemberKey[]>();
    for (const ref of ids)
      for (const { table, column } of referringColumns(tableOf(ref)))
        keys.set(table, [...(keys.get(table) ?? []), memberKey(column, { ref })]);
    if (keys.size === 0) return;
    for (const id of this.#desired.rowIds) {
      for (const key of keys.get(tableOf(id)) ?? []) if (this.#desired.member(id, key) !== undefined) yield [id, key];
    }
  }

  /** Of several rows of one name another one may be chosen now: children of the others are in the wrong row. */
  *#childrenOfMany(id: RowId): Generator<RowId> {
    const all = this.#rows.rowsOf(id);
    if (all.length >= 2) yield* this.#childrenOf(all);
  }

  *#childrenOf(rows: readonly NonNullable<ReturnType<World['rows']['entry']>>[]): Generator<RowId> {
    for (const { table, row } of rows)
      for (const { column } of childColumns(table))
        for (const uuid of (row[column] ?? []) as Iterable<Uuid>) {
          const child = this.#rows.entry(uuid);
          if (child?.ownership.kind === 'ours') yield child.id;
        }
  }

  *#referrers(id: RowId): Generator<RowId> {
    const refers = (value: unknown): boolean => isRowRef(value) && value.ref === id;
    for (const other of this.#desired.rowIds) {
      const values = Object.values(this.#desired.row(other)?.rows[0]?.columns ?? {});
      if (values.some((value) => (Array.isArray(value) ? value.some(refers) : refers(value)))) yield other;
    }
  }
}
