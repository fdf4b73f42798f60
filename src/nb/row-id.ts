/** Natural identities of Northbound rows, and the UUID that Kiln inserts a row with. */
import type { Uuid } from '../ovsdb/index.ts';

/** `<table>/<identity within the table>`, e.g. `Logical_Switch_Port/web-0.shop`. */
export type RowId = string & { readonly __brand: 'RowId' };

export function rowId(table: string, ...identity: readonly (string | number)[]): RowId {
  return `${table}/${identity.join('|')}` as RowId;
}

/** Most rows are ports: this saves a new string for each. */
const PORTS = 'Logical_Switch_Port';

export function tableOf(id: RowId): string {
  if (id.startsWith(PORTS) && id[PORTS.length] === '/') return PORTS;
  return id.slice(0, id.indexOf('/'));
}

export function identityOf(id: RowId): string {
  return id.slice(id.indexOf('/') + 1);
}

/** A reference to another row; the diff resolves it to a UUID. */
export interface RowRef {
  readonly ref: RowId;
}

export function isRowRef(value: unknown): value is RowRef {
  return typeof value === 'object' && value !== null && 'ref' in value;
}

/**
 * The UUID that a row is inserted with: a hash of its identity and of the seed. A second insert (after a lost reply, or by a deposed
 * leader) fails with "duplicate uuid" instead of making a second row.
 */
export function insertUuid(id: RowId, seed: string): Uuid {
  const text = `${id}\n${seed}`;
  const words = [hash32(text, FIRST_WORD), hash32(text, 0x85ebca6b), hash32(text, 0xc2b2ae35), hash32(text, 0x27d4eb2f)];
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}` as Uuid;
}

const FIRST_WORD = 0x9e3779b9;

/** Whether a UUID comes from `insertUuid`: UUIDs of other programs are random, and have another version. */
export function isOwnUuid(uuid: Uuid): boolean {
  return uuid[14] === '8';
}

/**
 * What `insertUuid` hashes beside the identity: row owner and parent.
 * @param collisions how often an insert failed, since the UUID existed already
 */
export function insertSeed(ownerUid: string, parent: Uuid | undefined, collisions: number): string {
  return [ownerUid, parent ?? '', ...(collisions > 0 ? [collisions] : [])].join('|');
}

/** The UUIDs that Kiln may have inserted the row with, the likeliest first. */
export function ownUuids(id: RowId, ownerUid: string, parent: Uuid | undefined): readonly Uuid[] {
  return [0, 1, 2].map((collisions) => insertUuid(id, insertSeed(ownerUid, parent, collisions)));
}

/**
 * The UUID that an undo restores a row with: a hash of its identity and its row owner, so the row itself shows that it was restored for
 * this owner, and needs no key for that. Once another object of the same name owns the row, the UUID no longer shows it.
 * @param copy of several rows of one identity
 */
export function restoredUuid(id: RowId, { owner, uid }: { readonly owner: string; readonly uid: string }, copy = 0): Uuid {
  return insertUuid(id, restoredSeed(owner, uid, copy));
}

/**
 * Whether `restoredUuid` gives this UUID, for any copy. The collection asks that of each row that it deletes, and most were not restored:
 * one hash tells that.
 */
export function isRestoredUuid(uuid: Uuid, id: RowId, { owner, uid }: { readonly owner: string; readonly uid: string }): boolean {
  if (!isOwnUuid(uuid)) return false;
  const begin = Number.parseInt(uuid.slice(0, 8), 16);
  for (let copy = 0; copy < MOST_COPIES; copy++) {
    const seed = restoredSeed(owner, uid, copy);
    if (hash32(`${id}\n${seed}`, FIRST_WORD) === begin && insertUuid(id, seed) === uuid) return true;
  }
  return false;
}

function restoredSeed(owner: string, uid: string, copy: number): string {
  return copy === 0 ? `restored|${owner}|${uid}` : `restored|${owner}|${uid}|${copy}`;
}

/** Most rows of one identity that an undo can restore. */
export const MOST_COPIES = 3;

/** MurmurHash3 x86 32 over the text's UTF-16 units: well mixed, seedable, pure. */
export function hash32(text: string, seed: number): number {
  let h = seed | 0;
  for (let i = 0; i < text.length; i++) {
    let k = Math.imul(text.charCodeAt(i), 0xcc9e2d51);
    k = (k << 15) | (k >>> 17);
    h ^= Math.imul(k, 0x1b873593);
    h = (h << 13) | (h >>> 19);
    h = (Math.imul(h, 5) + 0xe6546b64) | 0;
  }
  h ^= text.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
