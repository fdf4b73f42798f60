/**
 * The result of the diff, for the Northbound writer. The writer merges the edits of one transaction: many members of one column become one
 * mutation.
 */
import type { RowId } from '../nb/row-id.ts';
import type { InputRow, InputValue, Uuid } from '../ovsdb/index.ts';

export type Edit =
  /** Guard: the row still exists. */
  | { readonly kind: 'exists'; readonly table: string; readonly uuid: Uuid }
  /** Guard: the row still has these external_ids, the ownership that the diff saw. */
  | { readonly kind: 'owned'; readonly table: string; readonly uuid: Uuid; readonly externalIds: Readonly<Record<string, string>> }
  /** Guard: a column still refers to exactly these rows, since its children are deleted with the row. */
  | { readonly kind: 'holds'; readonly table: string; readonly uuid: Uuid; readonly column: string; readonly members: readonly Uuid[] }
  | { readonly kind: 'insert'; readonly table: string; readonly uuid: Uuid; readonly row: InputRow }
  | { readonly kind: 'update'; readonly table: string; readonly uuid: Uuid; readonly row: InputRow }
  | {
      readonly kind: 'member';
      readonly table: string;
      readonly uuid: Uuid;
      readonly column: string;
      readonly add: boolean;
      readonly value: Uuid | string | number;
    }
  /** Keys of a map column to set and to remove. */
  | {
      readonly kind: 'keys';
      readonly table: string;
      readonly uuid: Uuid;
      readonly column: string;
      readonly set: Readonly<Record<string, string>>;
      readonly remove: readonly string[];
    }
  /**
   * Pairs of a map column that other programs write too: one is removed only if it still has this value, and a key is set only if it is
   * still absent.
   */
  | {
      readonly kind: 'pairs';
      readonly table: string;
      readonly uuid: Uuid;
      readonly column: string;
      readonly set: Readonly<Record<string, string>>;
      readonly remove: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'delete'; readonly table: string; readonly uuid: Uuid };

export type Change = 'insert' | 'update' | 'replace' | 'delete';

/**
 * What the diff found for one identity. `converged`: nothing to write. `change`: edits of one transaction, together or not at all.
 */
export type Verdict =
  | { readonly kind: 'converged' }
  | { readonly kind: 'change'; readonly change: Change; readonly edits: readonly Edit[]; readonly inserts?: Uuid; readonly detail: string }
  /** These rows do not exist yet: the writer compares again when one does. */
  | { readonly kind: 'waiting'; readonly on: readonly string[] }
  /** A foreign row prevents the change. `on`: the writer compares again after a change of these rows. */
  | { readonly kind: 'conflict'; readonly owners: readonly string[]; readonly message: string; readonly on?: readonly RowId[] };

export const CONVERGED: Verdict = { kind: 'converged' };

export type { InputValue };
