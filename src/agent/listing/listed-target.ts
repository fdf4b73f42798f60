/**
 * A target whose system tells nothing by itself: it is listed, compared, written, and listed again. A list that a write overlaps is thrown
 * away: the write lists once it has ended.
 */
import type { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { AnyOutput } from '../../engine/outputs.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../engine/target.ts';
import { equal } from '../../engine/equal.ts';
import type { Programs } from '../kernel/programs.ts';
import type { Ran } from '../kernel/ran.ts';
import type { Retries } from '../retries.ts';
import type { Changes, Listing } from './changes.ts';

export interface ListedTargetOptions {
  readonly programs: Programs;
  readonly retries: Retries;
  readonly changes: Changes;
  readonly log: Log;
  readonly wake: () => void;
}

/** What a target does with its system. `Change` is what one write does, as a plain value. */
export abstract class ListedTarget<O extends AnyOutput, Seen, Change> implements Target {
  abstract readonly name: string;
  abstract readonly desired: KeyedOutputs<O>;
  readonly busy = false;
  protected readonly programs: Programs;
  readonly #options: ListedTargetOptions;
  #listing: Listing | undefined;
  #seen: Seen | undefined;
  #writing: Promise<void> | undefined;
  /** Writes that were begun. */
  #writes = 0;
  #stopped = false;

  constructor(options: ListedTargetOptions) {
    this.#options = options;
    this.programs = options.programs;
  }

  /** Which changes of the kernel a list may show; undefined: nothing tells of them. A pure function. */
  protected abstract readonly concerns: Listing['concerns'] | undefined;

  /** @throws Error with the reason if the kernel cannot be asked */
  protected abstract list(): Promise<Seen>;

  /** What has to be written for an identity; undefined for nothing. */
  protected abstract changeFor(id: string, seen: Seen): Change | undefined;

  protected abstract write(change: Change): Promise<Ran>;

  /**
   * Called for a list before it is compared, if it differs from the one before: fills tables of the World.
   * @param isOwn nothing but what this process wrote is expected in it: the first one, and after a write that succeeded
   */
  protected taken(_seen: Seen, _isOwn: boolean): void {}

  /** Called when a write begins (true), and when it was listed what there is after it (false): meanwhile the last list may be wrong. */
  protected outdated(_isOutdated: boolean): void {}

  /** Identities that may differ: those with outputs, or one whose outputs are all that there should be. */
  protected identities(): Iterable<string> {
    return this.desired.ids;
  }

  /** Why a write failed, for the log and for rules. @param message of the program */
  protected reason(message: string): string {
    return message;
  }

  get observed(): boolean {
    return this.#seen !== undefined;
  }

  get quiet(): boolean {
    return this.#writing === undefined && this.desired.due.size === 0;
  }

  get waitingFor(): readonly string[] {
    return this.observed ? [] : [this.name];
  }

  start(): void {
    const { concerns } = this;
    this.#listing = { list: () => this.#list(), ...(concerns !== undefined && { concerns }) };
    this.#options.changes.add(this.#listing);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#listing !== undefined) await this.#options.changes.remove(this.#listing);
    await this.#writing;
  }

  examineAll(): void {
    for (const id of this.identities()) this.desired.due.add(id);
  }

  plan(): readonly unknown[] {
    const seen = this.#seen;
    if (seen === undefined) return [];
    return Array.from(this.identities(), (id) => ({ id, change: this.changeFor(id, seen) })).filter(({ change }) => change !== undefined);
  }

  flush(): boolean {
    const { retries } = this.#options;
    for (const id of this.desired.due) {
      if (this.#seen === undefined || this.#writing !== undefined || this.#stopped) break;
      if (retries.mustWait(id)) continue;
      this.desired.due.delete(id);
      const change = this.changeFor(id, this.#seen);
      if (change === undefined) retries.succeeded(id);
      else this.#writing = this.#write(id, change);
    }
    return true;
  }

  async #write(id: string, change: Change): Promise<void> {
    const { retries, log, wake } = this.#options;
    this.#writes += 1;
    this.outdated(true);
    const ran = await this.write(change);
    await this.#read(ran.ok);
    const reason = ran.ok ? this.#missing(id, change) : this.reason(ran.message);
    if (reason === undefined) retries.succeeded(id);
    else {
      log.warn(`${this.name} could not be changed; it will be tried again`, { id, reason });
      retries.failed(id, reason);
    }
    this.desired.due.add(id);
    this.#writing = undefined;
    wake();
  }

  /** What is written without an error and not seen afterwards must not be written in each turn. */
  #missing(id: string, change: Change): string | undefined {
    const again = this.#seen === undefined ? undefined : this.changeFor(id, this.#seen);
    return again !== undefined && equal(again, change) ? `${this.name}: what was written is not there afterwards` : undefined;
  }

  async #list(): Promise<void> {
    if (this.#writing === undefined) await this.#read(this.#seen === undefined);
  }

  async #read(isOwn: boolean): Promise<void> {
    const { log, wake } = this.#options;
    const writes = this.#writes;
    try {
      const seen = await this.list();
      if (this.#writes !== writes) return;
      this.outdated(false);
      if (!isOwn && equal(seen, this.#seen)) return;
      this.#seen = seen;
      this.taken(seen, isOwn);
      this.examineAll();
      wake();
    } catch (error) {
      log.warn(`${this.name} could not be listed`, { reason: error instanceof Error ? error.message : String(error) });
    }
  }
}
