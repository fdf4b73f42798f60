/**
 * A part of a restore, for a cluster of servers whose leader does not survive all of it in one transaction. A part has whole trees: a row that
 * lives in another one comes with that one, or with the change that puts it into a row that exists. References that keep nothing alive
 * may be missing until a later part: the next plan puts them back. Pure.
 */
import type { DatabaseSchema, Uuid } from '../ovsdb/index.ts';
import type { RestoredMembers, RestoredRow, RestoredValue, RestorePlan } from './restore-changes.ts';

/** The plan itself, or as much of it as has about so many rows. */
export function partOf(plan: RestorePlan, schema: DatabaseSchema, most: number): RestorePlan {
  if (plan.rows.length <= most) return plan;
  const back = new Map(plan.rows.map((row) => [row.uuid, row]));
  const rows = new Map<Uuid, RestoredRow>();
  const keptAlive = (table: string, column: string): boolean => schema.tables.get(table)?.columns.get(column)?.key.refType === 'strong';
  const take = (value: unknown): void => {
    for (const member of membersIn(value)) {
      const row = back.get(member as Uuid);
      if (row === undefined || rows.has(row.uuid)) continue;
      rows.set(row.uuid, row);
      for (const [column, held] of Object.entries(row.columns)) if (keptAlive(row.table, column)) take(held);
    }
  };
  const values: RestoredValue[] = [];
  const members: RestoredMembers[] = [];
  for (const row of plan.rows) if (rows.size < most && schema.tables.get(row.table)?.isRoot === true) take(row.uuid);
  for (const one of plan.values)
    if (rows.size < most && keptAlive(one.table, one.column)) {
      values.push(one);
      take(one.value);
    }
  for (const one of plan.members)
    if (rows.size < most && keptAlive(one.table, one.column)) {
      members.push(one);
      take(one.members);
    }
  // Each row lives in one of these, so there is always a part.
  if (rows.size === 0) return plan;
  return { ...plan, rows: [...rows.values()], values, members, removedMembers: [], deletions: [], keys: [] };
}

function membersIn(value: unknown): Iterable<unknown> {
  if (value instanceof Set || Array.isArray(value)) return value as Iterable<unknown>;
  return value instanceof Map ? value.values() : [value];
}
