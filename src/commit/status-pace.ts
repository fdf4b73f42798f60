/**
 * The least time between two statuses of one Subnet that are written: each address that comes or goes changes its counts. What waits for its turn is not
 * submitted: it is compared again when that has come, and keeps no other write of the object.
 */
import type { ObjectId } from '../compile/output.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';

export interface StatusPaceOptions {
  readonly later: (ms: number, run: () => void) => void;
  /** The turn of an object that was told to wait has come. */
  readonly look: (id: ObjectId) => void;
}

const INTERVAL_MS = 1_000;

export class StatusPace {
  readonly #options: StatusPaceOptions;
  /** Whose status was sent within the interval; whether another one waits. */
  readonly #sent = new Map<ObjectId, { left: 'waits' | 'nothing' }>();

  constructor(options: StatusPaceOptions) {
    this.#options = options;
  }

  get quiet(): boolean {
    for (const { left } of this.#sent.values()) if (left === 'waits') return false;
    return true;
  }

  /** @returns whether it is too soon for this write. One that does not wait is to be sent: the next one waits */
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

  /** An object was compared: these writes are due. */
  compared(id: ObjectId, writes: readonly ObjectWrite[]): void {
    const turn = this.#sent.get(id);
    if (turn?.left === 'waits' && !writes.some(isPaced)) turn.left = 'nothing';
  }

  /** It was not written: how long the next one waits is for who retries it. */
  failed(id: ObjectId, write: ObjectWrite): void {
    if (isPaced(write)) this.#sent.delete(id);
  }
}

function isPaced(write: ObjectWrite): boolean {
  return write.verb === 'patch' && write.subresource === 'status' && write.resource === 'subnets';
}
