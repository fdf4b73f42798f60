/**
 * What an undo would do: rows to restore with their references and members, overwritten values to put back, and what of the selected changes
 * the present contradicts. All of it is for one transaction. Pure. The file is long since all of its steps work on one plan.
 *
 * Guarantees: a restored row has the journaled contents in every column, and a UUID that shows that it was restored. A row that exists, of
 * any owner, is never overwritten by a deleted one. What the objects of the cluster decide is left to them: the controller would change it
 * back at once.
 */
import type { Ownership } from '../nb/ownership.ts';
import { LET_GO_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, MOST_COPIES, restoredUuid, tableOf } from '../nb/row-id.ts';
import { isLetGo, isRestored } from '../nb/restored-row.ts';
import { childColumns, entryColumns } from '../nb/tables.ts';
import type { ColumnSchema, DatabaseSchema, InputValue, Row, Uuid } from '../ovsdb/index.ts';
import { formerRows, lastDeletions, placesById } from './former-rows.ts';
import type { JournaledReference, JsonAtom, JsonValue } from './journal.ts';
import { holderText, objectText } from './owner-text.ts';
import { addressesIn, addressesOf } from './port-addresses.ts';
import { input, isSame } from './row-json.ts';
import { hasContents } from './same-contents.ts';
import type { SelectedChange } from './selection.ts';
import { translatedElsewhere } from './translated-elsewhere.ts';

/** The database and the cluster as they are. */
export interface Present {
  readonly schema: DatabaseSchema;
  row(table: string, uuid: Uuid): Row | undefined;
  /** All rows of an identity. */
  rowsOf(id: RowId): readonly { readonly uuid: Uuid; readonly row: Row; readonly ownership: Ownership }[];
  /** The NAT rows with an external address. */
  readonly translating: (address: string) => readonly RowId[];
  /** Rows of tables that are not monitored: those that exist of these. */
  exists(table: string, uuid: Uuid): boolean;
  /** Whether the object `<kind>/<namespace>/<name>` exists. */
  ownerExists(owner: string): boolean;
  /** Why entries of the row that nothing explains would go again at once, and what keeps them; undefined: they stay. */
  entriesGo(id: RowId): string | undefined;
}

export interface RestoredRow {
  readonly id: RowId;
  readonly table: string;
  readonly uuid: Uuid;
  readonly owner: string;
  readonly columns: Record<string, InputValue>;
}

/** A member to add to a row that exists. */
export interface RestoredMember {
  readonly id: RowId;
  readonly table: string;
  readonly uuid: Uuid;
  readonly column: string;
  readonly add: readonly (Uuid | JsonAtom)[];
  /** The column holds one row at most. */
  readonly isSingle: boolean;
}

/** A column, or keys of a map, to put back. */
export interface RestoredValue {
  readonly id: RowId;
  readonly table: string;
  readonly uuid: Uuid;
  readonly column: string;
  /** The value, and what it must be now. */
  readonly value: InputValue;
  readonly now: InputValue;
  /** Of a map: the key alone. */
  readonly key?: string;
}

/** A change that is not undone, and why. */
export interface Exception {
  readonly id: RowId;
  readonly tx: string;
  readonly why: string;
}

export interface UndoPlan {
  readonly rows: readonly RestoredRow[];
  readonly members: readonly RestoredMember[];
  readonly values: readonly RestoredValue[];
  /** Rows that must still exist. */
  readonly needed: readonly { readonly table: string; readonly uuid: Uuid }[];
  /** Is in the database already. */
  readonly present: readonly Exception[];
  /** The objects of the cluster decide it. */
  readonly left: readonly Exception[];
  /** The present contradicts it. */
  readonly contradictions: readonly Exception[];
  /** References that are not restored, since what they refer to is gone. */
  readonly lost: readonly Exception[];
}

interface Working {
  readonly present: Present;
  readonly rows: Map<Uuid, RestoredRow>;
  /** The new UUID of each deleted one, or that of the row that has its identity now. */
  readonly places: Map<Uuid, Uuid>;
  /** The same by identity. */
  byId: ReadonlyMap<RowId, Uuid>;
  /** Rows whose identity was deleted again later. */
  former: ReadonlyMap<Uuid, RowId>;
  readonly members: Map<string, RestoredMember & { readonly add: (Uuid | JsonAtom)[] }>;
  /** Columns of restored rows to which references were added, by row and column. */
  readonly referred: Map<string, { readonly list: Uuid[]; readonly known: Set<Uuid> }>;
  readonly needed: Map<Uuid, string>;
  readonly values: RestoredValue[];
  readonly already: Exception[];
  readonly left: Exception[];
  readonly contradictions: Exception[];
  readonly lost: Exception[];
}

/** @param changes the oldest first */
export function undoPlan(changes: readonly SelectedChange[], present: Present): UndoPlan {
  const working: Working = {
    present,
    ...{
      rows: new Map(),
      places: new Map(),
      byId: new Map(),
      former: new Map(),
      members: new Map(),
      referred: new Map(),
      needed: new Map(),
      values: [],
    },
    ...{ already: [], left: [], contradictions: [], lost: [] },
  };
  const last = lastDeletions(changes);
  const deleted = placed(last, working);
  working.byId = placesById(last, working.places);
  working.former = formerRows(changes, working.places);
  // A row in a row in a row is the deepest there is.
  for (const change of [...deleted, ...deleted]) refuseWithoutParent(change, working);
  const restored = deleted.filter(({ uuid }) => working.rows.has(working.places.get(uuid) ?? uuid));
  for (const change of restored) fill(change, working);
  for (const change of restored) refer(change, working);
  refuseTakenAddresses(restored, working);
  working.contradictions.push(...translatedElsewhere(restored, working.present.translating));
  for (const change of changes) if (change.change === 'overwrite') putBack(change, working);
  const { rows, members, values, needed, already, left, contradictions, lost } = working;
  return {
    rows: [...rows.values()],
    members: [...members.values()],
    values,
    needed: [...needed].map(([uuid, table]) => ({ table, uuid })),
    ...{ present: already, left, contradictions, lost },
  };
}

/** Decides for each deleted row whether it is restored, and gives it its UUID. @returns those that are */
function placed(deletions: readonly SelectedChange[], working: Working): readonly SelectedChange[] {
  const { present, rows, places, already, left, contradictions } = working;
  const copies = new Map<RowId, number>();
  const found: SelectedChange[] = [];
  for (const change of deletions) {
    const { id, tx, owner, uid, table, row } = change;
    const except = (to: Exception[], why: string): void => void to.push({ id, tx, why });
    const existing = present.rowsOf(id);
    const [now] = existing;
    if (now !== undefined) {
      places.set(change.uuid, now.uuid);
      const same = existing.find((one) => hasContents(one.row, row, present.schema.tables.get(table)));
      if (same !== undefined && isRestored(id, same.uuid, same.ownership) && isLetGo(same.row)) holdOnceMore(id, same, working);
      else if (same !== undefined && isRestored(id, same.uuid, same.ownership)) except(already, 'was restored before');
      else if (same !== undefined) except(already, 'is there with the same contents');
      else if (now.ownership.kind === 'ours' && present.ownerExists(now.ownership.owner))
        except(left, `exists again: ${objectText(now.ownership.owner)} is back and has it`);
      else except(contradictions, `exists again with other contents, and belongs to ${holderText(now.ownership)}`);
      continue;
    }
    if (owner !== '' && present.ownerExists(owner)) {
      except(left, `${objectText(owner)} exists and does not ask for it; change the object instead`);
      continue;
    }
    if (!present.schema.tables.has(table)) {
      except(contradictions, `this database has no table ${table}`);
      continue;
    }
    const copy = copies.get(id) ?? 0;
    copies.set(id, copy + 1);
    if (copy >= MOST_COPIES) {
      except(contradictions, `${copy} rows of this name were deleted together; one undo restores ${MOST_COPIES} of them`);
      continue;
    }
    const uuid = restoredUuid(id, { owner, uid }, copy);
    places.set(change.uuid, uuid);
    rows.set(uuid, { id, table, uuid, owner, columns: {} });
    found.push(change);
  }
  return found;
}

/** A restored row that was let go, and was not collected since: it is held again. */
function holdOnceMore(id: RowId, { uuid, row }: ReturnType<Present['rowsOf']>[number], { values }: Working): void {
  const held = row['external_ids'];
  const now: unknown = held instanceof Map ? held.get(LET_GO_KEY) : undefined;
  if (values.some((one) => one.uuid === uuid && one.key === LET_GO_KEY)) return;
  values.push({ id, table: tableOf(id), uuid, column: 'external_ids', key: LET_GO_KEY, value: null, now: String(now) });
}

/** A child row without a parent cannot exist. What depends on a refused row is refused too. */
function refuseWithoutParent(change: SelectedChange, working: Working): void {
  const { id, tx, uuid, references, table } = change;
  const parents = references.filter(({ kind }) => kind === 'parent');
  if (working.present.schema.tables.get(table)?.isRoot === true || parents.some((parent) => placeOf(parent, working) !== undefined)) return;
  const [parent] = parents;
  const named = parent === undefined ? 'its parent' : `${tableOf(parent.id)} ${identityOf(parent.id)}, which it was in,`;
  const place = working.places.get(uuid);
  if (place === undefined || !working.rows.delete(place)) return;
  working.contradictions.push({ id, tx, why: `${named} does not exist, and is not restored with it` });
}

/** Where a referring row is now: restored, or existing under the same UUID or name. */
function placeOf({ table, uuid, id }: JournaledReference, { places, byId, present, rows }: Working): Uuid | undefined {
  if (!places.has(uuid) && present.row(table, uuid) !== undefined) return uuid;
  const moved = places.get(uuid) ?? byId.get(id);
  if (moved !== undefined) return rows.has(moved) || present.row(table, moved) !== undefined ? moved : undefined;
  return present.rowsOf(id).find(({ ownership }) => ownership.kind === 'ours')?.uuid;
}

function fill(change: SelectedChange, working: Working): void {
  const { id, tx, table, row } = change;
  const restored = working.rows.get(working.places.get(change.uuid) ?? change.uuid);
  const schema = working.present.schema.tables.get(table);
  if (restored === undefined || schema === undefined) return;
  for (const [column, value] of Object.entries(row)) {
    const type = schema.columns.get(column);
    if (type === undefined) {
      working.lost.push({ id, tx, why: `this database has no column ${table}.${column}; it is left out` });
      continue;
    }
    const written = type.key.refTable === undefined ? value : existing(change, type, value, working);
    if (written !== null) restored.columns[column] = written as InputValue;
  }
  const { external_ids: keys } = restored.columns;
  if (keys !== undefined) restored.columns['external_ids'] = heldAgain(keys as Readonly<Record<string, JsonAtom>>);
}

/** Who had let the row go wants it back now. */
function heldAgain(keys: Readonly<Record<string, JsonAtom>>): Readonly<Record<string, JsonAtom>> {
  return Object.fromEntries(Object.entries(keys).filter(([key]) => key !== LET_GO_KEY));
}

function formerPlace(uuid: Uuid, { former, byId }: Working): Uuid | undefined {
  const id = former.get(uuid);
  return id === undefined ? undefined : byId.get(id);
}

/** The members that exist or are restored. */
function existing(change: SelectedChange, type: ColumnSchema, value: JsonValue, working: Working): InputValue {
  const { id, tx, table } = change;
  const refTable = type.key.refTable ?? '';
  const isChild = childColumns(table).some(({ column }) => column === type.name);
  const members = (Array.isArray(value) ? value : [value]) as readonly Uuid[];
  const kept = members.flatMap((member): Uuid[] => {
    // Not for children: these name the parent that they were in last.
    const moved = working.places.get(member) ?? (isChild ? undefined : formerPlace(member, working));
    if (moved !== undefined && (working.rows.has(moved) || working.present.row(refTable, moved) !== undefined)) return [moved];
    if (moved === undefined && working.present.exists(refTable, member)) {
      working.needed.set(member, refTable);
      return [member];
    }
    // A child names its parent itself, and is an exception of its own.
    if (!isChild) working.lost.push({ id, tx, why: `the row of ${refTable} that ${type.name} referred to does not exist any more` });
    return [];
  });
  if (type.kind === 'set') return kept;
  return kept[0] ?? null;
}

/** Puts the row back where others referred to it. */
function refer(change: SelectedChange, working: Working): void {
  const { id, tx, uuid } = change;
  const place = working.places.get(uuid);
  if (place === undefined || !working.rows.has(place)) return;
  for (const reference of change.references) {
    const { table, column, kind } = reference;
    const from = placeOf(reference, working);
    if (from === undefined) {
      const name = `${table} ${identityOf(reference.id)}`;
      if (kind === 'member') working.lost.push({ id, tx, why: `${name} does not exist any more, and had it in ${column}` });
      continue;
    }
    const isSingle = working.present.schema.tables.get(table)?.columns.get(column)?.kind === 'optional';
    const restored = working.rows.get(from);
    if (restored !== undefined) {
      if (isSingle) restored.columns[column] = place;
      else put(place, from, column, restored.columns, working);
      continue;
    }
    const key = `${from} ${column}`;
    const gathered = working.members.get(key);
    if (gathered === undefined) working.members.set(key, { id: reference.id, table, uuid: from, column, add: [place], isSingle });
    else gathered.add.push(place);
    working.needed.set(from, table);
  }
}

/** Adds a member to a column of a restored row. A switch may have ten thousand: each is looked up once. */
function put(place: Uuid, row: Uuid, column: string, columns: Record<string, InputValue>, { referred }: Working): void {
  const key = `${row} ${column}`;
  let members = referred.get(key);
  if (members === undefined) {
    const held = columns[column];
    const list = Array.isArray(held) ? [...(held as readonly Uuid[])] : [];
    columns[column] = list;
    referred.set(key, (members = { list, known: new Set(list) }));
  }
  if (members.known.has(place)) return;
  members.known.add(place);
  members.list.push(place);
}

/** The addresses of a deleted port may be another port's by now. */
function refuseTakenAddresses(restored: readonly SelectedChange[], working: Working): void {
  const taken = new Map<Uuid, ReadonlyMap<string, string>>();
  for (const { id, tx, table, row, references } of restored) {
    if (table !== 'Logical_Switch_Port') continue;
    const parent = references.find(({ kind }) => kind === 'parent');
    const home = parent === undefined ? undefined : placeOf(parent, working);
    if (home === undefined || working.rows.has(home)) continue;
    let held = taken.get(home);
    if (held === undefined) taken.set(home, (held = addressesIn(home, (of, one) => working.present.row(of, one))));
    for (const address of addressesOf(row['addresses'])) {
      const holder = held.get(address);
      if (holder !== undefined) working.contradictions.push({ id, tx, why: `its address ${address} belongs to port ${holder} by now` });
    }
  }
}

function putBack(change: SelectedChange, working: Working): void {
  const { id, tx, owner, table, uuid } = change;
  const { present, left, contradictions, values, places } = working;
  if (places.has(uuid) || formerPlace(uuid, working) !== undefined)
    return void left.push({ id, tx, why: 'was deleted later, and is restored as it was then' });
  if (table === 'NB_Global') return void left.push({ id, tx, why: 'the controller keeps its keys in it' });
  const existing = present.rowsOf(id);
  const now = existing.find((one) => one.uuid === uuid) ?? existing[0];
  if (now !== undefined) addRestoredMembers(change, now.uuid, working);
  if (change.columns === undefined && change.keys === undefined && onlyRestored(change, working)) return;
  const held = now?.ownership.kind === 'ours' ? now.ownership.owner : owner;
  if (held !== '' && present.ownerExists(held)) {
    const entries = Object.entries(change.keys ?? {}).filter(([column]) => entryColumns(table).includes(column));
    if (now === undefined || entries.length === 0)
      return void left.push({ id, tx, why: `${objectText(held)} exists and decides what is in it; change the object instead` });
    const going = present.entriesGo(id);
    if (going !== undefined) return void left.push({ id, tx, why: `${objectText(held)} exists: ${going}` });
    return putBackKeys(change, now, entries, working);
  }
  if (now === undefined) return void contradictions.push({ id, tx, why: 'was overwritten, and does not exist any more' });
  const schema = present.schema.tables.get(table);
  for (const [column, [before, after]] of Object.entries(change.columns ?? {})) {
    if (isSame(before, now.row[column])) continue;
    if (!isSame(after, now.row[column])) contradictions.push({ id, tx, why: `its ${column} was changed again since` });
    else values.push({ id, table, uuid: now.uuid, column, value: input(before, schema, column), now: input(after, schema, column) });
  }
  putBackKeys(change, now, Object.entries(change.keys ?? {}), working);
  for (const [column, members] of Object.entries(change.removed ?? {})) {
    const held = now.row[column];
    const type = schema?.columns.get(column);
    const add = members.filter((one) => !(held instanceof Set && held.has(one))).filter((one) => isThere(one, type, present));
    if (add.length === 0) continue;
    working.needed.set(now.uuid, table);
    const key = `${now.uuid} ${column}`;
    const gathered = working.members.get(key);
    if (gathered === undefined) working.members.set(key, { id, table, uuid: now.uuid, column, add: [...add], isSingle: false });
    else gathered.add.push(...add.filter((one) => !gathered.add.includes(one)));
  }
}

type Keys = readonly (readonly [column: string, keys: NonNullable<SelectedChange['keys']>[string]])[];

function putBackKeys(
  { id, tx, table }: SelectedChange,
  { uuid, row }: ReturnType<Present['rowsOf']>[number],
  columns: Keys,
  { contradictions, values }: Working,
): void {
  for (const [column, keys] of columns) {
    const held = row[column];
    const map: ReadonlyMap<unknown, unknown> = held instanceof Map ? held : new Map();
    for (const [key, [before, after]] of Object.entries(keys)) {
      const value = (map.get(key) as JsonAtom | undefined) ?? null;
      if (value === before) continue;
      if (value !== after) contradictions.push({ id, tx, why: `${key} in its ${column} was changed again since` });
      else values.push({ id, table, uuid, column, key, value: before, now: after });
    }
  }
}

/** Members that an earlier part of the deletion took out, and that are restored now: they stay in it, whoever owns it. */
function addRestoredMembers({ id, table, removed = {} }: SelectedChange, uuid: Uuid, working: Working): void {
  for (const [column, members] of Object.entries(removed)) {
    const add = members.flatMap((member) => restoredAs(member, working) ?? []);
    if (add.length === 0) continue;
    working.needed.set(uuid, table);
    const gathered = working.members.get(`${uuid} ${column}`);
    if (gathered === undefined) working.members.set(`${uuid} ${column}`, { id, table, uuid, column, add, isSingle: false });
    else gathered.add.push(...add);
  }
}

function restoredAs(member: JsonAtom, { places, rows }: Working): Uuid | undefined {
  const place = typeof member === 'string' ? places.get(member as Uuid) : undefined;
  return place !== undefined && rows.has(place) ? place : undefined;
}

function onlyRestored({ removed = {} }: SelectedChange, working: Working): boolean {
  return Object.values(removed).every((members) => members.every((member) => restoredAs(member, working) !== undefined));
}

function isThere(member: JsonAtom, type: ColumnSchema | undefined, present: Present): boolean {
  return type?.key.refTable === undefined || present.exists(type.key.refTable, member as Uuid);
}
