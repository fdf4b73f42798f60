/**
 * The journal as files of JSON lines in a directory. A file is ended at its size limit, and the oldest are deleted when all together exceed
 * theirs. After a failure (a full disk, a directory that is gone, a file system that does not answer) it tries again every few seconds, in
 * a new file, so a line that was cut off never gets another one's text.
 */
import { constants } from 'node:fs';
import { mkdir, open, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../timing/clock.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { dropOldest, journalFileName } from './journal-files.ts';

/** Bytes of all files together. */
export const DEFAULT_JOURNAL_BYTES = 256 * 1024 * 1024;
/** Files that the limit is divided into: so much of the journal is lost when the oldest file is deleted. */
const FILES = 16;
const RETRY_MS = 5_000;
/** A file system that takes longer counts as failed: deletions must not wait for it without an alarm. */
const MOST_MS = 10_000;

/** How long an entry that may be lost waits for one that may not: both are written together then. */
const NOTE_MS = 250;

export interface JournalFile {
  /** What it has written survives the loss of power. */
  write(bytes: Buffer): Promise<unknown>;
  close(): Promise<void>;
}

export interface FileJournalOptions {
  readonly directory: string;
  readonly clock: Clock;
  /** Letters and digits that tell this process from others. */
  readonly writer: string;
  readonly mostBytes?: number;
  /** Opens a file to append to; for tests. */
  readonly openFile?: (path: string) => Promise<JournalFile>;
}

/** A file that is written. */
interface Current {
  readonly path: string;
  readonly file: JournalFile;
  bytes: number;
}

export class FileJournal implements Journal {
  readonly isOn = true;
  readonly #options: FileJournalOptions;
  readonly #mostBytes: number;
  readonly #listeners: (() => void)[] = [];
  #current: Current | undefined;
  #failure: string | undefined;
  #missed = 0;
  #bytes = 0;
  /** Writes are made one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #retry: unknown;
  /** Lines of entries that may be lost, not written yet. */
  #notes = '';
  #noting: unknown;
  #closed = false;
  #files = 0;

  constructor(options: FileJournalOptions) {
    this.#options = options;
    this.#mostBytes = options.mostBytes ?? DEFAULT_JOURNAL_BYTES;
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  get counts(): Journal['counts'] {
    return { bytes: this.#bytes, missedRows: this.#missed };
  }

  onState(changed: () => void): void {
    this.#listeners.push(changed);
  }

  missed(rows: number): void {
    this.#missed += rows;
  }

  append(entries: readonly JournalEntry[]): Promise<boolean> {
    return this.#inTurn(this.#taken() + textOf(entries));
  }

  note(entry: JournalEntry): void {
    if (this.#failure !== undefined || this.#closed) return;
    this.#notes += textOf([entry]);
    this.#noting ??= this.#options.clock.setTimeout(() => void this.#inTurn(this.#taken()), NOTE_MS);
  }

  /** The notes, which are written now. */
  #taken(): string {
    this.#options.clock.clearTimeout(this.#noting);
    const text = this.#notes;
    this.#notes = '';
    this.#noting = undefined;
    return text;
  }

  /** Opens the first file, so that a directory that cannot be written shows at the start and not at the first deletion. */
  async begin(): Promise<boolean> {
    return this.#inTurn('');
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#options.clock.clearTimeout(this.#retry);
    const notes = this.#taken();
    if (notes !== '' && this.#failure === undefined) void this.#inTurn(notes);
    await this.#last.catch(() => undefined);
    await this.#end();
  }

  #inTurn(text: string): Promise<boolean> {
    const bytes = Buffer.from(text);
    const written = this.#last.then(() => this.#write(bytes));
    this.#last = written;
    return written;
  }

  async #write(bytes: Buffer): Promise<boolean> {
    try {
      await this.#within(this.#put(bytes));
      this.#succeeded();
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  async #put(bytes: Buffer): Promise<void> {
    let current = this.#current ?? (await this.#begun());
    if (bytes.length > 0) {
      // Both at once: most of the time the file is there.
      const [isThere] = await Promise.all([exists(current.path), current.file.write(bytes)]);
      if (!isThere) {
        // It was deleted or moved away: no reader would find the lines.
        await this.#end();
        current = await this.#begun();
        await current.file.write(bytes);
      }
    }
    current.bytes += bytes.length;
    this.#bytes += bytes.length;
    if (current.bytes < this.#mostBytes / FILES) return;
    await this.#end();
    await dropOldest(this.#options.directory, this.#mostBytes - this.#mostBytes / FILES, current.path);
  }

  /** A new file to append to. */
  async #begun(): Promise<Current> {
    const { directory, clock, writer } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, journalFileName(clock.wallTime(), `${writer}${this.#files++}`));
    const file = await (this.#options.openFile ?? openPrivate)(path);
    return (this.#current = { path, file, bytes: 0 });
  }

  async #end(): Promise<void> {
    const ended = this.#current;
    this.#current = undefined;
    await ended?.file.close();
  }

  async #within(work: Promise<void>): Promise<void> {
    const { clock } = this.#options;
    let timer: unknown;
    const late = new Promise<never>((_, reject) => {
      timer = clock.setTimeout(() => reject(new Error(`no answer of the file system in ${MOST_MS / 1_000} s`)), MOST_MS);
    });
    // Its end may come after the time limit, and nothing awaits it then.
    work.catch(() => undefined);
    try {
      await Promise.race([work, late]);
    } finally {
      clock.clearTimeout(timer);
    }
  }

  #succeeded(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    for (const changed of this.#listeners) changed();
  }

  #failed(error: unknown): void {
    const before = this.#failure;
    this.#failure = error instanceof Error ? error.message : String(error);
    const ended = this.#current;
    this.#current = undefined;
    // It may hang as the write did. A file in which no write succeeded has nothing that was sent.
    void ended?.file
      .close()
      .then(() => (ended.bytes === 0 ? unlink(ended.path) : undefined))
      .catch(() => undefined);
    this.#tryAgain();
    if (before === undefined) for (const changed of this.#listeners) changed();
  }

  #tryAgain(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#retry);
    if (this.#closed) return;
    this.#retry = clock.setTimeout(() => {
      const at = new Date(clock.wallTime()).toISOString();
      void this.append([{ kind: 'resumed', at, after: this.#failure ?? '' }]);
    }, RETRY_MS);
  }
}

function textOf(entries: readonly JournalEntry[]): string {
  let text = '';
  for (const entry of entries) text += `${JSON.stringify(entry)}\n`;
  return text;
}

const { O_APPEND, O_CREAT, O_DSYNC, O_EXCL, O_WRONLY } = constants;
/** With `O_DSYNC` a write ends when the disk has it: one call, where a write and `fdatasync` are two. */
const APPEND = O_APPEND | O_CREAT | O_EXCL | O_WRONLY | O_DSYNC;

/** Rows name tenants' objects: no other user may read them. */
async function openPrivate(path: string): Promise<JournalFile> {
  const handle = await open(path, APPEND, 0o600);
  // A command of root writes for the controller, which has to read it.
  if (process.getuid?.() === 0) {
    const { uid, gid } = await stat(dirname(path));
    await handle.chown(uid, gid);
  }
  return {
    write: async (bytes) => {
      for (let from = 0; from < bytes.length;) from += (await handle.write(bytes, from)).bytesWritten;
    },
    close: () => handle.close(),
  };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
