/**
 * Brings changes of the Northbound replica into the World: few rows at once, very many (the first contents of a large database) in steps,
 * so that the Lease is renewed and probes are answered meanwhile. Batches enter one after the other.
 */
import type { Clock } from '../../timing/clock.ts';
import type { Replica, RowChange } from '../../ovsdb/index.ts';
import type { ObservedRows } from '../../world/observed-rows.ts';

/** Rows that take some tens of milliseconds. */
const AT_ONCE = 2_000;

export interface RowIntakeOptions {
  readonly rows: Pick<ObservedRows, 'apply' | 'applying'>;
  readonly clock: Clock;
  /** Longest duration of a step. */
  readonly stepMs: number;
  readonly defer: (step: () => void) => void;
  /** Called when all rows are in the World. */
  readonly done: () => void;
}

export class RowIntake {
  readonly #options: RowIntakeOptions;
  readonly #waiting: Iterator<void>[] = [];
  #filled = false;

  constructor(options: RowIntakeOptions) {
    this.#options = options;
  }

  /** Whether rows are pending: the World's rows are not one consistent state. */
  get busy(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether the first contents are still pending. */
  get filling(): boolean {
    return this.busy && !this.#filled;
  }

  take(replica: Replica, batch: readonly RowChange[]): void {
    const { rows, defer } = this.#options;
    if (!this.busy && batch.length <= AT_ONCE) {
      rows.apply(replica, batch);
      return this.#finish();
    }
    this.#waiting.push(rows.applying(replica, batch));
    if (this.#waiting.length === 1) defer(() => this.#step());
  }

  #step(): void {
    const { clock, stepMs, defer } = this.#options;
    const until = clock.now() + stepMs;
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (first.next().done === true) this.#waiting.shift();
      if (clock.now() > until) break;
    }
    if (this.busy) defer(() => this.#step());
    else this.#finish();
  }

  #finish(): void {
    this.#filled = true;
    this.#options.done();
  }
}
