/**
 * What the collection would delete: each row of Kiln that no rule emits, with the reason, its row owner and rule, and the rows that go with
 * it; what it leaves although nothing asks for it; and what a foreign row keeps it from deleting. Pure.
 */
import type { DesiredRows } from '../compile/desired-rows.ts';
import { foreignChildConflict } from '../diff/row-diff.ts';
import { isLetGo, isRestored } from '../nb/restored-row.ts';
import { identityOf } from '../nb/row-id.ts';
import { childColumns } from '../nb/tables.ts';
import type { Uuid } from '../nb/tables.ts';
import type { Entry } from '../world/observed-rows.ts';
import type { World } from '../world/world.ts';

/** `collect`: it is deleted. `held`: an undo restored it, and its object is not back. `blocked`: a foreign row is in it. */
export type Fate = 'collect' | 'held' | 'blocked';

export interface Collected {
  readonly fate: Fate;
  readonly table: string;
  readonly name: string;
  readonly uuid: string;
  /** Owner text, and the uid of the object that the row was made for. */
  readonly owner: string;
  readonly uid: string;
  readonly rule: string;
  readonly why: string;
  /** Rows inside it, by table. */
  readonly within: Readonly<Record<string, number>>;
}

/** @param ownerExists whether the object `<kind>/<namespace>/<name>` exists */
export function collectionPlan(
  { rows }: World,
  desired: Pick<DesiredRows, 'row'>,
  ownerExists: (owner: string) => boolean,
): readonly Collected[] {
  const found: Collected[] = [];
  for (const id of rows.owned) {
    if ((desired.row(id)?.rows.length ?? 0) > 0) continue;
    for (const entry of rows.rowsOf(id)) {
      const { ownership } = entry;
      if (ownership.kind !== 'ours') continue;
      const { owner, uid, rule } = ownership;
      const exists = ownerExists(owner);
      const conflict = foreignChildConflict(entry, { rows });
      const isHeld = !exists && isRestored(id, entry.uuid, ownership) && !isLetGo(entry.row);
      const object = owner.replace('//', '/');
      const why = exists ? `${object} exists and no longer asks for it` : `${object} does not exist`;
      found.push({
        ...{ fate: isHeld ? 'held' : conflict === undefined ? 'collect' : 'blocked', table: entry.table, name: identityOf(id) },
        ...{ uuid: entry.uuid, owner, uid, rule, why: conflict?.message ?? (isHeld ? `an undo restored it, and ${why}` : why) },
        within: countsWithin(entry, rows),
      });
    }
  }
  return found.toSorted((a, b) => (`${a.fate} ${a.table} ${a.name}` < `${b.fate} ${b.table} ${b.name}` ? -1 : 1));
}

function countsWithin(entry: Entry, rows: World['rows']): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  const take = ({ table, row }: Entry): void => {
    for (const { column } of childColumns(table)) {
      const held = row[column];
      if (!(held instanceof Set)) continue;
      for (const uuid of held as ReadonlySet<Uuid>) {
        const child = rows.entry(uuid);
        if (child === undefined) continue;
        counts.set(child.table, (counts.get(child.table) ?? 0) + 1);
        take(child);
      }
    }
  };
  take(entry);
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
