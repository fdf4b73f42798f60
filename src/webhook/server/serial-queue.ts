/** Runs work one piece at a time, in the order of arrival; between two pieces the event loop runs everything else. */
import { setImmediate as soon } from 'node:timers/promises';

export class SerialQueue {
  #last: Promise<void> = Promise.resolve();

  /** @returns when the work is done; rejects with the work's error, which does not stop the next piece */
  take(work: () => void): Promise<void> {
    const done = this.#last.then(() => soon()).then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
