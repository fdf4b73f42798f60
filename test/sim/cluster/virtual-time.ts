/**
 * Time that passes only when there is nothing left to do now. One queue holds everything that will happen. After each entry, all promises
 * that can settle do so before the next entry runs.
 */
import type { Clock, Scheduler } from '../../../src/timing/clock.ts';
import { gathers, siteHere } from './product-timers.ts';

interface Entry {
  readonly at: number;
  readonly order: number;
  readonly cause: SetTimer | undefined;
  run: (() => void) | undefined;
}

/** A timer of a process. */
export interface SetTimer {
  readonly process: string;
  readonly ms: number;
  readonly setAt: number;
  /** The function of the product that set it. */
  readonly site: () => string;
  /** Set while the process received the effect of an injected fault. */
  readonly afterFault: boolean;
}

/** Steps in a millisecond. */
const STEPS = 64;

/** The most entries in one step: ten thousand is a lot, and each may take milliseconds. */
const MOST_AT_ONCE = 50_000;

/** Points of time handled in one turn of the event loop: a turn itself costs as much as one of them. */
const AT_ONCE = 8;

/** The most time from a decision of a controller until the API server has the write. */
const DECIDED_MS = 1_000;

export const EPOCH = Date.UTC(2026, 0, 1);

export class VirtualTime {
  #now = 0;
  #order = 0;
  #cause: SetTimer | undefined;
  #afterFault = false;
  /** A heap: the parent of i is at (i - 1) >> 1. */
  readonly #heap: Entry[] = [];
  /**
   * When each process last received an object's change whose cause was no timer, or was an injected fault: `<process> <plural>
   * <namespace>/<name>`.
   */
  readonly receivedAt = new Map<string, number>();

  get now(): number {
    return this.#now;
  }

  /** The timer that caused what happens now, through all messages between; undefined for a step of the history. */
  get cause(): SetTimer | undefined {
    return this.#cause;
  }

  /** A process now receives the effect of an injected fault: timers that it sets before the next entry are due to that. */
  noteFault(): void {
    this.#afterFault = true;
  }

  get afterFault(): boolean {
    return this.#afterFault;
  }

  /** @param cause default: the cause of what happens now. @returns the entry that cancels it */
  after(ms: number, run: () => void, cause = this.#cause): Entry {
    // In steps that floating-point sums hold exactly: what is sent in order must come in order. A wait for the rest of a step would never
    // end.
    const at = Math.max(this.#now + (ms > 0 ? 1 / STEPS : 0), Math.ceil((this.#now + ms) * STEPS - 1e-3) / STEPS);
    const entry: Entry = { at, order: this.#order++, cause, run };
    this.#push(entry);
    return entry;
  }

  cancel(entry: Entry): void {
    entry.run = undefined;
  }

  /** Runs everything that is due by then. @throws what an entry throws, and when the entries of one step do not end */
  runUntil(moment: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let left = 0;
      let over = false;
      let atOnce = 0;
      // Promises and next ticks settle before each immediate, also between the immediates of one turn of the event loop.
      const step = (): void => {
        if (over) return;
        const next = this.#take(moment);
        atOnce = next?.at === this.#now ? atOnce + 1 : 0;
        this.#now = Math.max(this.#now, next?.at ?? moment);
        this.#cause = next?.cause;
        this.#afterFault = false;
        over = next === undefined;
        if (next === undefined) return resolve();
        try {
          if (atOnce > MOST_AT_ONCE)
            throw new Error(`no time passes any more at ${this.#now} ms: what happens makes more happen at once, for ever`);
          next.run?.();
        } catch (error) {
          over = true;
          return reject(error);
        }
        if (--left === 0) turn();
      };
      const turn = (): void => {
        for (left = 0; left < AT_ONCE; left++) setImmediate(step);
      };
      turn();
    });
  }

  #take(moment: number): Entry | undefined {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || first.at > moment) return undefined;
      this.#pop();
      if (first.run !== undefined) return first;
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(entry, heap[parent] as Entry)) break;
      heap[at] = heap[parent] as Entry;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Entry;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] as Entry, heap[child] as Entry)) child++;
      if (!before(heap[child] as Entry, last)) break;
      heap[at] = heap[child] as Entry;
      at = child;
    }
    heap[at] = last;
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** The clock of one process: it ends with the process, stands still while that is stopped, and its date may be off. */
export class ProcessClock implements Clock, Scheduler {
  readonly #time: VirtualTime;
  readonly #process: string;
  #alive = true;
  /** Timers that became due while the process is stopped. */
  #held: (() => void)[] | undefined;
  /** Timers that became due before it continued and have not run yet. */
  #late: (() => void)[] = [];
  #stop: { readonly since: number; readonly asleep: boolean } | undefined;
  /** Milliseconds that the monotonic clock lost while the machine slept. */
  #lost = 0;
  /** Milliseconds that the wall clock is off. */
  #wallOff = 0;
  /** The largest value that the wall clock was off by: the product's date is never set back, but continues from there. */
  #steadyOff = 0;
  #jumped: { readonly at: number; readonly off: number } = { at: -Infinity, off: 0 };

  constructor(time: VirtualTime, process = '') {
    this.#time = time;
    this.#process = process;
  }

  now(): number {
    const asleepSince = this.#stop?.asleep === true ? this.#stop.since : undefined;
    return (asleepSince ?? this.#time.now) - this.#lost + 1_000;
  }

  wallTime(): number {
    return EPOCH + this.#time.now + this.#wallOff;
  }

  setTimeout(callback: () => void, ms: number): Entry {
    const { now: setAt, afterFault } = this.#time;
    const site = siteHere();
    const cause = !afterFault && gathers(site, ms) ? this.#time.cause : { process: this.#process, ms, setAt, site, afterFault };
    return this.#time.after(ms, () => this.#run(callback), cause);
  }

  /** Delivers something to the process that is caused by what happens now, so not by a timer of its own. @returns cancels it */
  carry(ms: number, run: () => void): () => void {
    const entry = this.#time.after(ms, () => this.#run(run));
    return () => this.#time.cancel(entry);
  }

  /** The process receives an object's change now. */
  hears(plural: string, name: string, namespace = ''): void {
    const { cause } = this.#time;
    if (cause === undefined || cause.afterFault)
      this.#time.receivedAt.set(`${this.#process} ${plural} ${namespace}/${name}`, this.#time.now);
  }

  /** The process receives the effect of an injected fault now. */
  noteFault(): void {
    this.#time.noteFault();
  }

  clearTimeout(handle: unknown): void {
    if (handle !== undefined) this.#time.cancel(handle as Entry);
  }

  schedule(afterMs: number, run: () => void): () => void {
    const entry = this.setTimeout(run, afterMs);
    return () => this.clearTimeout(entry);
  }

  get alive(): boolean {
    return this.#alive;
  }

  get stopped(): boolean {
    return this.#held !== undefined;
  }

  /** No timer or message of the process runs any more. */
  end(): void {
    this.#alive = false;
    this.#held = undefined;
    this.#late = [];
  }

  /** SIGSTOP. @param asleep the machine sleeps: the monotonic clock does not count the time. @returns SIGCONT for this stop only */
  stop(asleep: boolean): () => void {
    this.#held = this.#late;
    this.#late = [];
    const stop = { since: this.#time.now, asleep };
    this.#stop = stop;
    return () => {
      if (this.#stop === stop) this.continue();
    };
  }

  /** SIGCONT: what became due runs now, before everything that becomes due from now on. */
  continue(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (this.#stop?.asleep === true) {
      const slept = this.#time.now - this.#stop.since;
      this.#lost += slept;
      this.#steadyOff = Math.max(this.#wallOff, this.#steadyOff - slept);
    }
    this.#stop = undefined;
    for (const run of held) this.#runLate(run);
  }

  /** Whether its machine slept: the process cannot know how long. */
  get overslept(): boolean {
    return this.#lost > 0;
  }

  /** Milliseconds that the date used by the process is off. */
  get dateOffMs(): number {
    return this.#steadyOff;
  }

  /** The date used by the process: it is never set back. */
  get steadyDate(): number {
    return EPOCH + this.#time.now + this.#steadyOff;
  }

  /** That date, and the one before a recent jump: writes decided by the earlier one may still be under way. */
  get steadyDates(): readonly number[] {
    const { at, off } = this.#jumped;
    return this.#time.now - at < DECIDED_MS ? [this.steadyDate, EPOCH + this.#time.now + off] : [this.steadyDate];
  }

  /** Sets the wall clock forward or back. */
  jump(ms: number): void {
    this.#jumped = { at: this.#time.now, off: this.#steadyOff };
    this.#wallOff += ms;
    this.#steadyOff = Math.max(this.#steadyOff, this.#wallOff);
  }

  #run(run: () => void): void {
    if (!this.#alive) return;
    if (this.#held !== undefined) this.#held.push(run);
    else if (this.#late.length > 0) this.#runLate(run);
    else run();
  }

  #runLate(run: () => void): void {
    this.#late.push(run);
    this.#time.after(0, () => this.#late.shift()?.());
  }
}
