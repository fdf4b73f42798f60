/**
 * Finds out whether the database was rolled back, for example restored from a backup. A single server may be behind what was read, because
 * it has not caught up, or may be of another cluster by mistake: the session leaves it and finds a current member within seconds. If it
 * finds none for `patienceMs`, the cluster was rolled back or made anew, and the session accepts its contents.
 */
export class RollbackDetector {
  readonly #patienceMs: number;
  #first: number | undefined;
  #last = 0;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** A server that lacks what was read was seen. @returns whether all servers since the first such one lacked it, for `patienceMs` */
  olderServerSeen(now: number): boolean {
    // An old sighting does not count: in between there was no server at all.
    if (this.#first === undefined || now - this.#last > this.#patienceMs) this.#first = now;
    this.#last = now;
    return now - this.#first >= this.#patienceMs;
  }

  /** A current server was found, or an older one was accepted. */
  reset(): void {
    this.#first = undefined;
  }
}
