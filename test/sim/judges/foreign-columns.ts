/**
 * What a transaction of a controller does to what others have: it puts nothing into a row of another program and changes none, and keys that another
 * program wrote into a row of Kiln's stay. Read from the rows before and after, by no rule and no diff: a row that is taken over is not seen as
 * somebody else's any more, and Kiln's own member in one is nothing that its owner lost.
 */
import { VENDOR, VENDOR_KEY } from '../../../src/nb/ownership.ts';
import type { Value } from '../../../src/ovsdb/index.ts';
import type { RowDifference, StoredRow } from '../../../src/ovsdb/testing/simulated/database.ts';
import { STRANGER } from '../steps/foreign-rows.ts';

/** Begins keys of another vendor. */
export const OTHER_VENDOR = 'neutron:';
/** Kube-OVN makes these without marks: below a row of Kiln's they may be taken over. */
const TAKEN_OVER: ReadonlySet<string> = new Set(['NAT', 'Gateway_Chassis']);

/** @returns what is wrong, as the rest of a sentence */
export function foreignColumnsChanged(differences: readonly RowDifference[]): readonly string[] {
  return differences.flatMap(({ table, before, after }) => {
    if (before === undefined || after === undefined) return [];
    const name = `${table} ${String(before['name'] ?? '')}`.trim();
    if (isKilns(before)) return keysTaken(before, after).map((key) => `took ${key} of another vendor out of ${name}`);
    if (TAKEN_OVER.has(table) || marksOf(before)?.has(STRANGER) !== true) return [];
    return columnsOf(before, after)
      .filter((column) => !isLessOf(before[column], after[column]))
      .map((column) => `wrote ${column} of ${name}, which is another program's`);
  });
}

function columnsOf(before: StoredRow, after: StoredRow): readonly string[] {
  return Object.keys({ ...before, ...after });
}

function keysTaken(before: StoredRow, after: StoredRow): readonly string[] {
  return columnsOf(before, after).flatMap((column) => {
    const [was, is] = [before[column], after[column]];
    if (!(was instanceof Map) || !(is instanceof Map)) return [];
    return [...(was as ReadonlyMap<unknown, unknown>).keys()]
      .filter((key) => String(key).startsWith(OTHER_VENDOR) && !(is as ReadonlyMap<unknown, unknown>).has(key))
      .map((key) => `${column} ${String(key)}`);
  });
}

/** The same, or with something taken out: what was Kiln's own may leave, and the server takes out references to what is gone. */
function isLessOf(was: Value | undefined, is: Value | undefined): boolean {
  if (was instanceof Set && is instanceof Set)
    return [...(is as ReadonlySet<unknown>)].every((one) => (was as ReadonlySet<unknown>).has(one));
  if (was instanceof Map && is instanceof Map)
    return was.size === is.size && [...(was as ReadonlyMap<unknown, unknown>)].every(([key, one]) => is.get(key as never) === one);
  return is === was || is === null || is === undefined;
}

function isKilns(row: StoredRow): boolean {
  return marksOf(row)?.get(VENDOR_KEY) === VENDOR;
}

function marksOf(row: StoredRow): ReadonlyMap<string, string> | undefined {
  const marks = row['external_ids'];
  return marks instanceof Map ? (marks as ReadonlyMap<string, string>) : undefined;
}
