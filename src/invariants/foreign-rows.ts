/**
 * I4: foreign rows stay unchanged bit for bit, except for Kiln's own members in shared columns and its own keys in NB_Global.
 *
 * Compares whole rows of every table, read by another program: Kiln could damage tables and columns that it does not know without noticing.
 */
import { OWNER_KEY, TERM_KEY, VENDOR, VENDOR_KEY } from '../nb/ownership.ts';
import { heldKey, recordedKey } from '../nb/global-keys.ts';
import type { Violation } from './violation.ts';

export type ForeignCell = string | number | boolean | readonly ForeignCell[] | { readonly [key: string]: ForeignCell };

/** A row with its column `_uuid`; a set is an array unless it has one member. */
export type WholeRow = Readonly<Record<string, ForeignCell>>;

/**
 * Text of each foreign row, by `<table>/<uuid>`; and of each owned row, by that and a shared column, the UUIDs of foreign rows that it
 * holds.
 */
export type ForeignSnapshot = ReadonlyMap<string, string>;

/** Columns that ovn-northd and other daemons write. */
const OTHERS_WRITE: Readonly<Record<string, readonly string[]>> = {
  NB_Global: ['_version', 'nb_cfg', 'nb_cfg_timestamp', 'sb_cfg', 'sb_cfg_timestamp', 'hv_cfg', 'hv_cfg_timestamp'],
  Logical_Switch_Port: ['_version', 'up', 'dynamic_addresses', 'tag'],
};

/** Columns of shared rows in which members of our own are taken out before rows are compared. */
export const SHARED: readonly string[] = ['ports', 'acls', 'load_balancer', 'static_routes', 'policies', 'nat', 'gateway_chassis'];

/** Columns of weak references: when a row of Kiln's is deleted, the server removes it from them, also in foreign rows. */
export const WEAK: readonly string[] = ['dhcpv4_options', 'dhcpv6_options'];

/** A snapshot of every foreign row. */
export function foreignSnapshot(tables: ReadonlyMap<string, readonly WholeRow[]>): ForeignSnapshot {
  const owned = new Set<string>();
  for (const rows of tables.values()) for (const row of rows) if (isOwned(row)) owned.add(String(row['_uuid']));
  const snapshot = new Map<string, string>();
  for (const [table, rows] of tables) {
    for (const row of rows) {
      const uuid = String(row['_uuid']);
      if (!owned.has(uuid)) snapshot.set(`${table}/${uuid}`, foreignContents(table, row, owned));
      else for (const [column, members] of foreignMembersOf(row, owned)) snapshot.set(`${table}/${uuid} ${column}`, members);
    }
  }
  return snapshot;
}

/**
 * References from shared columns of an owned row to foreign rows, by column; includes columns without any, so that a removed one is found.
 */
function foreignMembersOf(row: WholeRow, owned: ReadonlySet<string>): readonly (readonly [column: string, members: string])[] {
  return SHARED.flatMap((column) => {
    const cell = row[column];
    if (cell === undefined) return [];
    const all = (Array.isArray(cell) ? cell : [cell]) as readonly ForeignCell[];
    return [[column, all.filter((one) => typeof one === 'string' && !owned.has(one)).join(' ')] as const];
  });
}

export function foreignRows(before: ForeignSnapshot, after: ForeignSnapshot): readonly Violation[] {
  const violations: Violation[] = [];
  const still = new Set(Array.from(after.keys(), (row) => row.slice(row.indexOf('/') + 1)));
  for (const [row, text] of before) {
    const now = after.get(row);
    if (now === text) continue;
    if (row.includes(' ')) {
      // For a row of Kiln's: it may be deleted, and another program may remove rows in it.
      const lost = now === undefined ? [] : text.split(' ').filter((one) => still.has(one) && !now.split(' ').includes(one));
      for (const one of lost) {
        const message = `row ${one} is not Kiln's and was in ${row}; it is not any more`;
        violations.push({ invariant: 'I4', subject: row, message });
      }
      continue;
    }
    const message =
      now === undefined
        ? `row ${row} is not Kiln's and is gone; it was ${text}`
        : `row ${row} is not Kiln's and was changed from ${text} to ${now}`;
    violations.push({ invariant: 'I4', subject: row, message });
  }
  return violations;
}

function isOwned(row: WholeRow): boolean {
  const externalIds = mapOf(row['external_ids']);
  return externalIds[VENDOR_KEY] === VENDOR && externalIds[OWNER_KEY] !== undefined;
}

function foreignContents(table: string, row: WholeRow, owned: ReadonlySet<string>): string {
  const hidden = OTHERS_WRITE[table] ?? ['_version'];
  const shown = Object.entries(row)
    .filter(([column]) => !hidden.includes(column))
    .map(([column, cell]) => [column, table === 'NB_Global' ? withoutOurs(row, column) : visible(column, cell, owned)] as const);
  return JSON.stringify(Object.fromEntries(shown.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

function visible(column: string, cell: ForeignCell, owned: ReadonlySet<string>): ForeignCell {
  if (SHARED.includes(column)) {
    const all = (Array.isArray(cell) ? cell : [cell]) as readonly ForeignCell[];
    return all.filter((member) => !owned.has(typeof member === 'string' ? member : ''));
  }
  if (WEAK.includes(column) && owned.has(String(cell))) return [];
  return cell;
}

/** A column of NB_Global without the term, and without the keys that Kiln set and has a record of. */
function withoutOurs(row: WholeRow, column: string): ForeignCell {
  const cell = row[column] ?? {};
  if (column !== 'options' && column !== 'external_ids') return cell;
  const held = { options: asMap(row['options']), external_ids: asMap(row['external_ids']) };
  return Object.fromEntries(
    Object.entries(mapOf(cell)).filter(([key]) => {
      const { value, isForeign } = heldKey(held, { column, key });
      return key !== TERM_KEY && recordedKey(key) === undefined && value !== undefined && isForeign;
    }),
  );
}

function asMap(cell: ForeignCell | undefined): ReadonlyMap<string, ForeignCell> {
  return new Map(Object.entries(mapOf(cell)));
}

function mapOf(cell: ForeignCell | undefined): Readonly<Record<string, ForeignCell>> {
  return typeof cell === 'object' && !Array.isArray(cell) ? (cell as Readonly<Record<string, ForeignCell>>) : {};
}
