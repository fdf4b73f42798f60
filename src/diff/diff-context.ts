/** What the diff of a row looks at. */
import type { Desired } from '../compile/desired.ts';
import type { Scalar } from '../compile/output.ts';
import type { RowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { ObservedRows } from '../world/observed-rows.ts';

export interface DiffContext {
  readonly rows: ObservedRows;
  readonly desired: Desired;
  /** Rows inserted earlier in the same transaction. */
  readonly planned: ReadonlyMap<RowId, Uuid>;
  /** How often an identity was refused: an insert is tried again under another UUID, since a row may have that one under another name. */
  readonly refusals?: (id: RowId) => number;
  /** The seal that a row which is kept as it is was seen to have by right. */
  readonly proven?: (id: RowId) => string | undefined;
  /** What the server's schema can hold; the rest is left out. */
  readonly canHold: (table: string, column: string) => boolean;
  /** Whether the schema allows this atom in the column: enumerations grow with OVN's versions. */
  readonly allows: (table: string, column: string, atom: Scalar) => boolean;
}
