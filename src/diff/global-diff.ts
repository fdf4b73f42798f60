/**
 * Keys of NB_Global. The diff sets keys that rules emit and that no other program has set, with a record of each. It removes its own keys
 * that no rule emits any longer. It never changes a value that another program wrote, even at the same time (`pairs`).
 *
 * Cost: one pass over the keys of the row, whatever changed in it.
 */
import type { Member } from '../compile/output.ts';
import { GLOBAL_ROW, heldKey, recordedKey, recordedKeys, recordKey } from '../nb/global-keys.ts';
import type { GlobalColumn, GlobalKey } from '../nb/global-keys.ts';
import type { Edit, Verdict } from './edits.ts';
import { CONVERGED } from './edits.ts';
import type { DiffContext } from './diff-context.ts';

/** Detail of a change that only drops records, since another program set other values: this is no drift, and nothing is repaired. */
export const RECORDS_ALONE = 'records';

/** Pairs of one column to set and to remove. */
interface Pairs {
  readonly set: Record<string, string>;
  readonly remove: Record<string, string>;
}

export function diffGlobal(context: DiffContext): Verdict {
  const held = context.rows.best(GLOBAL_ROW);
  // The fence inserts the row.
  if (held === undefined) return CONVERGED;
  const changes: Readonly<Record<GlobalColumn, Pairs>> = { options: { set: {}, remove: {} }, external_ids: { set: {}, remove: {} } };
  const change = (column: GlobalColumn, key: string, from: string | undefined, to: string | undefined): void => {
    if (from === to) return;
    if (from !== undefined) changes[column].remove[key] = from;
    if (to !== undefined) changes[column].set[key] = to;
  };
  const emitted = new Map(desiredKeys(context).map((one) => [recordKey(one.column, one.key), one]));
  const all: readonly GlobalKey[] = [...emitted.values(), ...recordedKeys(held.row)];
  for (const { column, key } of new Map(all.map((one) => [recordKey(one.column, one.key), one])).values()) {
    const record = recordKey(column, key);
    const { value, recorded, isForeign } = heldKey(held.row, { column, key });
    const desired = isForeign ? undefined : emitted.get(record)?.value;
    if (!isForeign) change(column, key, value, desired);
    change('external_ids', record, recorded, desired);
  }
  const edits = Object.entries(changes).flatMap(([column, { set, remove }]): Edit[] =>
    Object.keys(set).length + Object.keys(remove).length === 0
      ? []
      : [{ kind: 'pairs', table: held.table, uuid: held.uuid, column, set, remove }],
  );
  if (edits.length === 0) return CONVERGED;
  const { options, external_ids: ids } = changes;
  const isRecordsAlone =
    Object.keys({ ...options.set, ...options.remove, ...ids.set }).length === 0 && Object.keys(ids.remove).every(isRecord);
  return {
    kind: 'change',
    change: 'update',
    edits: [{ kind: 'exists', table: held.table, uuid: held.uuid }, ...edits],
    detail: isRecordsAlone ? RECORDS_ALONE : 'members',
  };
}

function isRecord(key: string): boolean {
  return recordedKey(key) !== undefined;
}

function desiredKeys({ desired, canHold }: DiffContext): readonly (GlobalKey & { readonly value: string })[] {
  return [...desired.members(GLOBAL_ROW)].flatMap((output) => keyOf(output, canHold));
}

function keyOf({ column, member }: Member, canHold: DiffContext['canHold']): readonly (GlobalKey & { readonly value: string })[] {
  if ((column !== 'options' && column !== 'external_ids') || typeof member !== 'object' || !('key' in member)) return [];
  return canHold('NB_Global', column) ? [{ column, key: member.key, value: member.value }] : [];
}
