/**
 * What a transaction takes from the database, as entries of the journal: rows that it deletes, whole, with the rows that go with them and
 * all references to them, and what it overwrites. Inserts and added members take nothing and are left out. Pure.
 */
import type { DesiredRows } from '../compile/desired-rows.ts';
import type { Edit } from '../diff/edits.ts';
import type { BeforeAfter, JournaledChange, JournaledReference, JournalReason, JsonAtom, JsonRow, JsonValue } from '../journal/journal.ts';
import { rowJson, valueJson } from '../journal/row-json.ts';
import type { ParentColumn } from '../nb/tables.ts';
import { childColumns, monitoredColumns, tableSpec } from '../nb/tables.ts';
import type { DatabaseSchema, InputValue, Replica, Uuid } from '../ovsdb/index.ts';
import type { Entry, ObservedRows } from '../world/observed-rows.ts';
import type { Part } from './transaction.ts';

export interface ChangeSources {
  readonly rows: ObservedRows;
  readonly desired: DesiredRows;
  readonly replica: Replica;
  /** Of the server; undefined before the first contents. */
  readonly schema: () => DatabaseSchema | undefined;
}

export type Change = Omit<JournaledChange, 'tx'>;

/** A change that still grows. */
interface Draft extends Omit<Change, 'references' | 'removed'> {
  readonly references: JournaledReference[];
  readonly removed?: Record<string, JsonAtom[]>;
}

/** Whether the edits of a part take nothing that only the database has: no row is deleted, and none of Kube-OVN's is overwritten. */
export function mayGoUnjournaled({ edits }: Pick<Part, 'edits'>, { rows }: Pick<ChangeSources, 'rows'>): boolean {
  const removed = removedLinks(edits);
  return edits.every((edit) => {
    if (edit.kind === 'delete') return false;
    if (edit.kind === 'update' || edit.kind === 'keys') return rows.entry(edit.uuid)?.ownership.kind !== 'legacy';
    return edit.kind !== 'member' || edit.add || !isOrphaned(edit.value as Uuid, removed, rows);
  });
}

/** @param parts of one transaction */
export function journaledChanges(parts: readonly Part[], sources: ChangeSources): readonly Change[] {
  const { rows } = sources;
  const deleted = new Map<Uuid, Draft>();
  const overwritten = new Map<Uuid, Draft>();
  const links = removedLinks(parts.flatMap(({ edits }) => edits));
  for (const part of parts) {
    const gone: Uuid[] = [];
    for (const edit of part.edits) {
      if (edit.kind === 'delete') gone.push(edit.uuid);
      else if (edit.kind === 'member' && !edit.add && isOrphaned(edit.value as Uuid, links, rows)) gone.push(edit.value as Uuid);
    }
    for (const uuid of gone) takeDeleted(uuid, reasonOf(part, uuid, sources), deleted, sources);
  }
  for (const part of parts) for (const edit of part.edits) takeOverwritten(part, edit, deleted, overwritten, sources);
  addMemberships(deleted, sources);
  return [...deleted.values(), ...overwritten.values()];
}

/** Number of links from parents that are removed, by child; not for one that gets a new parent. */
type Links = ReadonlyMap<Uuid, number>;

function removedLinks(edits: Iterable<Edit>): Links {
  const removed = new Map<Uuid, number>();
  const added: Uuid[] = [];
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
  return gone !== undefined && rows.parentsOf(uuid).length <= gone;
}

function reasonOf({ id, members, isDrift }: Part, uuid: Uuid, { desired, rows }: ChangeSources): JournalReason {
  if ((desired.row(id)?.rows.length ?? 0) === 0) return 'unexplained';
  if (isDrift === true) return 'repaired';
  if (members !== undefined) return 'changed';
  return rows.best(id)?.uuid === uuid ? 'replaced' : 'duplicate';
}

function takeDeleted(uuid: Uuid, reason: JournalReason, deleted: Map<Uuid, Draft>, sources: ChangeSources): void {
  const { rows } = sources;
  const entry = rows.entry(uuid);
  if (entry === undefined || deleted.has(uuid)) return;
  deleted.set(uuid, { ...ofRow(entry, 'delete', reason), row: rowJson(entry.row), references: parentsOf(entry, rows) });
  for (const { column } of childColumns(entry.table)) {
    const held = entry.row[column];
    if (!(held instanceof Set)) continue;
    for (const child of held as ReadonlySet<Uuid>) takeDeleted(child, 'inside', deleted, sources);
  }
}

function ofRow(
  { id, table, uuid, ownership }: Entry,
  change: Change['change'],
  reason: JournalReason,
): Omit<Draft, 'row' | 'references' | 'removed'> {
  const { owner, uid } = ownership.kind === 'ours' ? ownership : { owner: '', uid: '' };
  return { kind: 'change', change, table, id, uuid, owner, uid, reason };
}

function parentsOf({ uuid }: Entry, rows: ObservedRows): JournaledReference[] {
  return rows.parentsOf(uuid).flatMap((link) => {
    const parent = rows.entry(link.uuid);
    return parent === undefined ? [] : [{ kind: 'parent', table: link.table, uuid: link.uuid, id: parent.id, column: link.column }];
  });
}

/**
 * Adds the references that keep no row alive: groups of a port, switches and routers of a load balancer, ports of DHCP options. Cost: for
 * each row that may refer, the lesser of its members and the deleted rows.
 */
function addMemberships(deleted: ReadonlyMap<Uuid, Draft>, { rows, replica, schema }: ChangeSources): void {
  const refer = (uuid: Uuid, table: string, from: Uuid, column: string): void => {
    const referrer = rows.entry(from);
    if (referrer !== undefined) deleted.get(uuid)?.references.push({ kind: 'member', table, uuid: from, id: referrer.id, column });
  };
  for (const [table, changes] of Map.groupBy(deleted.values(), (change) => change.table)) {
    for (const from of referrersOf(table, schema())) {
      for (const [uuid, row] of replica.table(from.table)) {
        const held = row[from.column];
        if (typeof held === 'string') {
          if (deleted.has(held as Uuid)) refer(held as Uuid, from.table, uuid, from.column);
        } else if (!(held instanceof Set) || held.size === 0) continue;
        else if (held.size < changes.length) {
          for (const one of held as ReadonlySet<Uuid>) if (deleted.has(one)) refer(one, from.table, uuid, from.column);
        } else for (const one of changes) if (held.has(one.uuid)) refer(one.uuid, from.table, uuid, from.column);
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

type Overwriting = Pick<Change, 'columns' | 'keys' | 'removed'>;

function takeOverwritten(
  part: Part,
  edit: Edit,
  deleted: ReadonlyMap<Uuid, Draft>,
  overwritten: Map<Uuid, Draft>,
  sources: ChangeSources,
): void {
  if (edit.kind !== 'update' && edit.kind !== 'keys' && edit.kind !== 'pairs' && edit.kind !== 'member') return;
  const { rows } = sources;
  const entry = rows.entry(edit.uuid);
  if (entry === undefined || deleted.has(edit.uuid)) return;
  const taken = overwriting(edit, entry, deleted);
  if (taken === undefined) return;
  const before = overwritten.get(edit.uuid);
  const reason: JournalReason = entry.ownership.kind === 'legacy' ? 'adopted' : part.isDrift === true ? 'repaired' : 'changed';
  const base = before ?? { ...ofRow(entry, 'overwrite', reason), row: withoutSets(entry), references: parentsOf(entry, rows) };
  overwritten.set(edit.uuid, merged(base, taken));
}

/** What an edit of a row overwrites; undefined: it only adds, or its member goes with a row that is deleted. */
function overwriting(edit: Edit, { row }: Entry, deleted: ReadonlyMap<Uuid, Draft>): Overwriting | undefined {
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
      if (edit.add || deleted.has(edit.value as Uuid)) return undefined;
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
function withoutSets({ table, row }: Entry): JsonRow {
  const { columns } = tableSpec(table);
  const inSets = (column: string): boolean => ['refs', 'elements', 'entries'].includes(columns[column] as string);
  return Object.fromEntries(Object.entries(rowJson(row)).filter(([column]) => !inSets(column)));
}

function inputJson(value: InputValue | undefined): JsonValue {
  if (value === undefined || value === null) return null;
  if (value instanceof Map || value instanceof Set) return valueJson(value);
  return value as JsonValue;
}
