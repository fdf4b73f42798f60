/** Writes our term into NB_Global again after another program rewrote the map; ends the leadership where another process has a newer one. */
import type { Fence } from './fence.ts';
import { RETRY_MS } from './send-pause.ts';

export interface TermRepairOptions {
  readonly fence: Fence;
  /** Another process leads. */
  readonly deposed: () => void;
  readonly later: (ms: number, run: () => void) => void;
  readonly wake: () => void;
}

export class TermRepair {
  readonly #options: TermRepairOptions;
  /** The term was written again just now, or is being written. */
  #isUnderWay = false;

  constructor(options: TermRepairOptions) {
    this.#options = options;
  }

  /** The fence does not hold. */
  begin(): void {
    const { fence, deposed, wake } = this.#options;
    if (fence.state().kind === 'deposed') {
      fence.drop();
      deposed();
      return;
    }
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    // The key is gone or older while the lease is surely our own: another program rewrote the map. One that does so all the time is followed once a second.
    void fence.restore().then((restored) => {
      if (restored) wake();
      this.#rest();
    });
  }

  /** For a while: a term that was written over again meanwhile, or could not be written, is looked at then. */
  #rest(): void {
    const { fence, later, wake } = this.#options;
    later(RETRY_MS, () => {
      this.#isUnderWay = false;
      if (fence.state().kind !== 'held') wake();
    });
  }
}
