/** Rows of other programs in the Northbound database, counted. Kiln leaves them alone, so no condition reports them. */
import { TABLES } from '../nb/tables.ts';
import type { World } from '../world/world.ts';

/** Tables whose only row every program shares. */
const SHARED: ReadonlySet<string> = new Set(['NB_Global']);

/** By table, in the order of the schema's list; tables without any are left out. One pass over all rows. */
export function foreignRows({ rows }: World): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { table, ownership } of rows.all)
    if (ownership.kind === 'foreign' && !SHARED.has(table)) counts.set(table, (counts.get(table) ?? 0) + 1);
  return Object.fromEntries(TABLES.flatMap(({ table }) => (counts.has(table) ? [[table, counts.get(table) ?? 0]] : [])));
}
