/**
 * Tells a server that has not caught up yet from a cluster that was put back to an earlier state, as by a backup of its files. The one is ahead
 * again within moments, or another member is; the other stays behind what was read for ever, and has to be taken as it is.
 */
export class Setback {
  readonly #patienceMs: number;
  #first: number | undefined;
  #last = 0;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** A server that is behind was met. @returns whether none that is ahead was found in all the time since the first of them */
  met(now: number): boolean {
    // One that was met long ago says nothing: in between there was no server at all.
    if (this.#first === undefined || now - this.#last > this.#patienceMs) this.#first = now;
    this.#last = now;
    return now - this.#first >= this.#patienceMs;
  }

  /** A server that is not behind was found, or one that is was taken. */
  over(): void {
    this.#first = undefined;
  }
}
