/**
 * When to list what the kernel shows only when it is asked: at the start, shortly after `ip monitor` told of a change, and from time to time.
 * One program and one timer for all listings.
 */
import type { Log } from '../../runtime/log.ts';
import { doublingDelay } from '../../timing/backoff.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import type { Programs } from '../kernel/programs.ts';
import { isRefusal, type KernelChange, kernelChange, MONITOR, OWN_MONITOR } from './kernel-change.ts';

/** A change is followed by others. */
const SETTLE_MS = 50;
/** From the begin of one listing to that of the next, however much changes. */
const LEAST_MS = 500;
/** Behind the changes that are told. */
const SWEEP_MS = 60_000;
/** What nothing tells of; and all while the monitor does not run. */
const POLL_MS = 5_000;
/** What changed before the monitor listened is seen then. */
const LISTENS_MS = 1_000;
/** Between two warnings of missed changes: a pod may cause hundreds a second. */
const WARN_MS = 60_000;
const FIRST_RESTART_MS = 1_000;
const LONGEST_RESTART_MS = 30_000;

export interface Listing {
  /** Whether it may show what this change of the node's own namespace changed. Missing: nothing tells of its changes. */
  readonly concerns?: (change: KernelChange) => boolean;
  /** Called for each change in another namespace: as cheap as can be, since a program in it makes as many as it likes. */
  readonly inside?: (change: KernelChange) => void;
  /** Changes in other namespaces may have been missed. */
  readonly missed?: () => void;
  /** Never called while it is under way. @param isTold because of a change that concerns it. @throws never */
  readonly list: (isTold: boolean) => Promise<void>;
}

interface Entry {
  readonly listing: Listing;
  dueAt: number;
  startedAt: number;
  isTold: boolean;
  /** While it is listed. */
  running: Promise<void> | undefined;
}

export interface ChangesOptions {
  readonly programs: Programs;
  readonly clock: Clock;
  readonly log: Log;
}

export class Changes {
  readonly #options: ChangesOptions;
  readonly #entries = new Map<Listing, Entry>();
  /** Ends the monitor; undefined while it does not run. */
  #endMonitor: (() => void) | undefined;
  #listensAt = 0;
  #attempts = 0;
  /** When a missed change was last told. */
  #warnedAt = -Infinity;
  /** The kernel tells of the node's own namespace alone. */
  #isDeaf = false;
  #timer: TimerHandle;
  #timerAt = Infinity;
  #restart: TimerHandle;
  #stopped = false;

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#endMonitor === undefined) this.#startMonitor();
  }

  /** Ends the monitor. The caller that added a listing removes it. */
  stop(): void {
    const { clock } = this.#options;
    this.#stopped = true;
    clock.clearTimeout(this.#timer);
    clock.clearTimeout(this.#restart);
    this.#endMonitor?.();
  }

  /** Lists it at once, and again when something changes. */
  add(listing: Listing): void {
    this.#entries.set(listing, { listing, dueAt: this.#options.clock.now(), startedAt: -LEAST_MS, isTold: false, running: undefined });
    this.#schedule();
  }

  /** Waits for the listing that is under way. */
  async remove(listing: Listing): Promise<void> {
    const entry = this.#entries.get(listing);
    this.#entries.delete(listing);
    await entry?.running;
  }

  #startMonitor(): void {
    const { programs, clock, log } = this.#options;
    const since = clock.now();
    let isRefused = false;
    this.#endMonitor = programs.watch(this.#isDeaf ? OWN_MONITOR : MONITOR, {
      line: (text) => {
        const change = kernelChange(text);
        if (change === undefined) return;
        if (change.inside !== undefined) for (const { listing } of this.#entries.values()) listing.inside?.(change);
        else this.#makeDue(({ concerns }) => concerns?.(change) === true, clock.now() + SETTLE_MS, true);
      },
      warned: (text) => {
        isRefused ||= !this.#isDeaf && isRefusal(text);
        if (isRefused) return;
        if (clock.now() - this.#warnedAt >= WARN_MS) {
          this.#warnedAt = clock.now();
          log.warn('ip monitor may have missed a change; all is listed again', { reason: text });
        }
        this.#makeDue(isTold, clock.now() + SETTLE_MS);
        this.#miss();
      },
      ended: (reason) => {
        this.#endMonitor = undefined;
        if (isRefused) {
          this.#isDeaf = true;
          log.warn(
            'what other programs change inside of pods is not noticed (CHECK of the CNI plugin still sees it): the agent needs capability NET_BROADCAST, as deploy/agent.yaml has it, and an ip with "monitor all-nsid"',
            { reason },
          );
          this.#startMonitor();
          return;
        }
        if (clock.now() - since > LONGEST_RESTART_MS) this.#attempts = 0;
        const delay = doublingDelay(this.#attempts++, FIRST_RESTART_MS, LONGEST_RESTART_MS);
        log.warn('ip monitor ended; it is started again, and until then all is listed every few seconds', { reason });
        this.#restart = clock.setTimeout(() => this.#startMonitor(), delay);
        this.#makeDue(isTold, clock.now() + SETTLE_MS);
      },
    });
    this.#listensAt = clock.now() + LISTENS_MS;
    this.#makeDue(isTold, this.#listensAt);
    if (this.#attempts > 0) this.#miss();
  }

  #miss(): void {
    for (const { listing } of this.#entries.values()) listing.missed?.();
  }

  #makeDue(which: (listing: Listing) => boolean, at: number, isChange = false): void {
    for (const entry of this.#entries.values()) {
      if (!which(entry.listing)) continue;
      entry.dueAt = Math.min(entry.dueAt, Math.max(at, entry.startedAt + LEAST_MS));
      entry.isTold ||= isChange;
    }
    this.#schedule();
  }

  #schedule(): void {
    const { clock } = this.#options;
    let earliest = Infinity;
    for (const { dueAt, running } of this.#entries.values()) if (running === undefined) earliest = Math.min(earliest, dueAt);
    // One that is earlier finds nothing to do, and schedules the next.
    if (this.#stopped || earliest >= this.#timerAt) return;
    clock.clearTimeout(this.#timer);
    this.#timerAt = earliest;
    this.#timer = clock.setTimeout(() => this.#listDue(), Math.max(0, earliest - clock.now()));
  }

  #listDue(): void {
    this.#timerAt = Infinity;
    const now = this.#options.clock.now();
    // All in one go: those that read the same share one program.
    for (const entry of this.#entries.values()) if (entry.running === undefined && entry.dueAt <= now) entry.running = this.#list(entry);
    this.#schedule();
  }

  /** When it is listed again without a change. */
  #next({ listing, startedAt }: Entry): number {
    const now = this.#options.clock.now();
    if (!isTold(listing) || this.#endMonitor === undefined) return now + POLL_MS;
    return startedAt < this.#listensAt ? this.#listensAt : now + SWEEP_MS;
  }

  async #list(entry: Entry): Promise<void> {
    const { clock } = this.#options;
    entry.startedAt = clock.now();
    entry.dueAt = Infinity;
    const { isTold: wasTold } = entry;
    entry.isTold = false;
    await entry.listing.list(wasTold);
    entry.dueAt = Math.min(entry.dueAt, this.#next(entry));
    entry.running = undefined;
    this.#schedule();
  }
}

function isTold({ concerns }: Listing): boolean {
  return concerns !== undefined;
}
