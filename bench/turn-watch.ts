/**
 * Reports what happened in the longest turn of the event loop, and how much of it was this thread's own processor time: the rest went to
 * other programs.
 */
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';

const BEAT_MS = 20;

export interface LongestTurn {
  readonly ms: number;
  /** Processor time of the main thread. */
  readonly ownMs: number;
  /** Garbage collections in it. */
  readonly collectionMs: number;
  /** The activity when it began, and when it ended. */
  readonly from: string;
  readonly to: string;
}

export class TurnWatch {
  readonly #doing: () => string;
  #longest: (Omit<LongestTurn, 'collectionMs'> & { readonly began: number; readonly ended: number }) | undefined;
  /** Node reports them only after the turn. */
  #collections: PerformanceEntry[] = [];
  #beat: NodeJS.Timeout | undefined;
  /** Collections of the whole heap since the process began. */
  tidied = 0;

  /** @param doing returns the current activity, in a few words */
  constructor(doing: () => string) {
    this.#doing = doing;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { readonly detail?: { readonly kind: number } })[]) {
        this.#collections.push(entry);
        if (entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR) this.tidied++;
      }
    }).observe({ entryTypes: ['gc'] });
  }

  start(): void {
    let last = this.#now();
    this.#beat = setInterval(() => {
      const now = this.#now();
      const ms = now.at - last.at - BEAT_MS;
      if (ms > (this.#longest?.ms ?? 0))
        this.#longest = { ms, ownMs: now.own - last.own, from: last.doing, to: now.doing, began: last.at, ended: now.at };
      last = now;
    }, BEAT_MS);
    this.#beat.unref();
  }

  /** The longest turn since `start`. It ends the measurement: fifty checks a second take half a percent of a core. */
  end(): LongestTurn {
    clearInterval(this.#beat);
    const { began, ended, ...turn } = this.#longest ?? { ms: 0, ownMs: 0, from: '', to: '', began: 0, ended: 0 };
    const within = this.#collections.filter(({ startTime }) => startTime >= began && startTime < ended);
    this.#longest = undefined;
    this.#collections = [];
    return { ...turn, collectionMs: within.reduce((sum, { duration }) => sum + duration, 0) };
  }

  #now(): { readonly at: number; readonly own: number; readonly doing: string } {
    const { user, system } = process.threadCpuUsage();
    return { at: performance.now(), own: (user + system) / 1_000, doing: this.#doing() };
  }
}
