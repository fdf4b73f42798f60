/**
 * What the collection would delete: each row of Kiln that no rule emits, with the reason, its row owner and rule, and the rows that go with
 * it; what it leaves although nothing asks for it; and what a foreign row keeps it from deleting. Pure.
 */
import type { DesiredRows } from '../compile/desired-rows.ts';
import type { CollectionPolicy, Stay } from '../diff/collection-policy.ts';
import { unexplainedSince } from '../diff/collection-policy.ts';
import { foreignChildConflict } from '../diff/row-diff.ts';
import { rowsInside } from '../diff/rows-inside.ts';
import { waitsForOwner } from '../nb/restored-row.ts';
import { identityOf, isOwnUuid } from '../nb/row-id.ts';
import type { Entry } from '../world/observed-rows.ts';
import type { World } from '../world/world.ts';

/**
 * `collect`: it is deleted. `held`: too many such rows wait for an approval. `paused`, `grace`, `report`, `off`: see `Stay`. `restored`: an undo
 * restored it, and its object is not back. `blocked`: a foreign row is in it.
 */
export type Fate = 'collect' | 'held' | Stay | 'restored' | 'blocked';

export interface Collected {
  readonly fate: Fate;
  /** A row of OVN, an object in Kubernetes that is left of one that is gone, keys that are left on an object that stays, or an entry of a row that stays. */
  readonly what: 'row' | 'object' | 'keys' | 'entry';
  /** The table of the row, or the kind of the object. */
  readonly table: string;
  /** Of an entry: the name of its row, and its key. */
  readonly name: string;
  /** Of an object: its uid; of an entry: the UUID of its row. */
  readonly uuid: string;
  /** Of an entry: where it is. */
  readonly entry?: { readonly column: string; readonly key: string };
  /** Owner text, and the uid of the object that the row was made for. */
  readonly owner: string;
  readonly uid: string;
  readonly rule: string;
  readonly why: string;
  /** RFC 3339: since when nothing explains it, as the row says; null: no controller has left it unexplained until now, or of an object: unknown. */
  readonly since: string | null;
  /** Who made the row: the process that inserted it. */
  readonly madeBy: 'Kiln' | 'Kube-OVN';
  /** Rows inside it, by table. */
  readonly within: Readonly<Record<string, number>>;
}

export interface PlanSources {
  /** Whether the object `<kind>/<namespace>/<name>` exists. */
  readonly ownerExists: (owner: string) => boolean;
  readonly policy: CollectionPolicy;
  /** Why the leader collects nothing without an owner: too many. */
  readonly hold: string | undefined;
  /** Wall clock, milliseconds since the epoch. */
  readonly now: number;
}

export function collectionPlan(
  { rows }: World,
  desired: Pick<DesiredRows, 'row'>,
  { ownerExists, policy, hold, now }: PlanSources,
): readonly Collected[] {
  const found: Collected[] = [];
  for (const id of rows.owned) {
    if ((desired.row(id)?.rows.length ?? 0) > 0) continue;
    for (const entry of rows.rowsOf(id)) {
      const { ownership } = entry;
      if (ownership.kind !== 'ours') continue;
      const { owner, uid, rule } = ownership;
      const exists = ownerExists(owner);
      const object = owner.replace('//', '/');
      const reason = exists ? `${object} exists and no longer asks for it` : `${object} does not exist`;
      const { fate, why } = fateOf(entry, reason, exists);
      const since = unexplainedSince(entry.row);
      found.push({
        ...{ fate, what: 'row' as const, table: entry.table, name: identityOf(id), uuid: entry.uuid, owner, uid, rule, why },
        since: since === undefined ? null : new Date(since).toISOString(),
        madeBy: isOwnUuid(entry.uuid) ? 'Kiln' : 'Kube-OVN',
        within: countsWithin(entry, rows),
      });
    }
  }
  return found.toSorted((a, b) => (`${a.fate} ${a.table} ${a.name}` < `${b.fate} ${b.table} ${b.name}` ? -1 : 1));

  function fateOf(entry: Entry, reason: string, exists: boolean): { readonly fate: Fate; readonly why: string } {
    if (!exists && waitsForOwner(entry)) return { fate: 'restored', why: `an undo restored it, and ${reason}` };
    const conflict = foreignChildConflict(entry, { rows });
    if (conflict !== undefined) return { fate: 'blocked', why: conflict.message };
    const held = restoredInside(entry);
    if (held !== undefined) return { fate: 'restored', why: `an undo restored ${held.table} ${identityOf(held.id)} in it, and ${reason}` };
    const stays = policy.stays(entry, { now, explained: ownerExists });
    if (stays !== undefined) return { fate: stays.why, why: `${reason}; ${stays.text}` };
    if (!exists && hold !== undefined) return { fate: 'held', why: `${reason}; it waits for kiln gc approve` };
    return { fate: 'collect', why: reason };
  }

  /** A row in it that is not collected, and would go with it. */
  function restoredInside(entry: Entry): Entry | undefined {
    for (const { row } of rowsInside(entry, { rows })) if (waitsForOwner(row) && !ownerExists(row.ownership.owner)) return row;
    return undefined;
  }
}

function countsWithin(entry: Entry, rows: World['rows']): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { row } of rowsInside(entry, { rows })) counts.set(row.table, (counts.get(row.table) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
