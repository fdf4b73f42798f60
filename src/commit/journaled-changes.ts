/**
 * What a transaction takes from the database, as entries of the journal: rows that it deletes, whole, with the rows that go with them and
 * all references to them, and what it overwrites. Inserts and added members take nothing and are left out. Pure.
 */
import type { DesiredRows } from '../compile/desired-rows.ts';
import type { Edit } from '../diff/edits.ts';
import type { BeforeAfter, JournaledChange, JournaledReference, JournalReason, JsonAtom, JsonRow, JsonValue } from '../journal/journal.ts';
import { rowJson, valueJson } from '../journal/row-json.ts';
import { neighbourOf } from '../nb/ownership.ts';
import type { ParentColumn } from '../nb/tables.ts';
import { childColumns, entryColumns, monitoredColumns, REPORTED_COLUMNS, tableSpec } from '../nb/tables.ts';
import type { DatabaseSchema, InputValue, Replica, Row, Uuid } from '../ovsdb/index.ts';
import type { Entry, ObservedRows } from '../world/observed-rows.ts';
import type { Part } from './transaction.ts';

export interface ChangeSources {
  readonly rows: ObservedRows;
  readonly desired: Pick<DesiredRows, 'row'>;
  readonly replica: Replica;
  /** Of the server; undefined before the first contents. */
  readonly schema: () => DatabaseSchema | undefined;
  /** Of all changes; undefined: what the rules and the rows show. */
  readonly reason?: JournalReason;
}

/** A change that still grows. */
interface Draft extends Omit<JournaledChange, 'references' | 'removed'> {
  readonly references: JournaledReference[];
  readonly removed?: Record<string, JsonAtom[]>;
}

/** Whether the edits of a part take nothing that only the database has: no row is deleted, and none of Kube-OVN's is overwritten. */
export function mayGoUnjournaled({ edits, members }: Pick<Part, 'edits' | 'members'>, { rows }: Pick<ChangeSources, 'rows'>): boolean {
  const removed = removedLinks([{ edits }]);
  return edits.every((edit) => {
    if (edit.kind === 'delete') return false;
    // Not by a change of its object: an entry that nothing explains, and that nothing else could make again.
    if (edit.kind === 'keys' && members === 'all' && edit.remove.length > 0 && entryColumns(edit.table).includes(edit.column)) return false;
    if (edit.kind === 'update' || edit.kind === 'keys') return rows.entry(edit.uuid)?.ownership.kind !== 'legacy';
    return edit.kind !== 'member' || edit.add || !isOrphaned(edit.value as Uuid, removed, rows);
  });
}

/**
 * A transaction may take ten thousand rows, and waits for this: what all of them share is made once.
 * @param tx name of the transaction
 * @param parts of it
 */
export function journaledChanges(
  tx: string,
  parts: readonly Pick<Part, 'id' | 'edits' | 'members' | 'isDrift'>[],
  sources: ChangeSources,
): readonly JournaledChange[] {
  const { rows } = sources;
  const deleted = new Map<Uuid, Draft>();
  const overwritten = new Map<Uuid, Draft>();
  const links = removedLinks(parts);
  const taking: Taking = { tx, deleted, parents: new Map(), sources };
  for (const part of parts)
    for (const edit of part.edits) {
      if (edit.kind === 'delete') takeDeleted(edit.uuid, reasonOf(part, edit.uuid, sources), taking);
      else if (edit.kind === 'member' && !edit.add && isOrphaned(edit.value as Uuid, links, rows))
        takeDeleted(edit.value as Uuid, reasonOf(part, edit.value as Uuid, sources), taking);
    }
  for (const part of parts) for (const edit of part.edits) takeOverwritten(part, edit, overwritten, taking);
  addMemberships(deleted, sources);
  return [...deleted.values(), ...overwritten.values()];
}

/** Number of links from parents that are removed, by child; not for one that gets a new parent. */
type Links = ReadonlyMap<Uuid, number>;

function removedLinks(parts: Iterable<Pick<Part, 'edits'>>): Links {
  const removed = new Map<Uuid, number>();
  const added: Uuid[] = [];
  for (const { edits } of parts)
    for (const edit of edits) {
      if (edit.kind !== 'member' || !isChildColumn(edit.table, edit.column)) continue;
      const child = edit.value as Uuid;
      if (edit.add) added.push(child);
      else removed.set(child, (removed.get(child) ?? 0) + 1);
    }
  for (const uuid of added) removed.delete(uuid);
  return removed;
}

function isChildColumn(table: string, column: string): boolean {
  for (const child of childColumns(table)) if (child.column === column) return true;
  return false;
}

/** Whether no parent is left: then the server deletes the row. */
function isOrphaned(uuid: Uuid, removed: Links, rows: ObservedRows): boolean {
  const gone = removed.get(uuid);
  return gone !== undefined && rows.parentCount(uuid) <= gone;
}

function reasonOf(
  { id, members, isDrift }: Pick<Part, 'id' | 'members' | 'isDrift'>,
  uuid: Uuid,
  { desired, rows }: ChangeSources,
): JournalReason {
  if ((desired.row(id)?.rows.length ?? 0) === 0) return 'unexplained';
  if (isDrift === true) return 'repaired';
  if (members !== undefined) return 'changed';
  return rows.best(id)?.uuid === uuid ? 'replaced' : 'duplicate';
}

/** The changes of one transaction as they are gathered. */
interface Taking {
  readonly tx: string;
  readonly deleted: Map<Uuid, Draft>;
  /** References from a parent by its column: those of all ports of a switch are one object. */
  readonly parents: Map<Uuid, Map<string, JournaledReference>>;
  readonly sources: ChangeSources;
}

function takeDeleted(uuid: Uuid, reason: JournalReason, taking: Taking): void {
  const { deleted, sources } = taking;
  const { rows } = sources;
  if (deleted.has(uuid)) return;
  const entry = rows.entry(uuid);
  if (entry === undefined) return;
  deleted.set(uuid, draftOf(entry, 'delete', reason, journaledRow(entry), taking));
  for (const { column } of childColumns(entry.table)) {
    const held = entry.row[column];
    if (!(held instanceof Set)) continue;
    for (const child of held as ReadonlySet<Uuid>) takeDeleted(child, 'inside', taking);
  }
}

function draftOf(entry: Entry, change: JournaledChange['change'], reason: JournalReason, row: JsonRow, taking: Taking): Draft {
  const { id, table, uuid, ownership } = entry;
  const isOurs = ownership.kind === 'ours';
  const [owner, uid] = [isOurs ? ownership.owner : '', isOurs ? ownership.uid : ''];
  const references = parentsOf(uuid, taking);
  const given = taking.sources.reason ?? reason;
  const draft: Draft = { kind: 'change', tx: taking.tx, change, table, id, uuid, owner, uid, reason: given, row, references };
  return ownership.kind === 'foreign' ? { ...draft, neighbour: neighbourOf(ownership) } : draft;
}

function parentsOf(child: Uuid, { parents, sources: { rows } }: Taking): JournaledReference[] {
  const found: JournaledReference[] = [];
  for (const { uuid, table, column } of rows.parentsOf(child)) {
    let columns = parents.get(uuid);
    if (columns === undefined) parents.set(uuid, (columns = new Map<string, JournaledReference>()));
    let reference = columns.get(column);
    if (reference === undefined) {
      const parent = rows.entry(uuid);
      if (parent === undefined) continue;
      columns.set(column, (reference = { kind: 'parent', table, uuid, id: parent.id, column }));
    }
    found.push(reference);
  }
  return found;
}

/**
 * Adds the references that keep no row alive: groups of a port, switches and routers of a load balancer, ports of DHCP options. Cost: for
 * each row that may refer, the lesser of its members and the deleted rows.
 */
function addMemberships(deleted: ReadonlyMap<Uuid, Draft>, { rows, replica, schema }: ChangeSources): void {
  for (const [table, changes] of Map.groupBy(deleted.values(), (change) => change.table)) {
    for (const { table: referring, column } of referrersOf(table, schema())) {
      for (const [uuid, row] of replica.table(referring)) {
        const held = row[column];
        const isSet = held instanceof Set;
        if (isSet ? held.size === 0 : typeof held !== 'string') continue;
        const referrer = rows.entry(uuid);
        if (referrer === undefined) continue;
        const reference: JournaledReference = { kind: 'member', table: referring, uuid, id: referrer.id, column };
        if (!isSet) deleted.get(held as Uuid)?.references.push(reference);
        else if (held.size < changes.length) for (const one of held as ReadonlySet<Uuid>) deleted.get(one)?.references.push(reference);
        else for (const one of changes) if (held.has(one.uuid)) one.references.push(reference);
      }
    }
  }
}

/** The monitored columns that refer to rows of a table and are no columns of children. */
function referrersOf(table: string, schema: DatabaseSchema | undefined): readonly ParentColumn[] {
  return Object.entries(MONITORED).flatMap(([from, columns]) =>
    columns
      .filter((column) => schema?.tables.get(from)?.columns.get(column)?.key.refTable === table && !isChildColumn(from, column))
      .map((column) => ({ table: from, column })),
  );
}

const MONITORED = monitoredColumns();

type Overwriting = Pick<JournaledChange, 'columns' | 'keys' | 'removed'>;

function takeOverwritten({ isDrift }: Pick<Part, 'isDrift'>, edit: Edit, overwritten: Map<Uuid, Draft>, taking: Taking): void {
  const { deleted, sources } = taking;
  if (edit.kind !== 'update' && edit.kind !== 'keys' && edit.kind !== 'pairs' && edit.kind !== 'member') return;
  if (edit.kind === 'member' && (edit.add || deleted.has(edit.value as Uuid))) return;
  const entry = sources.rows.entry(edit.uuid);
  if (entry === undefined || deleted.has(edit.uuid)) return;
  const taken = overwriting(edit, entry);
  if (taken === undefined) return;
  const before = overwritten.get(edit.uuid);
  const reason: JournalReason = entry.ownership.kind === 'legacy' ? 'adopted' : isDrift === true ? 'repaired' : 'changed';
  const base = before ?? draftOf(entry, 'overwrite', reason, withoutSets(entry), taking);
  overwritten.set(edit.uuid, merged(base, taken));
}

/** What an edit of a row overwrites; undefined: it only adds. */
function overwriting(edit: Edit, { row }: Entry): Overwriting | undefined {
  switch (edit.kind) {
    case 'update':
      return {
        columns: Object.fromEntries(
          Object.entries(edit.row).map(([column, after]): [string, BeforeAfter] => [
            column,
            [row[column] === undefined ? null : valueJson(row[column]), inputJson(after)],
          ]),
        ),
      };
    case 'keys':
    case 'pairs': {
      const held = row[edit.column];
      const map: ReadonlyMap<unknown, unknown> = held instanceof Map ? held : new Map();
      const valueOf = (key: string): JsonAtom | null => (map.get(key) as JsonAtom | undefined) ?? null;
      const removed = Array.isArray(edit.remove) ? (edit.remove as readonly string[]) : Object.keys(edit.remove);
      const gone = removed.filter((key) => map.has(key)).map((key): [string, BeforeAfter] => [key, [valueOf(key), null]]);
      const set = Object.entries(edit.set).filter(([key, value]) => map.get(key) !== value);
      if (gone.length === 0 && !set.some(([key]) => map.has(key))) return undefined;
      const written = set.map(([key, value]): [string, BeforeAfter] => [key, [valueOf(key), value]]);
      return { keys: { [edit.column]: Object.fromEntries([...gone, ...written]) } };
    }
    case 'member':
      return { removed: { [edit.column]: [edit.value] } };
    default:
      return undefined;
  }
}

function merged(draft: Draft, { columns, keys, removed }: Overwriting): Draft {
  const gone = draft.removed ?? {};
  for (const [column, members] of Object.entries(removed ?? {})) (gone[column] ??= []).push(...members);
  return {
    ...draft,
    ...(columns !== undefined && { columns: { ...draft.columns, ...columns } }),
    ...(keys !== undefined && { keys: { ...draft.keys, ...keys } }),
    ...(removed !== undefined && { removed: gone }),
  };
}

/** A set may have ten thousand members: of it the journal has those that go. */
function journaledRow({ table, row }: Pick<Entry, 'table' | 'row'>): JsonRow {
  const reported = REPORTED_COLUMNS[table];
  return reported === undefined
    ? rowJson(row)
    : rowJson(Object.fromEntries(Object.entries(row).filter(([column]) => !reported.includes(column))) as Row);
}

function withoutSets({ table, row }: Entry): JsonRow {
  const { columns } = tableSpec(table);
  const inSets = (column: string): boolean => ['refs', 'elements', 'entries'].includes(columns[column] as string);
  return Object.fromEntries(Object.entries(journaledRow({ table, row })).filter(([column]) => !inSets(column)));
}

function inputJson(value: InputValue | undefined): JsonValue {
  if (value === undefined || value === null) return null;
  if (value instanceof Map || value instanceof Set) return valueJson(value);
  return value as JsonValue;
}
