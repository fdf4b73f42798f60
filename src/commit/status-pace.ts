/**
 * Limits the status writes of a Subnet to one a second, because each address that is allocated or released changes its counts. A status
 * that waits is not submitted: the object is compared again after the second. Other writes of the object do not wait.
 */
import type { ObjectId } from '../compile/output.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import { traitsOf } from '../world/resources.ts';

export interface StatusPaceOptions {
  readonly later: (ms: number, run: () => void) => void;
  /** Called when the second is over for an object with a waiting status. */
  readonly look: (id: ObjectId) => void;
}

const INTERVAL_MS = 1_000;

export class StatusPace {
  readonly #options: StatusPaceOptions;
  /** Objects with a status sent within the interval, and whether another one waits. */
  readonly #sent = new Map<ObjectId, { left: 'waits' | 'nothing' }>();

  constructor(options: StatusPaceOptions) {
    this.#options = options;
  }

  get quiet(): boolean {
    for (const { left } of this.#sent.values()) if (left === 'waits') return false;
    return true;
  }

  /** @returns whether the write has to wait. If not, the caller must send it, and the next one waits */
  waits(id: ObjectId, write: ObjectWrite): boolean {
    if (!isPaced(write)) return false;
    const before = this.#sent.get(id);
    if (before !== undefined) {
      before.left = 'waits';
      return true;
    }
    const turn: { left: 'waits' | 'nothing' } = { left: 'nothing' };
    this.#sent.set(id, turn);
    this.#options.later(INTERVAL_MS, () => {
      if (this.#sent.get(id) !== turn) return;
      this.#sent.delete(id);
      if (turn.left === 'waits') this.#options.look(id);
    });
    return false;
  }

  /** To be called after an object was compared, with its due writes. */
  compared(id: ObjectId, writes: readonly ObjectWrite[]): void {
    const turn = this.#sent.get(id);
    if (turn?.left === 'waits' && !writes.some(isPaced)) turn.left = 'nothing';
  }

  /** The write failed: the interval ends, and the write delay after a failure applies. */
  failed(id: ObjectId, write: ObjectWrite): void {
    if (isPaced(write)) this.#sent.delete(id);
  }
}

function isPaced(write: ObjectWrite): boolean {
  return write.verb === 'patch' && write.subresource === 'status' && traitsOf(write.resource).pacedStatus === true;
}
