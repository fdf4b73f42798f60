/**
 * Writes that the API server rejected, as a table of the World. Each is in backoff until a deadline, whatever happens to its object
 * meanwhile. Rules read the table: they report the rejection on an object, and release what depends on the write. A server that does not
 * answer has not rejected anything: during an outage nothing is released.
 */
import { doublingDelay } from '../timing/backoff.ts';
import type { ObjectId } from '../compile/output.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { KubeError, KubeErrorCode } from '../kube/errors.ts';
import { FairMemory } from '../kube/fairness/fair-memory.ts';
import { hash32 } from '../nb/row-id.ts';
import type { RejectedWrite } from '../world/rejected-writes.ts';
import { rejectionKey } from '../world/rejected-writes.ts';
import type { Table } from '../engine/table.ts';
import { partOf, uidOf } from './write-part.ts';
import { shareOf } from './write-share.ts';

const FIRST_MS = 5_000;
/** Longest backoff. So the removal of a policy takes effect within this time. */
const LONGEST_MS = 30_000;
/** A write that was not tried again for so long is no longer due. */
const FORGOTTEN_MS = 300_000;
const MOST_TEXT = 500;
/** Most writes of unknown outcome remembered, of one namespace and of all. */
const MOST_DOUBTED = [1_000, 10_000] as const;

const REJECTIONS: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_BAD_REQUEST',
  'KUBE_FORBIDDEN',
  'KUBE_DENIED',
  'KUBE_NOT_SERVED',
  'KUBE_INVALID',
  'KUBE_TOO_LARGE',
  'KUBE_WEBHOOK_FAILED',
  // After many attempts of one write: then the fault is in this write, not in the whole server.
  'KUBE_INTERNAL',
]);

export interface RejectedWritesOptions {
  readonly table: Table<RejectedWrite>;
  /** Milliseconds since the epoch; never goes back. */
  readonly monotonicNow: () => number;
  readonly later: (ms: number, run: () => void) => void;
  /** Called when a backoff is over. */
  readonly due: (id: ObjectId) => void;
}

export class RejectedWrites {
  readonly #options: RejectedWritesOptions;
  /** Writes of unknown outcome, by key and uid: the next attempt shows whether they took effect. */
  readonly #doubted = new FairMemory<true>(...MOST_DOUBTED);
  #sweeping = false;

  constructor(options: RejectedWritesOptions) {
    this.#options = options;
  }

  /** False while a write is in backoff: it will be tried again. */
  get quiet(): boolean {
    const { table, monotonicNow } = this.#options;
    if (table.size === 0) return true;
    const now = monotonicNow();
    for (const [, { until }] of table.entries()) if (until > now) return false;
    return true;
  }

  /** The next try of the write is not due yet. */
  inBackoff(write: ObjectWrite): boolean {
    if (write.verb === 'evict' || this.#options.table.size === 0) return false;
    const rejected = this.#options.table.peek(rejectionKey(write.resource, keyOf(write), partOf(write)));
    return rejected?.uid === uidOf(write) && rejected.until > this.#options.monotonicNow();
  }

  /**
   * Takes the answer of the server.
   * @param error undefined: it accepted the write
   * @returns whether it rejected the write, which is in backoff now
   */
  answered(id: ObjectId, write: ObjectWrite, error: KubeError | undefined): boolean {
    if (write.verb === 'evict') return false;
    const { table, monotonicNow, later } = this.#options;
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
    if (!REJECTIONS.has(error.code)) return false;
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
      until: monotonicNow() + pause,
    });
    later(pause, () => this.#end(key, id));
    this.#sweepLater();
    return true;
  }

  /** Ends the backoff when the timer fires, even if the clock is a millisecond behind `until`: there is no second timer. */
  #end(key: string, id: ObjectId): void {
    const { table, monotonicNow, due } = this.#options;
    const rejected = table.peek(key);
    const now = monotonicNow();
    if (rejected !== undefined && rejected.until > now) table.set(key, { ...rejected, until: now });
    due(id);
  }

  #sweepLater(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    this.#options.later(FORGOTTEN_MS, () => {
      this.#sweeping = false;
      const { table, monotonicNow } = this.#options;
      const old = [...table.entries()].filter(([, { until }]) => until + FORGOTTEN_MS <= monotonicNow());
      for (const [name] of old) table.delete(name);
      if (table.size > 0) this.#sweepLater();
    });
  }
}

function keyOf({ namespace, name }: ObjectWrite): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Doubles each time, with jitter: writes that were rejected together are not repeated together. */
function pauseOf(key: string, times: number): number {
  const pause = doublingDelay(times - 1, FIRST_MS, LONGEST_MS);
  return pause * (1 - (hash32(key, times) % 256) / 1_024);
}
