/**
 * What the diff asks of the Northbound writer. Edits of one transaction are merged by the writer: many members of one column
 * become one mutation.
 */
import type { RowId } from '../nb/row-id.ts';
import type { InputRow, InputValue, Uuid } from '../ovsdb/index.ts';

export type Edit =
  /** The row must still be there. */
  | { readonly kind: 'exists'; readonly table: string; readonly uuid: Uuid }
  /** The row must still carry these external_ids: the ownership the plan saw. */
  | { readonly kind: 'owned'; readonly table: string; readonly uuid: Uuid; readonly externalIds: Readonly<Record<string, string>> }
  /** A column must hold these rows and no other: what it keeps alive goes with the row. */
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
  /** Keys of a map: those with a value are set, the others removed. */
  | {
      readonly kind: 'keys';
      readonly table: string;
      readonly uuid: Uuid;
      readonly column: string;
      readonly set: Readonly<Record<string, string>>;
      readonly remove: readonly string[];
    }
  | { readonly kind: 'delete'; readonly table: string; readonly uuid: Uuid };

export type Change = 'insert' | 'update' | 'replace' | 'delete';

export type Verdict =
  | { readonly kind: 'converged' }
  | { readonly kind: 'change'; readonly change: Change; readonly edits: readonly Edit[]; readonly inserts?: Uuid; readonly detail: string }
  /** Cannot be done until these rows are there. */
  | { readonly kind: 'waiting'; readonly on: readonly string[] }
  /** `on`: other rows that stand in the way; when one goes, there is something to look at again. */
  | { readonly kind: 'conflict'; readonly owners: readonly string[]; readonly message: string; readonly on?: readonly RowId[] };

export const CONVERGED: Verdict = { kind: 'converged' };

export type { InputValue };
