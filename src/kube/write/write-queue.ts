import { LaneQueue } from '../fairness/lane-queue.ts';

/**
 * Most writes in flight that are not urgent, while there are urgent ones. A server handles all requests concurrently, so an urgent write
 * competes with everything in flight.
 */
const BESIDE_URGENT = 8;
/** Urgent writes come in steps: the next one of the same object usually follows within this time. */
const STEP_MS = 200;

/**
 * A share may use so many times the number of free requests. Alone it uses three quarters of all. If its writes hang, it leaves room for a
 * second share, and that one for a third.
 */
const OF_WHAT_IS_FREE = 3;

/** What the queue knows of a waiting write. */
export interface Turn {
  readonly lane: string;
  /** The namespace that it counts for; empty for the cluster. */
  readonly share: string;
  readonly urgent: boolean;
}

/**
 * The order of writes: urgent ones before all others, of which only a few are in flight meanwhile. Within both groups shares take turns.
 * Pure: the caller passes the time.
 */
export class WriteQueue<E> {
  readonly #concurrency: number;
  readonly #urgent = new LaneQueue<E>();
  readonly #others = new LaneQueue<E>();
  #urgentInFlight = 0;
  #othersInFlight = 0;
  readonly #inFlight = new Map<string, number>();
  #urgentUntil = -Infinity;
  #heldBack = false;

  /** @param concurrency most writes in flight, urgent or not */
  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  add(turn: Turn, entry: E): void {
    this.#of(turn).add(turn.lane, turn.share, entry);
  }

  remove(turn: Turn, entry: E): void {
    this.#of(turn).remove(turn.lane, turn.share, entry);
  }

  /** The next entry that may be sent; undefined: there is none, or none yet. */
  take(now: number): E | undefined {
    this.#heldBack = false;
    const free = this.#concurrency - this.#urgentInFlight - this.#othersInFlight;
    if (free <= 0) return undefined;
    const hasRoom = (share: string): boolean => (this.#inFlight.get(share) ?? 0) < OF_WHAT_IS_FREE * free;
    const urgent = this.#urgent.take(hasRoom);
    if (urgent !== undefined) return urgent;
    const most = this.#isUrgent(now) ? Math.min(BESIDE_URGENT, this.#concurrency) : this.#concurrency;
    if (this.#othersInFlight < most) return this.#others.take(hasRoom);
    this.#heldBack = true;
    return undefined;
  }

  /**
   * When the entries that `take` holds back may go if no urgent one is added; undefined if it holds none back, or if the end of an urgent
   * one comes first.
   */
  get heldUntil(): number | undefined {
    return this.#heldBack && this.#urgentInFlight === 0 ? this.#urgentUntil : undefined;
  }

  started({ urgent, share }: Turn, now: number): void {
    this.#inFlight.set(share, (this.#inFlight.get(share) ?? 0) + 1);
    if (urgent) {
      this.#urgentInFlight++;
      this.#urgentUntil = now + STEP_MS;
    } else this.#othersInFlight++;
  }

  ended({ urgent, share }: Turn, now: number): void {
    const left = (this.#inFlight.get(share) ?? 0) - 1;
    if (left > 0) this.#inFlight.set(share, left);
    else this.#inFlight.delete(share);
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
