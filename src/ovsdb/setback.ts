/**
 * Tells a server that is not the right one from what the right ones have become. A server may be behind what was read, or of another cluster: it
 * has not caught up yet, or was set up by mistake, and within moments a member is found that is as far. Where none is, the cluster was put back
 * to an earlier state, or made anew, as from a backup, and has to be taken as it is.
 */
export class Setback {
  readonly #patienceMs: number;
  #first: number | undefined;
  #last = 0;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** A server without what was read was met. @returns whether none that has it was found in all the time since the first of them */
  met(now: number): boolean {
    // One that was met long ago says nothing: in between there was no server at all.
    if (this.#first === undefined || now - this.#last > this.#patienceMs) this.#first = now;
    this.#last = now;
    return now - this.#first >= this.#patienceMs;
  }

  /** A server that has what was read was found, or one without it was taken. */
  over(): void {
    this.#first = undefined;
  }
}
