/**
 * Time as rules see it: whether a deadline has passed. A rule that reads a deadline in the future runs again when it has passed. Rules
 * can read nothing else of time, so they stay pure. The controller advances the time, and sets a timer for `next`.
 */
import type { Reactor } from './reactor.ts';
import { Source } from './source.ts';

const SECOND = 1000;

class Deadline extends Source {
  readonly #forget: () => void;

  constructor(forget: () => void) {
    super();
    this.#forget = forget;
  }

  protected override onUnread(): void {
    this.#forget();
  }
}

export class Deadlines {
  readonly #reactor: Reactor;
  /** Deadlines that computations wait for, in whole seconds: a wave of deletions shares a few of them. */
  readonly #awaited = new Map<number, Source>();
  #now = 0;
  #next: number | undefined;

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  /** @param deadline milliseconds since the epoch, rounded up to the second */
  passed(deadline: number): boolean {
    const at = Math.ceil(deadline / SECOND) * SECOND;
    if (at <= this.#now) return true;
    if (!this.#reactor.tracking) return false;
    let source = this.#awaited.get(at);
    if (source === undefined) {
      source = new Deadline(() => this.#forget(at));
      this.#awaited.set(at, source);
      if (this.#next === undefined || at < this.#next) this.#next = at;
    }
    this.#reactor.track(source);
    return false;
  }

  /** The earliest deadline that a computation waits for; undefined for none. */
  get next(): number | undefined {
    return this.#next;
  }

  /** Advances the time; a deadline that has passed stays passed. */
  advance(now: number): void {
    if (now <= this.#now) return;
    this.#now = now;
    if (this.#next === undefined || this.#next > now) return;
    for (const [at, source] of this.#awaited) {
      if (at > now) continue;
      this.#forget(at);
      this.#reactor.touch(source);
    }
  }

  #forget(at: number): void {
    this.#awaited.delete(at);
    if (at !== this.#next) return;
    this.#next = undefined;
    for (const other of this.#awaited.keys()) if (this.#next === undefined || other < this.#next) this.#next = other;
  }
}
