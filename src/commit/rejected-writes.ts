/**
 * Writes that the API server refused, as a table of the World, and until when each rests, whatever happens to its object meanwhile. Rules
 * read the table: they report the refusal on an object, and give back what depends on the write. A server that does not answer has not
 * refused anything: while it is away, nothing is given back.
 */
import type { ObjectId } from '../compile/output.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { KubeError, KubeErrorCode } from '../kube/errors.ts';
import { FairMemory } from '../kube/fair-memory.ts';
import { hash32 } from '../nb/row-id.ts';
import type { RejectedWrite } from '../world/rejected-writes.ts';
import { rejectionKey } from '../world/rejected-writes.ts';
import type { Table } from '../world/table.ts';
import { partOf, uidOf } from './write-part.ts';
import { shareOf } from './write-share.ts';

const FIRST_MS = 5_000;
/** When a policy is lifted, that is noticed within this time. */
const LONGEST_MS = 30_000;
/** A write that was not tried again for so long is no longer wanted. */
const FORGOTTEN_MS = 300_000;
const MOST_TEXT = 500;
/** Their pods may be gone since. Of one namespace, and of all. */
const MOST_DOUBTED = [1_000, 10_000] as const;

const REFUSALS: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_BAD_REQUEST',
  'KUBE_FORBIDDEN',
  'KUBE_DENIED',
  'KUBE_NOT_SERVED',
  'KUBE_INVALID',
  'KUBE_TOO_LARGE',
  'KUBE_WEBHOOK_FAILED',
  // Of one write after many attempts; the whole server is not what fails then.
  'KUBE_INTERNAL',
]);

export interface RejectedWritesOptions {
  readonly table: Table<RejectedWrite>;
  /** Milliseconds since the epoch; never goes back. */
  readonly date: () => number;
  readonly later: (ms: number, run: () => void) => void;
  /** The time of one has come. */
  readonly due: (id: ObjectId) => void;
}

export class RejectedWrites {
  readonly #options: RejectedWritesOptions;
  /** Whether these were carried out is not known: what the next round of attempts meets tells. By key and uid. */
  readonly #doubted = new FairMemory<true>(...MOST_DOUBTED);
  #sweeping = false;

  constructor(options: RejectedWritesOptions) {
    this.#options = options;
  }

  /** False while one rests: it is to be tried again. */
  get quiet(): boolean {
    const { table, date } = this.#options;
    if (table.size === 0) return true;
    const now = date();
    for (const [, { until }] of table.entries()) if (until > now) return false;
    return true;
  }

  /** Whether its time has not come yet. */
  rests(write: ObjectWrite): boolean {
    if (write.verb === 'evict' || this.#options.table.size === 0) return false;
    const rejected = this.#options.table.peek(rejectionKey(write.resource, keyOf(write), partOf(write)));
    return rejected?.uid === uidOf(write) && rejected.until > this.#options.date();
  }

  /**
   * The server answered.
   * @param error undefined where it took the write
   * @returns whether it refused what was written, and the write rests until its time has come
   */
  answered(id: ObjectId, write: ObjectWrite, error: KubeError | undefined): boolean {
    if (write.verb === 'evict') return false;
    const { table, date, later } = this.#options;
    const part = partOf(write);
    const key = rejectionKey(write.resource, keyOf(write), part);
    const uid = uidOf(write);
    const doubt = `${key} ${uid}`;
    const share = shareOf(write.resource, write.namespace, write.verb === 'create' ? write.object : undefined);
    const doubted = this.#doubted.delete(share, doubt);
    if (error === undefined) {
      table.delete(key);
      return false;
    }
    if (!REFUSALS.has(error.code)) return false;
    if (error.outcomeUnknown && !doubted) {
      this.#doubted.set(share, doubt, true);
      return false;
    }
    const before = table.peek(key);
    const times = before?.uid === uid ? before.times + 1 : 1;
    const pause = pauseOf(key, times);
    table.set(key, {
      resource: write.resource,
      key: keyOf(write),
      part,
      uid,
      message: error.detail.slice(0, MOST_TEXT),
      times,
      until: date() + pause,
    });
    later(pause, () => this.#end(key, id));
    this.#sweepLater();
    return true;
  }

  /** By the timer, whatever the date is then: it may end a millisecond before the date says so, and there is no other. */
  #end(key: string, id: ObjectId): void {
    const { table, date, due } = this.#options;
    const rejected = table.peek(key);
    const now = date();
    if (rejected !== undefined && rejected.until > now) table.set(key, { ...rejected, until: now });
    due(id);
  }

  #sweepLater(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    this.#options.later(FORGOTTEN_MS, () => {
      this.#sweeping = false;
      const { table, date } = this.#options;
      const old = [...table.entries()].filter(([, { until }]) => until + FORGOTTEN_MS <= date());
      for (const [name] of old) table.delete(name);
      if (table.size > 0) this.#sweepLater();
    });
  }
}

function keyOf({ namespace, name }: ObjectWrite): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Doubles; those that were refused together do not come back together. */
function pauseOf(key: string, times: number): number {
  const pause = Math.min(FIRST_MS * 2 ** (times - 1), LONGEST_MS);
  return pause * (1 - (hash32(key, times) % 256) / 1_024);
}
