/**
 * The folder with a laboratory's objects: `snapshot-<revision>` has every object at one revision, and `log-<revision>` files have each
 * later write, in order.
 */
import {
  closeSync,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Journal, StoreEvent } from '../store.ts';
import { ObjectStore } from '../store.ts';
import type { StoredWrite } from './record.ts';
import { decodeLog, encodeWrite } from './record.ts';

export interface StateDirectoryOptions {
  /** A new snapshot is written when the logs are longer, in bytes, than this and than the last snapshot. Default 64 MiB. */
  readonly compactAfter?: number;
  /** Milliseconds between a write and `fdatasync`, at most. Default 1,000. */
  readonly syncWithin?: number;
}

/** The folder has files that this program did not write, or that were altered. */
export class BrokenStateError extends Error {
  override readonly name = 'BrokenStateError';
  readonly code = 'LAB_STATE_BROKEN';
}

const MOMENT = /^(snapshot|log)-(\d+)$/;
const OBJECTS_A_TURN = 500;

export class StateDirectory implements Journal {
  readonly #directory: string;
  readonly #compactAfter: number;
  readonly #syncWithin: number;
  #log = -1;
  #length = 0;
  #logged = 0;
  #snapshotLength = 0;
  #store: ObjectStore | undefined;
  #sync: NodeJS.Timeout | undefined;
  #compaction: Promise<void> | undefined;
  /** Why the log accepts no more writes. */
  #failure: Error | undefined;

  constructor(directory: string, { compactAfter = 64 * 1024 * 1024, syncWithin = 1_000 }: StateDirectoryOptions = {}) {
    this.#directory = directory;
    this.#compactAfter = compactAfter;
    this.#syncWithin = syncWithin;
  }

  /**
   * The store in its last state, which from now on writes to this folder.
   *
   * @param window as for the store
   * @throws BrokenStateError when a file is damaged, except at the end of the last log
   */
  open(window?: number): ObjectStore {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const store = new ObjectStore(window, this);
    const names = readdirSync(this.#directory);
    for (const name of names.filter((entry) => entry.endsWith('.new'))) rmSync(join(this.#directory, name));
    const moments = (kind: string): number[] =>
      names.flatMap((name) => (MOMENT.exec(name)?.[1] === kind ? [Number(MOMENT.exec(name)?.[2])] : [])).toSorted((a, b) => a - b);
    const snapshot = moments('snapshot').at(-1);
    if (snapshot !== undefined) this.#readSnapshot(store, snapshot);
    const logs = moments('log');
    for (const log of logs) this.#replay(store, log, log === logs.at(-1));
    this.#store = store;
    const last = logs.at(-1);
    if (last === undefined) this.#begin(store.revision);
    else this.#log = openSync(this.#path('log', last), 'a', 0o600);
    return store;
  }

  /** The store calls this before a write takes effect. @throws Error when the write cannot be logged; then it does not take effect. */
  append(event: StoreEvent): void {
    if (this.#failure !== undefined) throw this.#failure;
    const { table, key, revision, object, type } = event;
    const line = encodeWrite({ table, key, revision, object, removed: type === 'DELETED' });
    try {
      let written = 0;
      while (written < line.length) written += writeSync(this.#log, line, written);
    } catch (error) {
      this.#undo(error);
    }
    this.#length += line.length;
    this.#logged += line.length;
    this.#sync ??= setTimeout(() => this.#flush(), this.#syncWithin).unref();
    if (this.#compaction === undefined && this.#logged > Math.max(this.#compactAfter, this.#snapshotLength)) {
      // In a later turn: the store has not applied this write yet.
      this.#compaction = Promise.resolve()
        .then(() => this.compact())
        .catch(() => undefined)
        .finally(() => (this.#compaction = undefined));
    }
  }

  /** Writes a snapshot that replaces the earlier logs. Writes continue meanwhile, into a new log. */
  async compact(): Promise<void> {
    const store = this.#store;
    if (store === undefined) return;
    const { revision } = store;
    const objects = store.all();
    this.#begin(revision);
    const path = this.#path('snapshot', revision);
    const file = openSync(`${path}.new`, 'w', 0o600);
    let length = 0;
    try {
      for (let index = 0; index < objects.length; index += OBJECTS_A_TURN) {
        const lines = objects.slice(index, index + OBJECTS_A_TURN).map((entry) => encodeWrite({ ...entry, revision, removed: false }));
        const bytes = Buffer.concat(lines);
        writeSync(file, bytes);
        length += bytes.length;
        await new Promise((resolve) => void setImmediate(resolve));
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(`${path}.new`, path);
    this.#snapshotLength = length;
    for (const name of readdirSync(this.#directory)) {
      const moment = Number(MOMENT.exec(name)?.[2] ?? revision);
      if (moment < revision) rmSync(join(this.#directory, name), { force: true });
    }
  }

  /** On return everything is on the disk. */
  async close(): Promise<void> {
    await this.#compaction;
    clearTimeout(this.#sync);
    if (this.#log < 0) return;
    fsyncSync(this.#log);
    closeSync(this.#log);
    this.#log = -1;
    this.#failure = new Error('the laboratory was stopped');
  }

  #path(kind: 'snapshot' | 'log', revision: number): string {
    return join(this.#directory, `${kind}-${String(revision).padStart(16, '0')}`);
  }

  #begin(revision: number): void {
    const before = this.#log;
    this.#log = openSync(this.#path('log', revision), 'a', 0o600);
    this.#length = 0;
    this.#logged = 0;
    if (before < 0) return;
    fsyncSync(before);
    closeSync(before);
  }

  #flush(): void {
    this.#sync = undefined;
    if (this.#log >= 0) fdatasync(this.#log, () => undefined);
  }

  /** Removes a partial write from the end of the log, so that it does not damage the next line. */
  #undo(error: unknown): never {
    const why = error instanceof Error ? error.message : String(error);
    try {
      ftruncateSync(this.#log, this.#length);
    } catch {
      this.#failure = new Error(`the state in ${this.#directory} takes no more writes: ${why}`);
    }
    throw new Error(`the write could not be kept in ${this.#directory}: ${why}`);
  }

  #readSnapshot(store: ObjectStore, revision: number): void {
    const path = this.#path('snapshot', revision);
    const bytes = readFileSync(path);
    const { writes, intact } = decodeLog(bytes);
    if (intact < bytes.length) throw new BrokenStateError(`${path} is damaged at byte ${intact}; remove the folder to begin anew`);
    store.restore(revision, writes);
    this.#snapshotLength = bytes.length;
  }

  #replay(store: ObjectStore, log: number, isLast: boolean): void {
    const path = this.#path('log', log);
    const bytes = readFileSync(path);
    const { writes, intact } = decodeLog(bytes);
    const isTorn = intact < bytes.length;
    // A single interrupted write leaves no line break after it; otherwise the file was altered.
    if (isTorn && (!isLast || bytes.indexOf(10, intact) >= 0))
      throw new BrokenStateError(`${path} is damaged at byte ${intact}; remove the folder to begin anew`);
    for (const write of writes) this.#take(store, write, path);
    if (!isLast) return;
    if (isTorn) {
      const file = openSync(path, 'r+');
      ftruncateSync(file, intact);
      closeSync(file);
    }
    this.#length = intact;
    this.#logged = intact;
  }

  #take(store: ObjectStore, write: StoredWrite, path: string): void {
    if (write.revision <= store.revision) return;
    if (write.revision !== store.revision + 1)
      throw new BrokenStateError(`${path} goes from revision ${store.revision} to ${write.revision}; remove the folder to begin anew`);
    store.replay(write);
  }
}
