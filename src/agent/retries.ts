/** When a write that failed may be tried again, and the reason for rules to report. */
import { doublingDelay } from '../timing/backoff.ts';
import type { Clock } from '../timing/clock.ts';
import type { NodeWorld } from './world/node-world.ts';

const FIRST_MS = 200;
const LONGEST_MS = 10_000;

interface Failing {
  readonly attempts: number;
  readonly until: number;
}

export class Retries {
  readonly #clock: Clock;
  readonly #world: NodeWorld;
  readonly #wake: () => void;
  readonly #failing = new Map<string, Failing>();

  constructor(clock: Clock, world: NodeWorld, wake: () => void) {
    this.#clock = clock;
    this.#world = world;
    this.#wake = wake;
  }

  mustWait(id: string): boolean {
    return this.#clock.now() < (this.#failing.get(id)?.until ?? 0);
  }

  succeeded(id: string): void {
    this.#failing.delete(id);
    this.#world.failures.delete(id);
  }

  /** It is not tried again by itself. */
  stays(id: string, reason: string): void {
    if (this.#world.failures.peek(id) !== reason) this.#world.failures.set(id, reason);
  }

  /** @param reason for the pod's Event */
  failed(id: string, reason: string): void {
    const attempts = this.#failing.get(id)?.attempts ?? 0;
    const delay = doublingDelay(attempts, FIRST_MS, LONGEST_MS);
    this.#failing.set(id, { attempts: attempts + 1, until: this.#clock.now() + delay });
    this.#world.failures.set(id, reason);
    this.#clock.setTimeout(this.#wake, delay + 1);
  }
}
