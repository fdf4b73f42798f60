/**
 * The versioned object store under the API: one revision counter, a table for each resource, a window of past events.
 *
 * It knows nothing of HTTP, schemas or time. Every write is one event with one revision; objects are immutable values, so
 * a snapshot is a list of references.
 */
import type { KubeObject } from './object.ts';
import { withMeta } from './object.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly table: string;
  readonly key: string;
  readonly revision: number;
  readonly object: KubeObject;
  /** The state before: absent for ADDED. */
  readonly previous?: KubeObject;
}

export type StoreListener = (event: StoreEvent) => void;

interface Table {
  readonly objects: Map<string, KubeObject>;
  /** Keys in order, made again after an insert or a removal. */
  order: readonly string[] | undefined;
  history: StoreEvent[];
  /** The last revision that fell out of the history: a watch must start at or after it. */
  forgotten: number;
  readonly listeners: Set<StoreListener>;
}

/** Namespaced objects sort by namespace, then name, as an API server's keys do. */
export function storeKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export class ObjectStore {
  #revision = 1;
  readonly #tables = new Map<string, Table>();
  readonly #listeners = new Set<StoreListener>();
  readonly #window: number;

  /** `window`: how many past events of each table a watch can resume through. */
  constructor(window = 10_000) {
    this.#window = window;
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
    rows.order ??= [...rows.objects.keys()].sort();
    const result: KubeObject[] = [];
    const prefix = namespace === undefined || namespace === '' ? '' : `${namespace}/`;
    for (const key of rows.order) {
      if (prefix !== '' && !key.startsWith(prefix)) continue;
      result.push(rows.objects.get(key) as KubeObject);
    }
    return result;
  }

  /** Creates or replaces; the stored object carries the new revision as its resourceVersion. */
  put(table: string, key: string, object: KubeObject): KubeObject {
    const rows = this.#table(table);
    const previous = rows.objects.get(key);
    const revision = ++this.#revision;
    const stored = withMeta(object, { ...object.metadata, resourceVersion: String(revision) });
    rows.objects.set(key, stored);
    if (previous === undefined) {
      rows.order = undefined;
      this.#publish(rows, { type: 'ADDED', table, key, revision, object: stored });
    } else {
      this.#publish(rows, { type: 'MODIFIED', table, key, revision, object: stored, previous });
    }
    return stored;
  }

  /** Removes; the DELETED event carries the last state with the revision of the removal. */
  remove(table: string, key: string, last?: KubeObject): KubeObject | undefined {
    const rows = this.#table(table);
    const previous = rows.objects.get(key);
    if (previous === undefined) return undefined;
    const revision = ++this.#revision;
    const final = last ?? previous;
    const object = withMeta(final, { ...final.metadata, resourceVersion: String(revision) });
    rows.objects.delete(key);
    rows.order = undefined;
    this.#publish(rows, { type: 'DELETED', table, key, revision, object, previous });
    return object;
  }

  /** Whether anything of a table changed after a revision, as far as it is remembered. */
  changedSince(table: string, revision: number): boolean {
    const rows = this.#tables.get(table);
    return rows !== undefined && (rows.forgotten > revision || (rows.history.at(-1)?.revision ?? 0) > revision);
  }

  /** Takes revisions up to the given one as used, for a store that is loaded from disk. */
  advanceTo(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
  }

  /** Drops a table's past, so that every watch on it must list again. */
  forgetHistory(table: string): void {
    const rows = this.#table(table);
    rows.history = [];
    rows.forgotten = this.#revision;
  }

  /**
   * Events of a table after a revision, first the past ones, then each as it happens, in order.
   * @returns how to stop, or `undefined` when the revision fell out of the window.
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
      table = { objects: new Map(), order: undefined, history: [], forgotten: 0, listeners: new Set() };
      this.#tables.set(name, table);
    }
    return table;
  }

  #publish(rows: Table, event: StoreEvent): void {
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
