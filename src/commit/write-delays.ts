/**
 * The write delays: why a due write is not sent now. This list is complete, and is checked in this order. `ends` shows how a delay ends:
 * `turn`: the next turn checks again; `itself`: its end calls `look` for the object. The names are values of label `why` of metric
 * `kiln_api_objects_held`, so they do not change.
 */
import { doublingDelay } from '../timing/backoff.ts';
import { FINALIZER, LEGACY_FINALIZERS } from '../api/well-known.ts';
import type { ObjectId } from '../compile/output.ts';
import type { AnyObject, ObjectWrite } from '../diff/object-diff.ts';
import type { KubeError, KubeErrorCode } from '../kube/errors.ts';
import type { EvictionTurn } from './eviction-limit.ts';
import { EVICTION_RETRY_MS, EVICTION_TURN_MS, EvictionLimit } from './eviction-limit.ts';
import type { RejectedWrites } from './rejected-writes.ts';
import { StatusPace } from './status-pace.ts';
import { removesFinalizer } from './write-part.ts';

export const WRITE_DELAYS = {
  'not-leading': { means: 'this process does not lead, or its first lists are not complete', ends: 'turn' },
  unanswered: { means: 'the last write of the object has no answer yet', ends: 'itself' },
  resting: { means: 'the last write met a newer version of the object, had no effect, or failed', ends: 'itself' },
  refused: { means: 'the API server rejected this write; it is tried again later', ends: 'itself' },
  'catching-up': { means: 'this process may not have observed all writes of an earlier leader', ends: 'turn' },
  'rows-under-way': { means: 'it removes the last finalizer, and a transaction under way may make rows of the object', ends: 'turn' },
  paced: { means: 'the last status of the Subnet was written less than a second ago', ends: 'itself' },
  'others-leave-first': { means: 'it evicts a pod, and the limit of concurrent evictions is reached', ends: 'turn' },
  leaving: { means: 'it evicts a pod with an eviction under way', ends: 'itself' },
} as const satisfies Readonly<Record<string, { readonly means: string; readonly ends: 'turn' | 'itself' }>>;

export type WriteDelay = keyof typeof WRITE_DELAYS;

export interface WriteDelaysOptions {
  readonly observed: (id: ObjectId) => AnyObject | undefined;
  /** Whether a write of the object has no answer yet. */
  readonly unanswered: (id: ObjectId) => boolean;
  readonly mayWrite: () => boolean;
  readonly rejected?: Pick<RejectedWrites, 'inBackoff' | 'answered' | 'quiet'>;
  readonly upToDate?: () => boolean;
  readonly transactionSentAt?: () => number | undefined;
  /** Milliseconds since the epoch; never goes back. */
  readonly monotonicNow: () => number;
  readonly later: (ms: number, run: () => void) => void;
  /** Called when a delay with `ends: 'itself'` is over. */
  readonly look: (id: ObjectId) => void;
}

/** The longest backoff, and the one after a failure that was not caused by the contents of the write. */
const FAILED_MS = 30_000;
const CONFLICT_MS = 200;

/** The cache is older than the server: the version that a retry needs will arrive. */
const OUTDATED: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_CONFLICT',
  'KUBE_NOT_FOUND',
  'KUBE_ALREADY_EXISTS',
  'KUBE_PRECONDITION',
]);
/** The write was not sent. */
const UNSENT: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>(['KUBE_FENCED', 'KUBE_CLOSED', 'KUBE_SUPERSEDED']);

interface Backoff {
  /** `work`: something is left to write. `answer`: the server's answer is final for now, such as that of a disruption budget. */
  readonly left: 'work' | 'answer';
  /** The observed version, if the server has a newer one; undefined: not known. */
  readonly outdated: string | undefined;
}

export class WriteDelays {
  readonly #options: WriteDelaysOptions;
  /** Objects in backoff, until time or a change ends it. */
  readonly #inBackoff = new Map<ObjectId, Backoff>();
  /** Number of backoffs in a row without a change of the object. */
  readonly #backoffs = new Map<ObjectId, number>();
  /** The observed version of the object when a write was sent. */
  readonly #sentFor = new WeakMap<ObjectWrite, string>();
  /** Objects whose release waits for the end of a transaction, by when that was sent. */
  readonly #awaiting = new Map<ObjectId, number>();
  readonly #evictions = new EvictionLimit();
  readonly #pace: StatusPace;
  /** The delay of each object when it was last examined. */
  readonly #held = new Map<ObjectId, WriteDelay>();

  constructor(options: WriteDelaysOptions) {
    this.#options = options;
    this.#pace = new StatusPace(options);
  }

  /** Whether no write is left. A pod kept by its disruption budget does not count: it may be kept for ever. */
  get quiet(): boolean {
    for (const { left } of this.#inBackoff.values()) if (left === 'work') return false;
    return this.#pace.quiet && (this.#options.rejected?.quiet ?? true);
  }

  /** Number of objects with due writes that are not sent, by the delay when they were last examined. */
  get counts(): ReadonlyMap<WriteDelay, number> {
    const counts = new Map<WriteDelay, number>();
    for (const delay of this.#held.values()) counts.set(delay, (counts.get(delay) ?? 0) + 1);
    return counts;
  }

  /** A delay of all writes of all objects. */
  onAll(): WriteDelay | undefined {
    return this.#options.mayWrite() ? undefined : 'not-leading';
  }

  /** A delay of all writes of an object: it need not be compared. */
  onObject(id: ObjectId): WriteDelay | undefined {
    const delay = this.#options.unanswered(id) ? 'unanswered' : this.#inBackoff.has(id) ? 'resting' : undefined;
    if (delay === undefined) this.#held.delete(id);
    else this.#held.set(id, delay);
    return delay;
  }

  /** A delay of one write. The caller must send a write without one. */
  onWrite(id: ObjectId, write: ObjectWrite): WriteDelay | undefined {
    const delay = this.#onWrite(id, write);
    if (delay === undefined) this.#sentFor.set(write, this.#seen(id));
    else this.#held.set(id, delay);
    return delay;
  }

  #onWrite(id: ObjectId, write: ObjectWrite): WriteDelay | undefined {
    // The unanswered write makes a newer version than the one that this write is guarded by: it would conflict.
    if (this.#options.unanswered(id) && write.verb === 'patch' && write.resourceVersion !== undefined) return 'unanswered';
    if (this.#options.rejected?.inBackoff(write) === true) return 'refused';
    if (this.#options.upToDate?.() === false) return 'catching-up';
    if (this.#awaitsRows(id, write)) return 'rows-under-way';
    if (this.#pace.waits(id, write)) return 'paced';
    if (write.verb !== 'evict') return undefined;
    const turn = this.#evictionTurn(id, write.uid);
    return turn === 'now' ? undefined : turn === 'asked' ? 'leaving' : 'others-leave-first';
  }

  /** To be called after an object was compared, with its due writes. */
  compared(id: ObjectId, writes: readonly ObjectWrite[]): void {
    if (writes.length === 0) this.#backoffs.delete(id);
    this.#pace.compared(id, writes);
    if (!writes.some((write) => this.releasesObject(id, write))) this.#awaiting.delete(id);
  }

  /** @param error undefined: the server accepted the write */
  answered(id: ObjectId, write: ObjectWrite, error: KubeError | undefined): void {
    const rejected = this.#options.rejected?.answered(id, write, error) ?? false;
    if (error === undefined) return;
    this.#pace.failed(id, write);
    if (write.verb === 'evict') this.#evictions.rejected(id);
    if (rejected || UNSENT.has(error.code)) return;
    if (!OUTDATED.has(error.code)) return this.backOff(id, 'late', error.code === 'KUBE_DISRUPTION_BUDGET' ? 'answer' : 'work');
    const seen = this.#sentFor.get(write);
    // Without a backoff if the newer version was observed meanwhile.
    if (seen === this.#seen(id)) this.backOff(id, 'soon', 'work', seen);
  }

  /**
   * The object or its outputs changed: this ends a backoff. It does not end that of a rejected write. And if the server has a newer version
   * that was not observed yet, only that version ends the backoff: any write guarded by the old version would conflict as well.
   */
  changed(id: ObjectId): void {
    const outdated = this.#inBackoff.get(id)?.outdated;
    if (outdated !== undefined && outdated === this.#seen(id)) return;
    this.#inBackoff.delete(id);
    this.#backoffs.delete(id);
  }

  /** Starts a backoff: `soon` doubles each time until the object changes, `late` is 30 s. */
  backOff(id: ObjectId, how: 'soon' | 'late', left: Backoff['left'] = 'work', outdated?: string): void {
    const { later, look } = this.#options;
    const before = this.#backoffs.get(id) ?? 0;
    this.#inBackoff.set(id, { left, outdated });
    this.#backoffs.set(id, before + 1);
    later(how === 'soon' ? doublingDelay(before, CONFLICT_MS, FAILED_MS) : FAILED_MS, () => {
      if (this.#inBackoff.delete(id)) look(id);
    });
  }

  /**
   * A transaction under way may be making rows of an object whose finalizer is about to be removed. The removal waits until that
   * transaction is over: then its rows are observed, and the object keeps its finalizer until they are gone. Later transactions make no row
   * for it.
   */
  #awaitsRows(id: ObjectId, write: ObjectWrite): boolean {
    if (!this.releasesObject(id, write)) return false;
    const sentAt = this.#options.transactionSentAt?.();
    const before = this.#awaiting.get(id);
    this.#awaiting.delete(id);
    if (sentAt === undefined || (before !== undefined && before !== sentAt)) return false;
    this.#awaiting.set(id, sentAt);
    return true;
  }

  /** The observed version of the object; empty: none. */
  #seen(id: ObjectId): string {
    const { uid = '', resourceVersion = '' } = this.#options.observed(id)?.metadata ?? {};
    return uid === '' ? '' : `${uid} ${resourceVersion}`;
  }

  /** Whether the write removes Kiln's last finalizer from the object, or deletes an object without one. */
  releasesObject(id: ObjectId, write: ObjectWrite): boolean {
    if (write.verb !== 'delete' && !removesFinalizer(write)) return false;
    const { finalizers = [] } = this.#options.observed(id)?.metadata ?? {};
    const keeps = finalizers.some((one) => one === FINALIZER || LEGACY_FINALIZERS.includes(one));
    return write.verb === 'delete' ? !keeps : keeps;
  }

  /** Sets a timer: no event reports that an eviction takes too long. */
  #evictionTurn(id: ObjectId, uid: string): EvictionTurn {
    const { observed, monotonicNow, later, look } = this.#options;
    const turn = this.#evictions.take(id, uid, monotonicNow(), (one) => observed(one as ObjectId)?.metadata.uid);
    if (turn === 'now') later(EVICTION_RETRY_MS + 1_000, () => look(id));
    if (turn === 'soon') later(EVICTION_TURN_MS, () => look(id));
    return turn;
  }
}
