/**
 * Writes our term into NB_Global again after another program rewrote the map; ends the leadership where another process has a newer one.
 */
import type { Fence } from './fence.ts';
import { RETRY_MS } from './send-pause.ts';

export interface TermRepairOptions {
  readonly fence: Fence;
  /** Called when another process has a newer term. */
  readonly deposed: () => void;
  readonly later: (ms: number, run: () => void) => void;
  readonly wake: () => void;
}

export class TermRepair {
  readonly #options: TermRepairOptions;
  /** Whether the term is being written, or was written just now. */
  #isUnderWay = false;

  constructor(options: TermRepairOptions) {
    this.#options = options;
  }

  /** To be called when the fence is not held. */
  begin(): void {
    const { fence, deposed, wake } = this.#options;
    if (fence.state().kind === 'deposed') {
      fence.drop();
      deposed();
      return;
    }
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    // The key is missing or older while this process certainly holds the Lease: another program rewrote the map. Repaired at most once a
    // second.
    void fence.restore().then((restored) => {
      if (restored) wake();
      this.#recheckLater();
    });
  }

  /** Waits a second, then checks again whether the term was overwritten or could not be written. */
  #recheckLater(): void {
    const { fence, later, wake } = this.#options;
    later(RETRY_MS, () => {
      this.#isUnderWay = false;
      if (fence.state().kind !== 'held') wake();
    });
  }
}
