/** What a restore takes from the database, as entries of the journal: rows that it deletes, and values that it overwrites. Pure. */
import type { RestorePlan } from '../backup/restore-changes.ts';
import type { Edit } from '../diff/edits.ts';
import type { JournaledChange } from '../journal/journal.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { ChangeSources } from './journaled-changes.ts';
import { journaledChanges } from './journaled-changes.ts';
import type { Part } from './transaction.ts';

/** @param tx name of the transaction */
export function journaledRestore(
  tx: string,
  { values, removedMembers, deletions }: RestorePlan,
  sources: Pick<ChangeSources, 'rows' | 'replica' | 'schema'>,
): readonly JournaledChange[] {
  const edits = new Map<Uuid, Edit[]>();
  const of = (uuid: Uuid): Edit[] => {
    let all = edits.get(uuid);
    if (all === undefined) edits.set(uuid, (all = []));
    return all;
  };
  for (const { table, uuid, column, value } of values) of(uuid).push({ kind: 'update', table, uuid, row: { [column]: value } });
  for (const { table, uuid, column, members } of removedMembers)
    for (const value of members) of(uuid).push({ kind: 'member', table, uuid, column, add: false, value: value as string });
  for (const { table, uuid } of deletions) of(uuid).push({ kind: 'delete', table, uuid });
  const parts = [...edits].flatMap(([uuid, all]): readonly Pick<Part, 'id' | 'edits'>[] => {
    const row = sources.rows.entry(uuid);
    return row === undefined ? [] : [{ id: row.id, edits: all }];
  });
  return journaledChanges(tx, parts, { ...sources, desired: { row: () => undefined }, reason: 'restored' });
}
