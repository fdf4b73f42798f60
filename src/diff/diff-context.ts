/** The input of the diff of a row. */
import type { DesiredRows } from '../compile/desired-rows.ts';
import type { Scalar } from '../compile/output.ts';
import type { RowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { Entry, ObservedRows } from '../world/observed-rows.ts';

export interface DiffContext {
  readonly rows: ObservedRows;
  readonly desired: DesiredRows;
  /** Rows inserted earlier in the same transaction. */
  readonly planned: ReadonlyMap<RowId, Uuid>;
  /** How often the insert of an identity has failed. The next one has another UUID, since a row of another name may have the last one. */
  readonly collisions?: (id: RowId) => number;
  /** Whether an undo restored the row, and its row owner is not back yet: it stays a member of what it was in. Default: no row is. */
  readonly isHeld?: (row: Entry) => boolean;
  /** Whether an entry of an exact map that no rule emits stays: the vip of a Service that is gone, and the collection is paused. Default: none does. */
  readonly entryStays?: (row: Entry, column: string, key: string) => boolean;
  /** Whether the server's schema has the column; the diff omits others. */
  readonly canHold: (table: string, column: string) => boolean;
  /** Whether the schema permits this atom in the column: enumerations grow with OVN's versions. */
  readonly allows: (table: string, column: string, atom: Scalar) => boolean;
}
