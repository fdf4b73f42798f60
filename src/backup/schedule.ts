/**
 * A backup each so often, while this process leads. When the last one was, it reads from the names of the files, so it goes on where an
 * earlier leader, or this process before its restart, left off.
 */
import type { Clock, TimerHandle } from '../timing/clock.ts';
import { listBackups } from './backup-file.ts';

/** How often it looks whether one is due, and how long it waits after a failure. */
const LOOK_MS = 60_000;
const RETRY_MS = 5 * 60_000;

export interface BackupScheduleOptions {
  readonly directory: string;
  readonly everyMs: number;
  readonly clock: Clock;
  /** Only the leader makes backups: two replicas may share the directory. */
  readonly leads: () => boolean;
  /** Makes one, and deletes those that are too many. */
  readonly make: (signal: AbortSignal) => Promise<void>;
  /** After each attempt. */
  readonly done: (failure: string | undefined) => void;
}

export class BackupSchedule {
  readonly #options: BackupScheduleOptions;
  readonly #stopped = new AbortController();
  #timer: TimerHandle;
  #working: Promise<void> = Promise.resolve();
  #newest: number | undefined;
  #failure: string | undefined;

  constructor(options: BackupScheduleOptions) {
    this.#options = options;
  }

  /** Why the last attempt failed; undefined after one that succeeded, and while another process leads. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** When the newest backup of the directory was made, in milliseconds; undefined before the first look, and if there is none. */
  get newest(): number | undefined {
    return this.#newest;
  }

  start(): void {
    this.#later(0);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#options.clock.clearTimeout(this.#timer);
    await this.#working;
  }

  #later(ms: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#working = this.#look().then((next) => this.#later(next));
    }, ms);
  }

  /** @returns after how long to look again */
  async #look(): Promise<number> {
    const { leads, make, done } = this.#options;
    if (!leads()) {
      this.#failure = undefined;
      return LOOK_MS;
    }
    try {
      await this.#find();
      if (!this.#isDue()) return LOOK_MS;
      await make(this.#stopped.signal);
      await this.#find();
      this.#failure = undefined;
    } catch (error) {
      if (this.#stopped.signal.aborted) return LOOK_MS;
      this.#failure = error instanceof Error ? error.message : String(error);
    }
    done(this.#failure);
    return this.#failure === undefined ? LOOK_MS : RETRY_MS;
  }

  async #find(): Promise<void> {
    try {
      this.#newest = (await listBackups(this.#options.directory))[0]?.at;
    } catch (error) {
      // The first backup makes the directory.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      this.#newest = undefined;
    }
  }

  /** A file of the future, by a clock that was wrong, does not end the backups. */
  #isDue(): boolean {
    const { everyMs, clock } = this.#options;
    return this.#newest === undefined || Math.abs(clock.wallTime() - this.#newest) >= everyMs;
  }
}
