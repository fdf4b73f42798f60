/**
 * Time as rules see it: whether a moment has passed. A rule that asks about a moment still to come is run again when it
 * has; nothing else about time can be read, so rules stay pure. The controller advances it, and sets a timer for `next`.
 */
import type { Reactor } from './reactor.ts';
import { Source } from './reactor.ts';

const SECOND = 1000;

class Moment extends Source {
  readonly #forget: () => void;

  constructor(forget: () => void) {
    super();
    this.#forget = forget;
  }

  protected override abandoned(): void {
    this.#forget();
  }
}

export class Deadlines {
  readonly #reactor: Reactor;
  /** Moments that computations wait for, in whole seconds so that a wave of deletions shares a few of them. */
  readonly #awaited = new Map<number, Source>();
  #now = 0;
  #next: number | undefined;

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  /** @param moment milliseconds since the epoch; taken as the end of its second */
  passed(moment: number): boolean {
    const at = Math.ceil(moment / SECOND) * SECOND;
    if (at <= this.#now) return true;
    if (!this.#reactor.tracking) return false;
    let source = this.#awaited.get(at);
    if (source === undefined) {
      source = new Moment(() => this.#forget(at));
      this.#awaited.set(at, source);
      if (this.#next === undefined || at < this.#next) this.#next = at;
    }
    this.#reactor.track(source);
    return false;
  }

  /** The earliest moment that something waits for; undefined when nothing does. */
  get next(): number | undefined {
    return this.#next;
  }

  /** Moves time on; a moment that has passed stays passed. */
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
