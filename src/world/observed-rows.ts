/**
 * The Northbound database as rules and the diff see it: rows by natural identity, with their ownership and parent. The change batches of
 * the replica keep it up to date; it copies identities and no columns. The file is long since one intake keeps identities, owners and
 * parents consistent, and every read is tracked.
 */
import type { Replica, Row, RowChange, Uuid, Value } from '../ovsdb/index.ts';
import { Neighbours } from '../nb/neighbours.ts';
import type { ParentRow, Ownership, TableAndParents } from '../nb/ownership.ts';
import { dependsOnParents, hasKilnKey, LEFTOVER_RULE, ownershipOf } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { isOwnUuid, rowId, tableOf } from '../nb/row-id.ts';
import type { TableSpec } from '../nb/tables.ts';
import { childColumns, entryColumns, referringColumns, tableSpec } from '../nb/tables.ts';
import type { LegacyRow, Served } from '../nb/served-object.ts';
import { servedObject } from '../nb/served-object.ts';
import { bucketOf, putInto, takeOut } from '../engine/bucket.ts';
import { ForeignRouters } from './foreign-routers.ts';
import { ForeignTranslations } from './foreign-translations.ts';
import { FoundRows, isForeignNetwork, isKeylessRow } from './found-rows.ts';
import { LeftoverRows } from './leftover-rows.ts';
import type { Reactor } from '../engine/reactor.ts';
import { KeyedSource, SourceMap } from '../engine/source.ts';
import type { Entry, Facet, Link, ObservedRow } from './row-identity.ts';
import type { Domain } from '../engine/domain.ts';
import { EcmpRoutes } from './ecmp-routes.ts';
import { bestOf, FacetSource, Identity, isList } from './row-identity.ts';
import type { Watcher } from '../engine/watcher.ts';

export type { Entry, Link, ObservedRow } from './row-identity.ts';

/** A row before it got another name. */
type Renamed = Pick<Entry, 'id' | 'table' | 'uuid'>;

/** The Northbound database as rules see it: read-only. */
export interface ReadRows {
  /** The row of an identity, tracked by existence and ownership only. */
  state(id: RowId): ObservedRow | undefined;
  /** A column of that row, tracked with the row. */
  column(id: RowId, column: string): Value | undefined;
  /** The child rows in all our rows of an identity, duplicates included; each tracked as `state`. */
  children(id: RowId): readonly ObservedRow[];
  /** The row of a reference, tracked as `state`: its owner may change while the reference stays. */
  byUuid(uuid: Uuid): ObservedRow | undefined;
  /** Whether a column of references of `id` has the row `member`. */
  hasMember(id: RowId, column: string, member: RowId): boolean;
  /** Identities of our rows with this owner text (`<kind>/<namespace>/<name>`). */
  ownedBy(owner: string): ReadonlySet<RowId>;
  readonly leftovers: Pick<LeftoverRows, 'of' | 'owners'>;
  readonly foreignNetworks: Pick<FoundRows, 'exist'>;
  readonly foreignRouters: Pick<ForeignRouters, 'watch' | 'portsTo'>;
  readonly foreignTranslations: Pick<ForeignTranslations, 'at' | 'addresses'>;
  readonly keyless: Pick<FoundRows, 'exist'>;
  /** The object that a row serves as its keys and its parent show, independent of its row owner; tracked with the row. */
  serves(id: RowId): Served | undefined;
  /** The ECMP group of `route`, itself included: the static routes of any owner that differ from it in the next hop only. */
  ecmpRoutes(route: RowId): ReadonlySet<RowId>;
}

export interface RowsListener {
  /** A row was inserted or deleted, or its parent, its owner or a column of its own changed. */
  readonly row: (id: RowId) => void;
  /** One reference was added to or removed from a shared column, and the row did not change otherwise. */
  readonly member: (id: RowId, column: string, member: RowId) => void;
}

/** Columns that show whose a row is. */
const SHOWING: readonly string[] = ['external_ids', 'name', 'other_config'];
/** Rows per step: a few milliseconds. */
const STEP = 500;

function externalIdsOf({ external_ids: held }: Row): ReadonlyMap<unknown, unknown> | undefined {
  return held instanceof Map ? held : undefined;
}

export class ObservedRows implements ReadRows {
  readonly leftovers: LeftoverRows;
  readonly foreignNetworks: FoundRows;
  readonly foreignRouters: ForeignRouters;
  readonly foreignTranslations: ForeignTranslations;
  readonly keyless: FoundRows;
  readonly neighbours: Neighbours;
  readonly #reactor: Reactor;
  readonly #entries = new Map<Uuid, Entry>();
  readonly #byId = new Map<RowId, Identity>();
  readonly #byOwner = new Map<string, RowId | Set<RowId>>();
  readonly #owned = new Set<RowId>();
  readonly #ownedCounts = new Map<string, number>();
  /** One link, or a list if another program put the row into more than one parent; the first is its parent. */
  readonly #parents = new Map<Uuid, Link | readonly Link[]>();
  /** By owner text: the source of `ownedBy`. */
  readonly #ownerSources = new SourceMap();
  readonly #ownerWatchers: { readonly prefix: string; readonly watcher: Watcher }[] = [];
  readonly #ecmp: EcmpRoutes;
  readonly #listeners: RowsListener[] = [];
  #replica: Replica | undefined;

  /** @param neighbours other programs that are known by patterns */
  constructor(reactor: Reactor, neighbours: Neighbours = Neighbours.NONE) {
    this.#reactor = reactor;
    this.neighbours = neighbours;
    this.#ecmp = new EcmpRoutes(reactor);
    this.leftovers = new LeftoverRows(reactor);
    this.foreignNetworks = new FoundRows(reactor, isForeignNetwork);
    this.foreignRouters = new ForeignRouters(reactor);
    this.foreignTranslations = new ForeignTranslations(reactor);
    this.keyless = new FoundRows(reactor, isKeylessRow);
  }

  onChange(listener: RowsListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Announces the identities of the rows inside a row, in one column, then each that enters or leaves, after the batch of its change. Cost:
   * each changed row is examined once.
   * @returns ends it
   */
  watchChildren(parent: RowId, column: string, { enter, leave }: Watcher): () => void {
    const present = new Set<RowId>();
    const table = childColumns(tableOf(parent)).find((one) => one.column === column)?.child.table ?? '';
    const isIn = (link: Link): boolean => link.column === column && this.#entries.get(link.uuid)?.id === parent;
    const look = (id: RowId): void => {
      if (this.rowsOf(id).some(({ uuid }) => this.parentsOf(uuid).some(isIn))) {
        if (present.has(id)) return;
        present.add(id);
        enter(id);
      } else if (present.delete(id)) leave(id);
    };
    const lookAtAll = (): void => {
      for (const id of present) look(id);
      for (const { row } of this.rowsOf(parent)) {
        const held = row[column];
        if (!(held instanceof Set)) continue;
        for (const uuid of held as ReadonlySet<Uuid>) {
          const child = this.#entries.get(uuid);
          if (child !== undefined) look(child.id);
        }
      }
    };
    lookAtAll();
    const listener: RowsListener = {
      // The row itself: another program may have renamed it.
      row: (id) => (id === parent ? lookAtAll() : tableOf(id) === table ? look(id) : undefined),
      member: () => undefined,
    };
    this.#listeners.push(listener);
    return () => {
      this.#listeners.splice(this.#listeners.indexOf(listener), 1);
    };
  }

  /** Takes in a batch at once. */
  apply(replica: Replica, batch: readonly RowChange[]): void {
    for (const _ of this.applying(replica, batch));
  }

  /** Takes in a batch, some rows per step. Before the last step the caller must not read rows, nor take in another batch. */
  *applying(replica: Replica, batch: readonly RowChange[]): Generator<void> {
    this.#replica = replica;
    let steps = 0;
    const touched = new Set<RowId>();
    const departed = this.#memberChanges(batch, 'removed');
    const relinked = new Map<Uuid, string>();
    const renamed: Renamed[] = [];
    for (const change of batch) {
      if (change.kind !== 'delete') this.#adoptChildren(change, relinked);
      if (++steps % STEP === 0) yield;
    }
    for (const change of batch) if (change.kind === 'delete') this.#abandonChildren(change, relinked);
    for (const change of batch) {
      if (change.kind === 'delete') this.#forget(change.uuid, touched);
      else if (this.#changesMembersOnly(change)) {
        const { id } = this.#entries.get(change.uuid) as Entry;
        this.#touchFacet(id, 'contents');
        // What is in each decides which row of several is deleted.
        if (this.rowsOf(id).length > 1) touched.add(id);
      } else {
        const before = this.#entries.get(change.uuid);
        this.#file(change.table, change.uuid, change.row, touched, change.kind === 'modify' ? change.changed : undefined);
        if (before?.ownership !== this.#entries.get(change.uuid)?.ownership) this.#reconsiderChildren(change, relinked);
        if (before !== undefined && before.id !== this.#entries.get(change.uuid)?.id) renamed.push(before);
      }
      if (++steps % STEP === 0) yield;
    }
    // Children that were inserted in the same batch have their parent already.
    for (const [uuid, table] of relinked) {
      const entry = this.#entries.get(uuid);
      if (entry?.parent !== this.parentsOf(uuid)[0] || (entry !== undefined && this.#ownershipIn(entry) !== entry.ownership)) {
        const row = replica.table(table).get(uuid);
        if (row !== undefined) this.#file(table, uuid, row, touched);
      } else if (entry !== undefined) touched.add(entry.id);
      if (++steps % STEP === 0) yield;
    }
    for (const id of touched) {
      this.#touchFacet(id, 'contents');
      for (const listener of this.#listeners) listener.row(id);
      if (++steps % STEP === 0) yield;
    }
    for (const { id, column, member } of [...departed, ...this.#memberChanges(batch, 'added'), ...this.#formerMembers(renamed)]) {
      for (const listener of this.#listeners) listener.member(id, column, member);
    }
  }

  /** Removed members are looked up before their rows are forgotten, added members after their rows are filed. */
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

  /** For rows that another program renamed: the columns that refer to them no longer have a member of the old name. */
  #formerMembers(renamed: readonly Renamed[]): { readonly id: RowId; readonly column: string; readonly member: RowId }[] {
    return renamed.flatMap(({ id: member, table, uuid }) =>
      referringColumns(table).flatMap((referrer) =>
        [...(this.#replica?.table(referrer.table) ?? [])].flatMap(([holder, row]) => {
          const held = row[referrer.column];
          const id = held instanceof Set && held.has(uuid) ? this.#entries.get(holder)?.id : undefined;
          return id === undefined ? [] : [{ id, column: referrer.column, member }];
        }),
      ),
    );
  }

  /** Whether a modification changed shared reference columns only; their members are announced one by one. */
  #changesMembersOnly(change: RowChange): boolean {
    const entry = this.#entries.get(change.uuid);
    if (entry === undefined || entry.row !== change.row || change.kind !== 'modify' || change.changed === undefined) return false;
    const { columns } = tableSpec(change.table);
    for (const column of change.changed.keys()) if (columns[column] !== 'refs') return false;
    return true;
  }

  /** All rows of an identity; more than one if another program made a duplicate. */
  rowsOf(id: RowId): readonly Entry[] {
    const entries = this.#byId.get(id)?.rows;
    if (entries === undefined) return [];
    return isList(entries) ? entries : [entries];
  }

  state(id: RowId): ObservedRow | undefined {
    return this.#bestOf(this.#read(id, 'state'));
  }

  column(id: RowId, column: string): Value | undefined {
    return this.#bestOf(this.#read(id, 'contents'))?.row[column];
  }

  children(id: RowId): readonly ObservedRow[] {
    this.#read(id, 'contents');
    const ours = this.rowsOf(id).filter(({ ownership }) => ownership.kind === 'ours');
    const columns = ours.flatMap(({ table, row }) => childColumns(table).map(({ column }) => row[column]));
    return columns.flatMap((held) => (held instanceof Set ? [...held].flatMap((uuid) => this.byUuid(uuid as Uuid) ?? []) : []));
  }

  byUuid(uuid: Uuid): ObservedRow | undefined {
    const entry = this.#entries.get(uuid);
    if (entry !== undefined) this.#read(entry.id, 'state');
    return entry;
  }

  hasMember(id: RowId, column: string, member: RowId): boolean {
    const row = this.#bestOf(this.#read(id, 'state'));
    const uuid = this.#bestOf(this.#read(member, 'state'))?.uuid;
    if (row === undefined || uuid === undefined) return false;
    this.#read(member, 'memberships');
    const value = row.row[column];
    return value instanceof Set && value.has(uuid);
  }

  ownedBy(owner: string): ReadonlySet<RowId> {
    if (this.#reactor.tracking) this.#reactor.track(this.#ownerSources.get(owner) ?? new KeyedSource(this.#ownerSources, owner));
    return bucketOf(this.#byOwner.get(owner));
  }

  serves(id: RowId): Served | undefined {
    const entry = this.#bestOf(this.#read(id, 'contents'));
    return entry === undefined ? undefined : servedObject(this.#asServing(entry));
  }

  ecmpRoutes(route: RowId): ReadonlySet<RowId> {
    return this.#ecmp.of(route);
  }

  /** Identities of all our rows, untracked: for the collection. */
  get owned(): ReadonlySet<RowId> {
    return this.#owned;
  }

  /** Number of our rows by table. */
  get ownedCounts(): ReadonlyMap<string, number> {
    return this.#ownedCounts;
  }

  /** Owner texts that have rows, untracked. */
  get owners(): IterableIterator<string> {
    return this.#byOwner.keys();
  }

  /** The names of the cluster-scoped objects of a kind that have rows, existing or not, as a domain for rules. */
  ownersOf(kind: string): Domain {
    const prefix = `${kind}//`;
    return {
      watch: (watcher) => {
        for (const owner of this.#byOwner.keys()) if (owner.startsWith(prefix)) watcher.enter(owner.slice(prefix.length));
        this.#ownerWatchers.push({ prefix, watcher });
      },
    };
  }

  /** All rows, of any owner; untracked. */
  get all(): IterableIterator<Entry> {
    return this.#entries.values();
  }

  /** All rows of a table, of any owner; untracked. */
  inTable(table: string): readonly Entry[] {
    return [...this.#entries.values()].filter((entry) => entry.table === table);
  }

  /** Untracked. */
  entry(uuid: Uuid): Entry | undefined {
    return this.#entries.get(uuid);
  }

  /** The rows that refer to this one and keep it alive; more than one only if another program put it into a second parent. */
  parentsOf(uuid: Uuid): readonly Link[] {
    const links = this.#parents.get(uuid);
    if (links === undefined) return [];
    return isList(links) ? links : [links];
  }

  /** Number of `parentsOf`. */
  parentCount(uuid: Uuid): number {
    const links = this.#parents.get(uuid);
    return links === undefined ? 0 : isList(links) ? links.length : 1;
  }

  /** The row of an identity, untracked. Of several the best (`bestOf`). */
  best(id: RowId): (ObservedRow & { readonly row: Row }) | undefined {
    return this.#bestOf(this.#byId.get(id));
  }

  #bestOf(identity: Identity | undefined): Entry | undefined {
    return bestOf(identity, this.#usesOf);
  }

  /**
   * Number of its entries, and of children that are not foreign. 1 for DHCP options that ports of their Subnet have, and one half for a
   * load balancer in a switch or router. Cost: children, ports, or switches and routers.
   */
  readonly #usesOf = ({ table, uuid, row }: Entry): number => {
    if (table === 'DHCP_Options') return this.#hasDhcpPort(uuid, String(externalIdsOf(row)?.get('ls') ?? '')) ? 1 : 0;
    let uses = table === 'Load_Balancer' && this.#isReferredTo(table, uuid) ? 0.5 : 0;
    for (const column of entryColumns(table)) uses += row[column] instanceof Map ? row[column].size : 0;
    for (const { column } of childColumns(table)) {
      const held = row[column];
      if (held instanceof Set) for (const child of held) if (this.#entries.get(child as Uuid)?.ownership.kind !== 'foreign') uses++;
    }
    return uses;
  };

  #isReferredTo(table: string, uuid: Uuid): boolean {
    return referringColumns(table).some((user) =>
      [...(this.#replica?.table(user.table) ?? [])].some(([, { [user.column]: held }]) => held instanceof Set && held.has(uuid)),
    );
  }

  #hasDhcpPort(options: Uuid, subnet: string): boolean {
    return this.rowsOf(rowId('Logical_Switch', subnet)).some(({ row: { ports } }) => {
      if (!(ports instanceof Set)) return false;
      for (const uuid of ports) {
        const port = this.#entries.get(uuid as Uuid)?.row;
        if (port?.['dhcpv4_options'] === options || port?.['dhcpv6_options'] === options) return true;
      }
      return false;
    });
  }

  /** @param relinked children with a changed parent, or one that may have changed, with their tables */
  #adoptChildren(change: RowChange, relinked: Map<Uuid, string>): void {
    for (const { column, child } of childColumns(change.table)) {
      const delta = change.changed?.get(column);
      if (change.kind === 'modify' && delta === undefined) continue;
      const removed = delta?.removed;
      if (removed !== undefined) for (const uuid of removed) this.#unlink(uuid as Uuid, change.uuid, column, child, relinked);
      const added = change.kind === 'insert' ? change.row[column] : delta?.added;
      if (!(added instanceof Set)) continue;
      const link = { uuid: change.uuid, column, table: change.table };
      for (const uuid of added) {
        this.#link(uuid as Uuid, link);
        relinked.set(uuid as Uuid, child.table);
      }
    }
    if (change.kind !== 'modify' || change.changed === undefined) return;
    this.#touchMembers(change);
  }

  #touchMembers(change: RowChange): void {
    for (const delta of change.changed?.values() ?? []) {
      for (const members of [delta.added, delta.removed]) {
        if (!(members instanceof Set)) continue;
        for (const member of members) {
          // A row that does not exist yet has no reader.
          const id = this.#entries.get(member as Uuid)?.id;
          if (id !== undefined) this.#touchFacet(id, 'memberships');
        }
      }
    }
  }

  #link(uuid: Uuid, link: Link): void {
    const links = this.parentsOf(uuid).filter((one) => one.uuid !== link.uuid || one.column !== link.column);
    this.#parents.set(uuid, links.length === 0 ? link : [...links, link]);
  }

  #unlink(uuid: Uuid, parent: Uuid, column: string, child: TableSpec, relinked: Map<Uuid, string>): void {
    const links = this.parentsOf(uuid);
    const [first, ...others] = links.filter((link) => link.uuid !== parent || link.column !== column);
    if (others.length + (first === undefined ? 0 : 1) === links.length) return;
    if (first === undefined) this.#parents.delete(uuid);
    else this.#parents.set(uuid, others.length === 0 ? first : [first, ...others]);
    relinked.set(uuid, child.table);
  }

  #abandonChildren(change: RowChange, relinked: Map<Uuid, string>): void {
    for (const { column, child } of childColumns(change.table)) {
      const held = change.row[column];
      if (held instanceof Set) for (const uuid of held) this.#unlink(uuid as Uuid, change.uuid, column, child, relinked);
    }
  }

  #file(table: string, uuid: Uuid, row: Row, touched: Set<RowId>, changed?: RowChange['changed']): void {
    const spec = tableSpec(table);
    const before = this.#entries.get(uuid);
    const [link] = this.parentsOf(uuid);
    const parentName = link === undefined ? undefined : this.#nameOf(link.table, link.uuid);
    const id = spec.identity(row, parentName);
    if (id === undefined) {
      this.#forget(uuid, touched);
      return;
    }
    const ownership =
      before !== undefined && before.row === row && (changed === undefined || !SHOWING.some((column) => changed.has(column)))
        ? this.#ownershipIn(before)
        : this.#decided(row, dependsOnParents(table) ? { table, parents: this.parentRowsOf(uuid) } : undefined);
    const entry: Entry = { id, table, uuid, ownership, parent: link, row };
    if (before !== undefined && before.id !== id) this.#forget(uuid, touched);
    const same = before !== undefined && before.id === id && before.ownership === ownership && before.parent?.uuid === link?.uuid;
    this.#entries.set(uuid, entry);
    this.foreignNetworks.file(entry);
    this.foreignRouters.file(entry);
    this.foreignTranslations.file(entry);
    this.keyless.file(entry);
    this.leftovers.file(uuid, id, this.#leftBy(entry));
    const identity = this.#identityOf(id);
    const { rows } = identity;
    if (rows === undefined) this.#ecmp.put(id);
    if (rows === undefined || rows === before) identity.rows = entry;
    else {
      const others = isList(rows) ? rows : [rows];
      identity.rows = before?.id === id ? others.map((one) => (one === before ? entry : one)) : [...others, entry];
    }
    touched.add(id);
    if (same) return;
    if (before !== undefined && before.id === id) this.#disown(before);
    this.#own(entry);
    this.#touchFacet(id, 'state');
  }

  /** The ownership with the present parents; the same object if it has not changed. */
  #ownershipIn({ uuid, table, row, ownership }: Entry): Ownership {
    if (ownership.kind === 'ours' || !dependsOnParents(table)) return ownership;
    return this.#decided(row, { table, parents: this.parentRowsOf(uuid) });
  }

  #decided(row: Row, within: TableAndParents | undefined): Ownership {
    return this.neighbours.decide(row, ownershipOf(externalIdsOf(row), within));
  }

  /** The parents of a row; their own ownership depends on their keys alone. */
  parentRowsOf(uuid: Uuid): readonly ParentRow[] {
    return this.parentsOf(uuid).flatMap((link) => {
      const row = this.#replica?.table(link.table).get(link.uuid);
      if (row === undefined) return [];
      const keys = externalIdsOf(row);
      const ownership =
        this.#entries.get(link.uuid)?.ownership ??
        this.#decided(row, dependsOnParents(link.table) ? { table: link.table, parents: [] } : undefined);
      return [{ name: String(row['name'] ?? ''), ownership, wasAdopted: hasKilnKey(keys) || isOwnUuid(link.uuid) }];
    });
  }

  /** The ownership of child rows may depend on that of their parent. */
  #reconsiderChildren({ table, row }: RowChange, relinked: Map<Uuid, string>): void {
    for (const { column, child } of childColumns(table)) {
      const held = row[column];
      if (dependsOnParents(child.table) && held instanceof Set) for (const uuid of held) relinked.set(uuid as Uuid, child.table);
    }
  }

  #forget(uuid: Uuid, touched: Set<RowId>): void {
    const before = this.#entries.get(uuid);
    if (before === undefined) return;
    this.#entries.delete(uuid);
    this.foreignNetworks.forget(uuid);
    this.foreignRouters.forget(uuid);
    this.foreignTranslations.forget(uuid);
    this.keyless.forget(uuid);
    this.leftovers.file(uuid, before.id, undefined);
    const [namesake, ...others] = this.rowsOf(before.id).filter((one) => one.uuid !== uuid);
    const identity = this.#identityOf(before.id);
    identity.rows = others.length === 0 || namesake === undefined ? namesake : [namesake, ...others];
    if (namesake === undefined) this.#ecmp.take(before.id);
    this.#disown(before);
    touched.add(before.id);
    this.#touchFacet(before.id, 'state');
    identity.tidy();
  }

  /** The owner text under which it is a leftover. */
  #leftBy(entry: Entry): string | undefined {
    const { ownership } = entry;
    if (ownership.kind === 'ours') return ownership.rule === LEFTOVER_RULE ? ownership.owner : undefined;
    return ownership.kind === 'legacy' ? servedObject(this.#asServing(entry))?.owner : undefined;
  }

  #asServing({ table, row, parent }: Pick<Entry, 'table' | 'row' | 'parent'>): LegacyRow {
    const parentRow = parent === undefined ? undefined : this.#replica?.table(parent.table).get(parent.uuid);
    return {
      table,
      name: String(row['name'] ?? ''),
      externalIds: externalIdsOf(row) ?? new Map(),
      ...(parentRow !== undefined &&
        parent !== undefined && {
          parent: this.#asServing({ table: parent.table, row: parentRow, parent: this.parentsOf(parent.uuid)[0] }),
        }),
    };
  }

  #own(entry: Entry): void {
    if (entry.ownership.kind !== 'ours') return;
    if (!this.#owned.has(entry.id)) {
      this.#owned.add(entry.id);
      this.#countOwned(entry.table, 1);
    }
    const { owner } = entry.ownership;
    const isNew = !this.#byOwner.has(owner);
    putInto(this.#byOwner, owner, entry.id);
    if (isNew)
      for (const { prefix, watcher } of this.#ownerWatchers) if (owner.startsWith(prefix)) watcher.enter(owner.slice(prefix.length));
    this.#touchOwner(owner);
  }

  #countOwned(table: string, by: 1 | -1): void {
    this.#ownedCounts.set(table, (this.#ownedCounts.get(table) ?? 0) + by);
  }

  #disown(entry: Entry): void {
    if (entry.ownership.kind !== 'ours') return;
    if (this.best(entry.id)?.ownership.kind !== 'ours' && this.#owned.delete(entry.id)) this.#countOwned(entry.table, -1);
    const { owner } = entry.ownership;
    const still = this.rowsOf(entry.id).some(
      (row) => row.uuid !== entry.uuid && row.ownership.kind === 'ours' && row.ownership.owner === owner,
    );
    if (!still) {
      takeOut(this.#byOwner, owner, entry.id);
      const isGone = !this.#byOwner.has(owner);
      if (isGone)
        for (const { prefix, watcher } of this.#ownerWatchers) if (owner.startsWith(prefix)) watcher.leave(owner.slice(prefix.length));
    }
    this.#touchOwner(owner);
  }

  /** The parent's part of a child's identity: name of the router, switch or port group. */
  #nameOf(table: string, uuid: Uuid): string | undefined {
    const name = this.#replica?.table(table).get(uuid)?.name;
    return typeof name === 'string' ? name : undefined;
  }

  #identityOf(id: RowId): Identity {
    let identity = this.#byId.get(id);
    if (identity === undefined) this.#byId.set(id, (identity = new Identity(this.#byId, id)));
    return identity;
  }

  #read(id: RowId, facet: Facet): Identity | undefined {
    if (!this.#reactor.tracking) return this.#byId.get(id);
    const identity = this.#identityOf(id);
    this.#reactor.track((identity[facet] ??= new FacetSource(identity, facet)));
    return identity;
  }

  #touchFacet(id: RowId, facet: Facet): void {
    const source = this.#byId.get(id)?.[facet];
    if (source !== undefined) this.#reactor.touch(source);
  }

  #touchOwner(owner: string): void {
    const source = this.#ownerSources.get(owner);
    if (source !== undefined) this.#reactor.touch(source);
  }
}
