/**
 * The folder that keeps a laboratory's objects: `snapshot-<revision>` with every object of one moment, and `log-<revision>` files with
 * each write after it, in order.
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
  /** A new snapshot is made when the logs are longer than this and than the last snapshot, in bytes. Default 64 MiB. */
  readonly compactAfter?: number;
  /** Milliseconds between a write and `fdatasync`, at most. Default 1,000. */
  readonly syncWithin?: number;
}

/** The folder holds what this program did not write, or not like this. */
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
  /** Why the log takes no more writes. */
  #failure: Error | undefined;

  constructor(directory: string, { compactAfter = 64 * 1024 * 1024, syncWithin = 1_000 }: StateDirectoryOptions = {}) {
    this.#directory = directory;
    this.#compactAfter = compactAfter;
    this.#syncWithin = syncWithin;
  }

  /**
   * The store as it was left, which from now on writes here.
   *
   * @param window as for the store
   * @throws BrokenStateError when a file is damaged elsewhere than at its end
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

  /** Called by the store before a write takes effect. @throws Error when it cannot be kept; then it does not take effect. */
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
      // Later: the store has not taken this write yet.
      this.#compaction = Promise.resolve()
        .then(() => this.compact())
        .catch(() => undefined)
        .finally(() => (this.#compaction = undefined));
    }
  }

  /** A snapshot of now, in place of what was logged before. Writes go on meanwhile, into a log of their own. */
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

  /** Everything is on the disk when it returns. */
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

  /** A write that was cut off must not stay in front of the next one. */
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
    // Of one write that was cut off there is no end of line; more than that was not torn but altered.
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
