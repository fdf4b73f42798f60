import { LaneQueue } from './lane-queue.ts';

/**
 * So many writes that are not urgent may be in flight while there are urgent ones. A server works on all requests at the same time, so an
 * urgent write competes with everything that is in flight already.
 */
const BESIDE_URGENT = 8;
/** Urgent writes come in steps: the next one for the same object follows within about this time. */
const STEP_MS = 200;

/**
 * A share may have so many times as much in flight as is left free. Alone it has three quarters of all; where its writes hang it leaves room
 * for another one, and that one for the next.
 */
const OF_WHAT_IS_FREE = 3;

/** What is known of a write that waits its turn. */
export interface Turn {
  readonly lane: string;
  /** The namespace that it is for; empty for the cluster. */
  readonly share: string;
  readonly urgent: boolean;
}

/**
 * Which write goes next: urgent ones before all others, of which only a few are in flight meanwhile. Among each of the two, shares take turns.
 * Pure: the time is given.
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

  /** @param concurrency in flight at once, of all kinds */
  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  add(turn: Turn, entry: E): void {
    this.#of(turn).add(turn.lane, turn.share, entry);
  }

  remove(turn: Turn, entry: E): void {
    this.#of(turn).remove(turn.lane, turn.share, entry);
  }

  /** The next that may be sent; undefined where there is none, or none yet. */
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
   * When those that `take` holds back may all go, if nothing urgent comes before; undefined where it holds none back, and where the end of
   * an urgent one comes before.
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
