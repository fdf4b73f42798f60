/**
 * Why a write that is due is not sent now. One list, asked in this order; nothing else keeps an object from being written. Each hold says
 * what ends it: `turn`, the next turn asks again; `itself`, whatever ends it asks for another look at the object.
 */
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
  'not-leading': { means: 'this process does not lead, or has not seen everything yet', ends: 'turn' },
  unanswered: { means: 'the last write of the object is under way', ends: 'itself' },
  resting: { means: 'the last write met a newer version of the object, had no effect, or failed', ends: 'itself' },
  refused: { means: 'the API server refused this write; it is tried again later', ends: 'itself' },
  'catching-up': { means: 'what a leader before this one wrote may not have been seen yet', ends: 'turn' },
  'rows-under-way': { means: 'it lets an object go, and a transaction is under way that may have made rows of it', ends: 'turn' },
  paced: { means: 'the last status of the Subnet was written less than a second ago', ends: 'itself' },
  'others-leave-first': { means: 'it evicts a pod, and as many as may leave at a time are leaving', ends: 'turn' },
  leaving: { means: 'it evicts a pod that was asked to leave already', ends: 'itself' },
} as const satisfies Readonly<Record<string, { readonly means: string; readonly ends: 'turn' | 'itself' }>>;

export type WriteDelay = keyof typeof WRITE_DELAYS;

export interface WriteDelaysOptions {
  readonly observed: (id: ObjectId) => AnyObject | undefined;
  /** Whether a write of it is under way. */
  readonly unanswered: (id: ObjectId) => boolean;
  readonly mayWrite: () => boolean;
  readonly rejected?: Pick<RejectedWrites, 'rests' | 'answered' | 'quiet'>;
  readonly upToDate?: () => boolean;
  readonly transactionSentAt?: () => number | undefined;
  /** Milliseconds since the epoch; never goes back. */
  readonly date: () => number;
  readonly later: (ms: number, run: () => void) => void;
  /** A delay is over that the next turn alone would not notice. */
  readonly look: (id: ObjectId) => void;
}

/** The longest rest, and the only one after a failure that the server did not blame on what was written. */
const FAILED_MS = 30_000;
const CONFLICT_MS = 200;

/** The cache shows an older object than the server has: what a retry needs is on its way. */
const OUTDATED: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_CONFLICT',
  'KUBE_NOT_FOUND',
  'KUBE_ALREADY_EXISTS',
  'KUBE_PRECONDITION',
]);
/** Nothing was tried. */
const UNSENT: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>(['KUBE_FENCED', 'KUBE_CLOSED', 'KUBE_SUPERSEDED']);

interface Rest {
  /** Whether it leaves work to do, or is the answer for now. */
  readonly left: 'work' | 'answer';
  /** The version of the object that is older than the server's; undefined where that is not known. */
  readonly outdated: string | undefined;
}

export class WriteDelays {
  readonly #options: WriteDelaysOptions;
  /** Until time or a change ends it. */
  readonly #resting = new Map<ObjectId, Rest>();
  /** Rests in a row, of objects that did not change since. */
  readonly #rests = new Map<ObjectId, number>();
  /** Which version of its object was seen when a write was sent. */
  readonly #sentFor = new WeakMap<ObjectWrite, string>();
  /** Objects that may be let go when a transaction is over, by when that was sent. */
  readonly #awaiting = new Map<ObjectId, number>();
  readonly #evictions = new EvictionLimit();
  readonly #pace: StatusPace;
  /** What kept each object when it was last looked at. */
  readonly #held = new Map<ObjectId, WriteDelay>();

  constructor(options: WriteDelaysOptions) {
    this.#options = options;
    this.#pace = new StatusPace(options);
  }

  /** A pod that its disruption budget keeps does not count as work left to do: it may be kept for ever. */
  get quiet(): boolean {
    for (const { left } of this.#resting.values()) if (left === 'work') return false;
    return this.#pace.quiet && (this.#options.rejected?.quiet ?? true);
  }

  /** Objects with writes that are due and held, by what held them when they were last looked at. */
  get counts(): ReadonlyMap<WriteDelay, number> {
    const counts = new Map<WriteDelay, number>();
    for (const delay of this.#held.values()) counts.set(delay, (counts.get(delay) ?? 0) + 1);
    return counts;
  }

  /** What keeps every write of every object. */
  onAll(): WriteDelay | undefined {
    return this.#options.mayWrite() ? undefined : 'not-leading';
  }

  /** What keeps every write of an object: it need not be compared. */
  onObject(id: ObjectId): WriteDelay | undefined {
    const delay = this.#options.unanswered(id) ? 'unanswered' : this.#resting.has(id) ? 'resting' : undefined;
    if (delay === undefined) this.#held.delete(id);
    else this.#held.set(id, delay);
    return delay;
  }

  /** What keeps one write of an object that nothing else keeps. One that is not kept is to be sent. */
  onWrite(id: ObjectId, write: ObjectWrite): WriteDelay | undefined {
    const delay = this.#onWrite(id, write);
    if (delay === undefined) this.#sentFor.set(write, this.#seen(id));
    else this.#held.set(id, delay);
    return delay;
  }

  #onWrite(id: ObjectId, write: ObjectWrite): WriteDelay | undefined {
    // The one before it makes another version than this one is for: it would be refused, and wait for nothing.
    if (this.#options.unanswered(id) && write.verb === 'patch' && write.resourceVersion !== undefined) return 'unanswered';
    if (this.#options.rejected?.rests(write) === true) return 'refused';
    if (this.#options.upToDate?.() === false) return 'catching-up';
    if (this.#awaitsRows(id, write)) return 'rows-under-way';
    if (this.#pace.waits(id, write)) return 'paced';
    if (write.verb !== 'evict') return undefined;
    const turn = this.#evictionTurn(id, write.uid);
    return turn === 'now' ? undefined : turn === 'asked' ? 'leaving' : 'others-leave-first';
  }

  /** An object was compared: these writes are due. */
  compared(id: ObjectId, writes: readonly ObjectWrite[]): void {
    if (writes.length === 0) this.#rests.delete(id);
    this.#pace.compared(id, writes);
    if (!writes.some((write) => this.releasesObject(id, write))) this.#awaiting.delete(id);
  }

  /** @param error undefined where the server took it */
  answered(id: ObjectId, write: ObjectWrite, error: KubeError | undefined): void {
    const rejected = this.#options.rejected?.answered(id, write, error) ?? false;
    if (error === undefined) return;
    this.#pace.failed(id, write);
    if (write.verb === 'evict') this.#evictions.rejected(id);
    if (rejected || UNSENT.has(error.code)) return;
    if (!OUTDATED.has(error.code)) return this.rest(id, 'late', error.code === 'KUBE_DISRUPTION_BUDGET' ? 'answer' : 'work');
    const seen = this.#sentFor.get(write);
    // What it met may have been seen meanwhile.
    if (seen === this.#seen(id)) this.rest(id, 'soon', 'work', seen);
  }

  /**
   * The object, or what is wanted of it, changed: rests that were learned before no longer apply. A refusal still does, and where another version
   * of the object is on its way, only that ends the rest: whatever is wanted of the one before would be refused as well.
   */
  changed(id: ObjectId): void {
    const outdated = this.#resting.get(id)?.outdated;
    if (outdated !== undefined && outdated === this.#seen(id)) return;
    this.#resting.delete(id);
    this.#rests.delete(id);
  }

  /** Nothing is retried hot: `soon` at first, and later each time that nothing changed between. */
  rest(id: ObjectId, how: 'soon' | 'late', left: Rest['left'] = 'work', outdated?: string): void {
    const { later, look } = this.#options;
    const before = this.#rests.get(id) ?? 0;
    this.#resting.set(id, { left, outdated });
    this.#rests.set(id, before + 1);
    later(how === 'soon' ? Math.min(CONFLICT_MS * 2 ** before, FAILED_MS) : FAILED_MS, () => {
      if (this.#resting.delete(id)) look(id);
    });
  }

  /**
   * A transaction under way may be making rows of an object whose finalizer is about to be removed. The removal waits until that transaction
   * is over: then its rows are observed, and the object keeps its finalizer until they are gone. Later transactions make no row for it.
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

  /** The version of the object that is seen now; empty for none. */
  #seen(id: ObjectId): string {
    const { uid = '', resourceVersion = '' } = this.#options.observed(id)?.metadata ?? {};
    return uid === '' ? '' : `${uid} ${resourceVersion}`;
  }

  /** Whether nothing of Kiln's keeps the object any more once the write is carried out. */
  releasesObject(id: ObjectId, write: ObjectWrite): boolean {
    if (write.verb !== 'delete' && !removesFinalizer(write)) return false;
    const { finalizers = [] } = this.#options.observed(id)?.metadata ?? {};
    const keeps = finalizers.some((one) => one === FINALIZER || LEGACY_FINALIZERS.includes(one));
    return write.verb === 'delete' ? !keeps : keeps;
  }

  /** The end of a pod's patience is not an event that wakes anybody. */
  #evictionTurn(id: ObjectId, uid: string): EvictionTurn {
    const { observed, date, later, look } = this.#options;
    const turn = this.#evictions.take(id, uid, date(), (one) => observed(one as ObjectId)?.metadata.uid);
    if (turn === 'now') later(EVICTION_RETRY_MS + 1_000, () => look(id));
    if (turn === 'soon') later(EVICTION_TURN_MS, () => look(id));
    return turn;
  }
}
