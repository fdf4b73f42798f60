/** Work that is done one piece at a time, in the order in which it came; all else of the process has its turn between two pieces. */
import { setImmediate as soon } from 'node:timers/promises';

export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** @returns when it is done; rejects as the work throws, and the next goes on all the same */
  take(work: () => void): Promise<void> {
    const done = this.#last.then(() => soon()).then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
