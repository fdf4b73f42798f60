import { LaneQueue } from './lane-queue.ts';

/**
 * So many writes that are not urgent may be in flight while there are urgent ones. A server works on all requests at the same time, so an
 * urgent write competes with everything that is in flight already.
 */
const BESIDE_URGENT = 8;
/** Urgent writes come in steps: the next one for the same object follows within about this time. */
const STEP_MS = 200;

/** What is known of a write that waits its turn. */
export interface Turn {
  readonly lane: string;
  readonly urgent: boolean;
}

/** Which write goes next: urgent ones before all others, of which only a few are in flight meanwhile. Pure: the time is given. */
export class WriteQueue<E> {
  readonly #concurrency: number;
  readonly #urgent = new LaneQueue<E>();
  readonly #others = new LaneQueue<E>();
  #urgentInFlight = 0;
  #othersInFlight = 0;
  #urgentUntil = -Infinity;
  #heldBack = false;

  /** @param concurrency in flight at once, of all kinds */
  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  add(turn: Turn, entry: E): void {
    this.#of(turn).add(turn.lane, entry);
  }

  remove(turn: Turn, entry: E): void {
    this.#of(turn).remove(turn.lane, entry);
  }

  /** The next that may be sent; undefined where there is none, or none yet. */
  take(now: number): E | undefined {
    this.#heldBack = false;
    if (this.#urgentInFlight + this.#othersInFlight >= this.#concurrency) return undefined;
    const urgent = this.#urgent.take();
    if (urgent !== undefined) return urgent;
    const most = this.#isUrgent(now) ? Math.min(BESIDE_URGENT, this.#concurrency) : this.#concurrency;
    if (this.#othersInFlight < most) return this.#others.take();
    this.#heldBack = true;
    return undefined;
  }

  /**
   * When those that `take` holds back may all go, if nothing urgent comes before; undefined where it holds none back, and where the end of
   * an urgent one comes before.
   */
  get heldUntil(): number | undefined {
    return this.#heldBack && this.#urgentInFlight === 0 ? this.#urgentUntil : undefined;
  }

  started({ urgent }: Turn, now: number): void {
    if (urgent) {
      this.#urgentInFlight++;
      this.#urgentUntil = now + STEP_MS;
    } else this.#othersInFlight++;
  }

  ended({ urgent }: Turn, now: number): void {
    if (urgent) {
      this.#urgentInFlight--;
      this.#urgentUntil = now + STEP_MS;
    } else this.#othersInFlight--;
  }

  #isUrgent(now: number): boolean {
    return this.#urgentInFlight > 0 || now < this.#urgentUntil;
  }

  #of({ urgent }: Turn): LaneQueue<E> {
    return urgent ? this.#urgent : this.#others;
  }
}
