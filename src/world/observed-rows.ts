/**
 * The Northbound database as rules and the diff see it: rows by natural identity, with their ownership and parent.
 * Kept up from the replica's change batches; nothing is copied but the identities.
 */
import type { Replica, Row, RowChange, Uuid, Value } from '../ovsdb/index.ts';
import type { Ownership } from '../nb/ownership.ts';
import { ownershipOf } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import type { TableSpec } from '../nb/tables.ts';
import { childColumns, tableSpec } from '../nb/tables.ts';
import type { Reactor } from './reactor.ts';
import type { Source } from './reactor.ts';
import { KeyedSource } from './reactor.ts';

export interface ObservedRow {
  readonly id: RowId;
  readonly table: string;
  readonly uuid: Uuid;
  readonly ownership: Ownership;
  /** The row that refers to this one, for tables whose rows live only while referred to. */
  readonly parent: { readonly uuid: Uuid; readonly column: string } | undefined;
}

interface Entry extends ObservedRow {
  readonly row: Row;
}

/** What a rule may ask of the Northbound database. */
export interface ReadRows {
  /** The row that stands for an identity, tracked by existence and ownership only. */
  state(id: RowId): ObservedRow | undefined;
  /** A column of that row, tracked with the row. */
  column(id: RowId, column: string): Value | undefined;
  /** Whether a column of references of `id` holds the row `member`. */
  holds(id: RowId, column: string, member: RowId): boolean;
  /** Identities of owned rows filed under an owner text (`<kind>/<namespace>/<name>`). */
  ownedBy(owner: string): ReadonlySet<RowId>;
}

export interface RowsListener {
  /** A row came, went, moved, changed hands, or changed in a column of its own. */
  readonly row: (id: RowId) => void;
  /** One reference came into or left a shared column of a row that is otherwise as it was. */
  readonly member: (id: RowId, column: string, member: RowId) => void;
}

const NONE: ReadonlySet<RowId> = new Set();

export class ObservedRows implements ReadRows {
  readonly #reactor: Reactor;
  readonly #entries = new Map<Uuid, Entry>();
  readonly #byId = new Map<RowId, Uuid[]>();
  readonly #byOwner = new Map<string, Set<RowId>>();
  readonly #owned = new Set<RowId>();
  readonly #ownedCounts = new Map<string, number>();
  readonly #parents = new Map<Uuid, { readonly uuid: Uuid; readonly column: string; readonly table: string }>();
  readonly #sources = new Map<string, Source>();
  readonly #listeners: RowsListener[] = [];
  #replica: Replica | undefined;

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  onChange(listener: RowsListener): void {
    this.#listeners.push(listener);
  }

  apply(replica: Replica, batch: readonly RowChange[]): void {
    this.#replica = replica;
    const touched = new Set<RowId>();
    const departed = this.#memberChanges(batch, 'removed');
    for (const change of batch) if (change.kind !== 'delete') this.#adoptChildren(change, touched);
    for (const change of batch) if (change.kind === 'delete') this.#abandonChildren(change, touched);
    for (const change of batch) {
      if (change.kind === 'delete') this.#forget(change.uuid, touched);
      else if (this.#unmoved(change)) this.#touch('=' + (this.#entries.get(change.uuid) as Entry).id);
      else this.#file(change.table, change.uuid, change.row, touched, change.kind === 'modify' ? change.changed : undefined);
    }
    for (const id of touched) {
      this.#touch('=' + id);
      for (const listener of this.#listeners) listener.row(id);
    }
    for (const { id, column, member } of [...departed, ...this.#memberChanges(batch, 'added')]) {
      for (const listener of this.#listeners) listener.member(id, column, member);
    }
  }

  /** What left is named before its rows are forgotten, what came after they are filed. */
  #memberChanges(
    batch: readonly RowChange[],
    which: 'added' | 'removed',
  ): { readonly id: RowId; readonly column: string; readonly member: RowId }[] {
    const found: { id: RowId; column: string; member: RowId }[] = [];
    for (const change of batch) {
      const id = change.kind === 'modify' ? this.#entries.get(change.uuid)?.id : undefined;
      if (id === undefined || change.changed === undefined) continue;
      const { columns } = tableSpec(change.table);
      const children = childColumns(change.table);
      for (const [column, delta] of change.changed) {
        if (columns[column] !== 'refs' || children.some((child) => child.column === column)) continue;
        const members = delta[which];
        if (!(members instanceof Set)) continue;
        for (const uuid of members) {
          const member = this.#entries.get(uuid as Uuid)?.id;
          if (member !== undefined) found.push({ id, column, member });
        }
      }
    }
    return found;
  }

  /** True when a modification touched nothing but shared reference columns; their members are announced one by one. */
  #unmoved(change: RowChange): boolean {
    const entry = this.#entries.get(change.uuid);
    if (entry === undefined || entry.row !== change.row || change.kind !== 'modify' || change.changed === undefined) return false;
    const { columns } = tableSpec(change.table);
    for (const column of change.changed.keys()) if (columns[column] !== 'refs') return false;
    return true;
  }

  /** All rows of an identity; more than one only where names are not unique or somebody made a duplicate. */
  rowsOf(id: RowId): readonly (ObservedRow & { readonly row: Row })[] {
    const uuids = this.#byId.get(id);
    if (uuids === undefined) return [];
    return uuids.map((uuid) => this.#entries.get(uuid) as Entry);
  }

  state(id: RowId): ObservedRow | undefined {
    this.#read('?' + id);
    return this.best(id);
  }

  column(id: RowId, column: string): Value | undefined {
    this.#read('=' + id);
    return this.best(id)?.row[column];
  }

  holds(id: RowId, column: string, member: RowId): boolean {
    this.#read(`?${id}`);
    this.#read(`?${member}`);
    const row = this.best(id);
    const uuid = this.best(member)?.uuid;
    if (row === undefined || uuid === undefined) return false;
    this.#read(`${row.uuid} ${column} ${uuid}`);
    const value = row.row[column];
    return value instanceof Set && value.has(uuid);
  }

  ownedBy(owner: string): ReadonlySet<RowId> {
    this.#read('@' + owner);
    return this.#byOwner.get(owner) ?? NONE;
  }

  /** Identities of all owned rows, not tracked: what collection looks at. */
  get owned(): ReadonlySet<RowId> {
    return this.#owned;
  }

  /** How many of them are in each table. */
  get ownedCounts(): ReadonlyMap<string, number> {
    return this.#ownedCounts;
  }

  /** Owner texts that have rows, not tracked. */
  get owners(): IterableIterator<string> {
    return this.#byOwner.keys();
  }

  entry(uuid: Uuid): (ObservedRow & { readonly row: Row }) | undefined {
    return this.#entries.get(uuid);
  }

  /** Among several rows of an identity, an owned one stands for it, then a legacy one, then the first. Not tracked. */
  best(id: RowId): (ObservedRow & { readonly row: Row }) | undefined {
    const uuids = this.#byId.get(id);
    if (uuids === undefined) return undefined;
    let found: Entry | undefined;
    for (const uuid of uuids) {
      const entry = this.#entries.get(uuid) as Entry;
      if (found === undefined || rankOf(entry.ownership) < rankOf(found.ownership)) found = entry;
    }
    return found;
  }

  #adoptChildren(change: RowChange, touched: Set<RowId>): void {
    for (const { column, child } of childColumns(change.table)) {
      const delta = change.changed?.get(column);
      if (change.kind === 'modify' && delta === undefined) continue;
      const removed = delta?.removed;
      if (removed !== undefined) for (const uuid of removed) this.#unlink(uuid as Uuid, change.uuid, column, touched);
      const added = change.kind === 'insert' ? change.row[column] : delta?.added;
      if (added instanceof Set) for (const uuid of added) this.#link(uuid as Uuid, change, column, child, touched);
    }
    if (change.kind !== 'modify' || change.changed === undefined) return;
    this.#touchMembers(change);
  }

  #touchMembers(change: RowChange): void {
    for (const [column, delta] of change.changed ?? []) {
      for (const members of [delta.added, delta.removed]) {
        if (!(members instanceof Set)) continue;
        for (const member of members) this.#touch(`${change.uuid} ${column} ${String(member)}`);
      }
    }
  }

  #link(uuid: Uuid, change: RowChange, column: string, child: TableSpec, touched: Set<RowId>): void {
    this.#parents.set(uuid, { uuid: change.uuid, column, table: change.table });
    const row = this.#replica?.table(child.table).get(uuid);
    if (row !== undefined) this.#file(child.table, uuid, row, touched);
  }

  #unlink(uuid: Uuid, parent: Uuid, column: string, touched: Set<RowId>): void {
    const link = this.#parents.get(uuid);
    if (link === undefined || link.uuid !== parent || link.column !== column) return;
    this.#parents.delete(uuid);
    const entry = this.#entries.get(uuid);
    if (entry !== undefined) this.#file(entry.table, uuid, entry.row, touched);
  }

  #abandonChildren(change: RowChange, touched: Set<RowId>): void {
    for (const { column } of childColumns(change.table)) {
      const held = change.row[column];
      if (held instanceof Set) for (const uuid of held) this.#unlink(uuid as Uuid, change.uuid, column, touched);
    }
  }

  #file(table: string, uuid: Uuid, row: Row, touched: Set<RowId>, changed?: RowChange['changed']): void {
    const spec = tableSpec(table);
    const before = this.#entries.get(uuid);
    const link = this.#parents.get(uuid);
    const parentName = link === undefined ? undefined : this.#nameOf(link.table, link.uuid);
    const id = spec.identity(row, parentName);
    if (id === undefined) {
      this.#forget(uuid, touched);
      return;
    }
    const externalIds = row.external_ids;
    const ownership =
      before !== undefined && changed !== undefined && !changed.has('external_ids')
        ? before.ownership
        : ownershipOf(externalIds instanceof Map ? externalIds : undefined);
    const parent = link === undefined ? undefined : { uuid: link.uuid, column: link.column };
    const entry: Entry = { id, table, uuid, ownership, parent, row };
    if (before !== undefined && before.id !== id) this.#forget(uuid, touched);
    const same = before !== undefined && before.id === id && before.ownership === ownership && before.parent?.uuid === parent?.uuid;
    this.#entries.set(uuid, entry);
    if (before === undefined || before.id !== id) {
      const uuids = this.#byId.get(id);
      if (uuids === undefined) this.#byId.set(id, [uuid]);
      else uuids.push(uuid);
    }
    touched.add(id);
    if (same) return;
    if (before !== undefined && before.id === id) this.#disown(before);
    this.#own(entry);
    this.#touch('?' + id);
  }

  #forget(uuid: Uuid, touched: Set<RowId>): void {
    const before = this.#entries.get(uuid);
    if (before === undefined) return;
    this.#entries.delete(uuid);
    const uuids = (this.#byId.get(before.id) ?? []).filter((one) => one !== uuid);
    if (uuids.length === 0) this.#byId.delete(before.id);
    else this.#byId.set(before.id, uuids);
    this.#disown(before);
    touched.add(before.id);
    this.#touch('?' + before.id);
  }

  #own(entry: Entry): void {
    if (entry.ownership.kind !== 'ours') return;
    if (!this.#owned.has(entry.id)) {
      this.#owned.add(entry.id);
      this.#countOwned(entry.table, 1);
    }
    const { owner } = entry.ownership;
    let ids = this.#byOwner.get(owner);
    if (ids === undefined) this.#byOwner.set(owner, (ids = new Set()));
    ids.add(entry.id);
    this.#touch('@' + owner);
  }

  #countOwned(table: string, by: 1 | -1): void {
    this.#ownedCounts.set(table, (this.#ownedCounts.get(table) ?? 0) + by);
  }

  #disown(entry: Entry): void {
    if (entry.ownership.kind !== 'ours') return;
    if (this.best(entry.id)?.ownership.kind !== 'ours' && this.#owned.delete(entry.id)) this.#countOwned(entry.table, -1);
    const { owner } = entry.ownership;
    const ids = this.#byOwner.get(owner);
    const still = this.rowsOf(entry.id).some(
      (row) => row.uuid !== entry.uuid && row.ownership.kind === 'ours' && row.ownership.owner === owner,
    );
    if (!still) ids?.delete(entry.id);
    if (ids?.size === 0) this.#byOwner.delete(owner);
    this.#touch('@' + owner);
  }

  /** The name a child's identity is made with: router, switch or port group name. */
  #nameOf(table: string, uuid: Uuid): string | undefined {
    const name = this.#replica?.table(table).get(uuid)?.name;
    return typeof name === 'string' ? name : undefined;
  }

  #read(what: string): void {
    if (!this.#reactor.tracking) return;
    this.#reactor.track(this.#sources.get(what) ?? new KeyedSource(this.#sources, what));
  }

  #touch(what: string): void {
    const source = this.#sources.get(what);
    if (source !== undefined) this.#reactor.touch(source);
  }
}

function rankOf(ownership: Ownership): number {
  return ownership.kind === 'ours' ? 0 : ownership.kind === 'legacy' ? 1 : 2;
}
