/**
 * Entries of exact maps (column mode `entries`) that no rule emits: vips of no Service in the load balancers of a Vpc. An entry has no keys of
 * an owner, so nothing but the objects of now says whose it is. Pure.
 */
import type { DesiredRows } from '../compile/desired-rows.ts';
import { memberKey } from '../compile/desired-rows.ts';
import type { RowId } from '../nb/row-id.ts';
import { entryColumns, TABLES } from '../nb/tables.ts';
import type { Entry } from '../world/observed-rows.ts';
import { vipText } from '../world/service-vips.ts';
import { holderOfVip } from '../world/vip-holder.ts';
import type { World } from '../world/world.ts';

export interface UnexplainedEntry {
  readonly row: Entry;
  readonly column: string;
  readonly key: string;
  readonly value: string;
}

/** The same for the same entry in every process. */
export function entryId(id: RowId, column: string, key: string): string {
  return `${id} ${column} ${key}`;
}

/** Cost: one pass over the maps of rows of ours. */
export function* unexplainedEntries({ rows }: World, desired: Pick<DesiredRows, 'row' | 'member'>): Generator<UnexplainedEntry> {
  for (const { table } of TABLES)
    for (const column of entryColumns(table))
      for (const row of rows.inTable(table)) {
        const held = row.row[column];
        if (row.ownership.kind !== 'ours' || !(held instanceof Map)) continue;
        const base = desired.row(row.id)?.rows[0]?.columns[column];
        if (base === undefined || rows.best(row.id)?.uuid !== row.uuid) continue;
        for (const [at, value] of held) {
          const key = String(at);
          const entry = { row, column, key, value: String(value) };
          if (!Object.hasOwn(base as object, key) && desired.member(row.id, memberKey(column, entry)) === undefined) yield entry;
        }
      }
}

/** Protocol, address and port of an entry; undefined for one that is no vip of Services. */
export function vipOf({ table, row }: Pick<Entry, 'table' | 'row'>, column: string, key: string): string | undefined {
  return table === 'Load_Balancer' && row[column] === row['vips'] ? vipText(String(row['protocol'] ?? ''), key) : undefined;
}

/** Whether the entry stays for an object that has it by an option which is not implemented yet. */
export function isEntryOfOption(world: World, row: Pick<Entry, 'table' | 'row'>, column: string, key: string): boolean {
  const vip = vipOf(row, column, key);
  return vip !== undefined && holderOfVip(world, vip)?.isByOption === true;
}
