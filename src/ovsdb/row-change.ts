import type { Atom, Row, Value } from './value.ts';
import type { Uuid } from './uuid.ts';

/**
 * How one column of a row changed: `before` for one atom or null; `added` and `removed` for sets and maps. A key of a map whose
 * value changed is in both, with the new and the old value.
 */
export type ColumnChange =
  | { readonly before: Value; readonly added?: undefined; readonly removed?: undefined }
  | { readonly before?: undefined; readonly added: ReadonlySet<Atom>; readonly removed: ReadonlySet<Atom> }
  | { readonly before?: undefined; readonly added: ReadonlyMap<Atom, Atom>; readonly removed: ReadonlyMap<Atom, Atom> };

/**
 * The change of one row. `row` is the replica's own object: the row after an insert or a modification, the last contents of a deleted
 * one. It changes in place with later updates.
 */
export interface RowChange {
  readonly table: string;
  readonly uuid: Uuid;
  readonly kind: 'insert' | 'modify' | 'delete';
  readonly row: Row;
  /** By column; only of `modify`, and never empty. */
  readonly changed?: ReadonlyMap<string, ColumnChange>;
}
