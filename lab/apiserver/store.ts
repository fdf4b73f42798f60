/**
 * The versioned object store under the API: one revision counter, a table for each resource, and a window of past events.
 *
 * It is independent of HTTP, schemas and time. Every write is one event with one revision; objects are immutable values, so a snapshot is a
 * list of references.
 */
import type { KubeObject } from './object.ts';
import { withMeta } from './object.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly table: string;
  readonly key: string;
  readonly revision: number;
  readonly object: KubeObject;
  /** The previous state; absent for ADDED. */
  readonly previous?: KubeObject;
}

export type StoreListener = (event: StoreEvent) => void;

/** Called with every write before it takes effect; if it throws, the write does not take effect. */
export interface Journal {
  append(event: StoreEvent): void;
}

/** An object with its table and key. */
export interface StoredObject {
  readonly table: string;
  readonly key: string;
  readonly object: KubeObject;
}

interface Table {
  readonly objects: Map<string, KubeObject>;
  /** The sorted keys, computed at the first list. */
  order: string[] | undefined;
  history: StoreEvent[];
  /** The last revision that was dropped from the history: a watch must start at or after it. */
  forgotten: number;
  readonly listeners: Set<StoreListener>;
}

/** Namespaced objects sort by namespace, then name, as an API server's keys do. */
export function storeKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

function keyOf({ metadata }: KubeObject): string {
  return storeKey(metadata.namespace, metadata.name);
}

export class ObjectStore {
  #revision = 1;
  readonly #tables = new Map<string, Table>();
  readonly #listeners = new Set<StoreListener>();
  readonly #window: number;
  readonly #journal: Journal | undefined;
  /** The horizon of new tables: the history before the store was restored is unknown. */
  #restored = 0;

  /** `window`: the number of past events of each table from which a watch can resume. */
  constructor(window = 10_000, journal?: Journal) {
    this.#window = window;
    this.#journal = journal;
  }

  get revision(): number {
    return this.#revision;
  }

  get(table: string, key: string): KubeObject | undefined {
    return this.#tables.get(table)?.objects.get(key);
  }

  count(table: string): number {
    return this.#tables.get(table)?.objects.size ?? 0;
  }

  /** All objects of a table in key order, of one namespace if given. */
  list(table: string, namespace?: string): KubeObject[] {
    const rows = this.#tables.get(table);
    if (rows === undefined) return [];
    const order = (rows.order ??= [...rows.objects.keys()].sort());
    const all = namespace === undefined || namespace === '';
    // '0' is the character after '/', so this is the end of the namespace.
    const [from, to] = all ? [0, order.length] : [place(order, `${namespace}/`), place(order, `${namespace}0`)];
    return order.slice(from, to).map((key) => rows.objects.get(key) as KubeObject);
  }

  /** Every object, table by table. */
  all(): StoredObject[] {
    return [...this.#tables].flatMap(([table, { objects }]) => Array.from(objects, ([key, object]) => ({ table, key, object })));
  }

  /** Creates or replaces; the stored object carries the new revision as its resourceVersion. */
  put(table: string, key: string, object: KubeObject): KubeObject {
    const previous = this.#table(table).objects.get(key);
    const revision = this.#revision + 1;
    const stored = withMeta(object, { ...object.metadata, resourceVersion: String(revision) });
    this.#commit(
      previous === undefined
        ? { type: 'ADDED', table, key, revision, object: stored }
        : { type: 'MODIFIED', table, key, revision, object: stored, previous },
    );
    return stored;
  }

  /** Removes; the DELETED event carries the last state with the revision of the removal. */
  remove(table: string, key: string, last?: KubeObject): KubeObject | undefined {
    const previous = this.#table(table).objects.get(key);
    if (previous === undefined) return undefined;
    const revision = this.#revision + 1;
    const final = last ?? previous;
    const object = withMeta(final, { ...final.metadata, resourceVersion: String(revision) });
    this.#commit({ type: 'DELETED', table, key, revision, object, previous });
    return object;
  }

  /** Fills an empty store with the objects at a revision; its earlier history is unknown. */
  restore(revision: number, objects: Iterable<StoredObject>): void {
    this.#revision = revision;
    this.#restored = revision;
    for (const { table, key, object } of objects) this.#table(table).objects.set(key, object);
  }

  /** Repeats a write of the journal, the next one after the store's revision. */
  replay({ table, key, revision, object, removed }: StoredObject & { readonly revision: number; readonly removed: boolean }): void {
    const previous = this.#table(table).objects.get(key);
    const type = removed ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED';
    this.#take({ type, table, key, revision, object, ...(previous === undefined ? {} : { previous }) });
  }

  /** As `list`, at an earlier revision; undefined when the history does not reach back to it. */
  listAt(table: string, revision: number, namespace?: string): KubeObject[] | undefined {
    const rows = this.#tables.get(table);
    if (rows === undefined) return revision < this.#restored ? undefined : [];
    if (rows.forgotten > revision) return undefined;
    const then = new Map(this.list(table, namespace).map((object) => [keyOf(object), object]));
    const after = rows.history.slice(firstAfter(rows.history, revision)).toReversed();
    for (const { key, previous } of after) {
      if (previous === undefined) then.delete(key);
      else if (namespace === undefined || namespace === '' || key.startsWith(`${namespace}/`)) then.set(key, previous);
    }
    return [...then].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** Drops a table's history, so that every watch on it must list again. */
  forgetHistory(table: string): void {
    const rows = this.#table(table);
    rows.history = [];
    rows.forgotten = this.#revision;
  }

  /**
   * Events of a table after a revision, first the past ones, then each as it happens, in order.
   * @returns stops the events; `undefined` when the revision is older than the window.
   */
  watch(table: string, after: number, listener: StoreListener): (() => void) | undefined {
    const rows = this.#table(table);
    if (after < rows.forgotten) return undefined;
    const past = rows.history;
    for (let index = firstAfter(past, after); index < past.length; index++) listener(past[index] as StoreEvent);
    rows.listeners.add(listener);
    return () => rows.listeners.delete(listener);
  }

  /** Every event of every table from now on. */
  watchAll(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #table(name: string): Table {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = { objects: new Map(), order: undefined, history: [], forgotten: this.#restored, listeners: new Set() };
      this.#tables.set(name, table);
    }
    return table;
  }

  #commit(event: StoreEvent): void {
    this.#journal?.append(event);
    this.#take(event);
  }

  #take(event: StoreEvent): void {
    const rows = this.#table(event.table);
    this.#revision = event.revision;
    if (event.type === 'DELETED') rows.objects.delete(event.key);
    else rows.objects.set(event.key, event.object);
    if (event.type !== 'MODIFIED') reorder(rows.order, event);
    rows.history.push(event);
    if (rows.history.length > this.#window * 1.25) {
      const dropped = rows.history.splice(0, rows.history.length - this.#window);
      rows.forgotten = dropped.at(-1)?.revision ?? rows.forgotten;
    }
    for (const listener of [...rows.listeners]) listener(event);
    for (const listener of [...this.#listeners]) listener(event);
  }
}

function firstAfter(history: readonly StoreEvent[], revision: number): number {
  let low = 0;
  let high = history.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((history[middle] as StoreEvent).revision <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

function reorder(order: string[] | undefined, { type, key }: StoreEvent): void {
  if (order === undefined) return;
  if (type === 'ADDED') order.splice(place(order, key), 0, key);
  else order.splice(place(order, key), 1);
}

/** The index of a key in the order, or the index where it would be inserted. */
function place(order: readonly string[], key: string): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((order[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
