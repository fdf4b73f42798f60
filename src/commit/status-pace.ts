/**
 * The least time between two statuses of one Subnet: each address that comes or goes changes its counts. What waits for its turn is not
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
  /** Whose status was written within the interval; whether another one waits. */
  readonly #written = new Map<ObjectId, 'waits' | 'nothing'>();

  constructor(options: StatusPaceOptions) {
    this.#options = options;
  }

  get quiet(): boolean {
    for (const left of this.#written.values()) if (left === 'waits') return false;
    return true;
  }

  /** @returns whether it is too soon for this write. One that does not wait is to be sent: the next one waits */
  waits(id: ObjectId, write: ObjectWrite): boolean {
    if (!isPaced(write)) return false;
    if (this.#written.has(id)) {
      this.#written.set(id, 'waits');
      return true;
    }
    this.#written.set(id, 'nothing');
    this.#options.later(INTERVAL_MS, () => this.#turn(id));
    return false;
  }

  /** An object was compared: these writes are due. */
  compared(id: ObjectId, writes: readonly ObjectWrite[]): void {
    if (this.#written.get(id) === 'waits' && !writes.some(isPaced)) this.#written.set(id, 'nothing');
  }

  #turn(id: ObjectId): void {
    const left = this.#written.get(id);
    this.#written.delete(id);
    if (left === 'waits') this.#options.look(id);
  }
}

function isPaced(write: ObjectWrite): boolean {
  return write.verb === 'patch' && write.subresource === 'status' && write.resource === 'subnets';
}
