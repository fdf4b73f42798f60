/**
 * The Kubernetes side of commit: diffs the objects that rules speak of against what was observed, hands the writes to the
 * coalescing writer, and puts the replies into the caches, so that the next diff is against our own acknowledged writes too.
 */
import { FINALIZER } from '../api/well-known.ts';
import type { EvictionTurn } from './eviction-limit.ts';
import { EVICTION_RETRY_MS, EvictionLimit } from './eviction-limit.ts';
import type { Desired } from '../compile/desired.ts';
import type { ObjectId } from '../compile/output.ts';
import type { AnyObject, EventWish, ObjectWrite } from '../diff/object-diff.ts';
import { diffObject } from '../diff/object-diff.ts';
import type { KubeError } from '../kube/errors.ts';
import type { KubeWriter } from '../kube/kube-writer.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { WriteIntent, WriteOperation, WriteResult } from '../kube/write-intent.ts';
import type { RefusedIps } from './refused-ips.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';

/** Where observed objects are, and where replies go. */
export interface ObjectSource {
  get(resource: ResourceName, key: string): AnyObject | undefined;
  applyOwn(resource: ResourceName, object: KubeObject): void;
  applyOwnDelete(resource: ResourceName, key: string, uid: string): void;
}

export interface ObjectWriterOptions {
  readonly desired: Desired;
  readonly source: ObjectSource;
  readonly writer: Pick<KubeWriter, 'submit' | 'waits' | 'cancel'>;
  readonly refusedIps?: Pick<RefusedIps, 'answered' | 'quiet'>;
  readonly mayWrite: () => boolean;
  /** Asked where there is something to send: whether all is seen that a leader before this one wrote. `wake` is called when it is. */
  readonly upToDate?: () => boolean;
  /** When the Northbound transaction that is under way was sent; undefined for none. `wake` is called when it is over. */
  readonly transactionSentAt?: () => number | undefined;
  /** Wall clock, milliseconds since the epoch. */
  readonly wallTime: () => number;
  readonly onWritten: (write: ObjectWrite, result: WriteResult) => void;
  readonly onEvent: (write: ObjectWrite, uid: string | undefined, event: EventWish) => void;
  readonly later: (ms: number, run: () => void) => void;
  readonly wake: () => void;
  /** Least time between two status writes of one Subnet. */
  readonly statusIntervalMs?: number;
}

/** After a refusal that a retry cannot mend by itself; a change of the object or of a rule's output tries at once. */
const REFUSED_MS = 30_000;
const CONFLICT_MS = 200;
/** In one turn: a turn is to be short. */
const MOST_EXAMINED = 2_000;

export class ObjectWriter {
  readonly #options: ObjectWriterOptions;
  readonly #pending = new Set<ObjectId>();
  /** Writes under way by object; while there are any, nothing else is written to it. */
  readonly #underWay = new Map<ObjectId, Map<ObjectWrite, WriteIntent>>();
  /** Objects of which a write was refused, until their time is over; whether that leaves work to do, or is the answer for now. */
  readonly #resting = new Map<ObjectId, 'work' | 'answer'>();
  /** Refusals in a row, of objects that did not change since. */
  readonly #refusals = new Map<ObjectId, number>();
  /** Writes that were acknowledged and whose effect has not been seen yet. */
  readonly #acknowledged = new Map<ObjectId, ObjectWrite[]>();

  /** Objects that may be let go when a transaction is over, by when that was sent. */
  readonly #awaiting = new Map<ObjectId, number>();
  readonly #evictions = new EvictionLimit();
  #second = NaN;
  #secondText = '';

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
  }

  /** A pod that its disruption budget keeps is no work that is left: it may be kept for ever. */
  get quiet(): boolean {
    if (this.#pending.size + this.#underWay.size + this.#options.desired.dirtyObjects.size > 0) return false;
    for (const left of this.#resting.values()) if (left === 'work') return false;
    return this.#options.refusedIps?.quiet ?? true;
  }

  /** An object changed outside, or a reply came in. */
  mark(id: ObjectId): void {
    this.#resting.delete(id);
    this.#refusals.delete(id);
    this.#acknowledged.delete(id);
    this.#pending.add(id);
  }

  examineAll(): void {
    for (const id of this.#options.desired.objectIds) this.mark(id);
  }

  /** What would be written now. Changes nothing. */
  plan(): readonly ObjectWrite[] {
    return [...this.#options.desired.objectIds].flatMap((id) => this.#diff(id));
  }

  flush(): void {
    const { desired, mayWrite, upToDate } = this.#options;
    for (const id of desired.dirtyObjects) this.mark(id);
    desired.dirtyObjects.clear();
    if (!mayWrite()) return;
    const held: ObjectId[] = [];
    let examined = 0;
    for (const id of this.#pending) {
      if (examined++ >= MOST_EXAMINED) {
        this.#options.wake();
        break;
      }
      this.#pending.delete(id);
      // The reply, or the end of the rest, asks for another look.
      if (this.#resting.has(id) || this.#underWayTo(id)) continue;
      const writes = this.#diff(id);
      if (writes.length === 0) this.#settled(id);
      else if (upToDate?.() === false || this.#awaitsRows(id, writes)) {
        held.push(id);
        continue;
      }
      for (const write of writes) {
        const turn = write.verb === 'evict' ? this.#evictionTurn(id, write.uid) : 'now';
        if (turn === 'now') this.#send(id, write);
        else if (turn === 'later') held.push(id);
      }
    }
    for (const id of held) this.#pending.add(id);
  }

  /**
   * A transaction without an answer may have made rows of an object that is to be let go: they are observed when it is over, and then the
   * object has to keep its finalizer until they are gone.
   */
  #awaitsRows(id: ObjectId, writes: readonly ObjectWrite[]): boolean {
    const [resource, key] = apart(id);
    const sentAt = this.#options.transactionSentAt?.();
    const before = this.#awaiting.get(id);
    this.#awaiting.delete(id);
    if (sentAt === undefined || (before !== undefined && before !== sentAt)) return false;
    if (!writes.some((write) => letsGo(write, this.#options.source.get(resource, key)))) return false;
    this.#awaiting.set(id, sentAt);
    return true;
  }

  /** Whether a write is under way. One that was not sent yet and that nobody wants any more (its object may be in use again) is taken back. */
  #underWayTo(id: ObjectId): boolean {
    const writes = this.#underWay.get(id);
    if (writes === undefined) return false;
    let wanted: ReadonlySet<string> | undefined;
    for (const [write, intent] of writes) {
      if (!this.#options.writer.waits(intent)) continue;
      wanted ??= new Set(this.#diff(id).map(textOf));
      if (!wanted.has(textOf(write))) this.#options.writer.cancel(intent);
    }
    return true;
  }

  /** The end of a pod's patience is not an event that wakes anybody. */
  #evictionTurn(id: ObjectId, uid: string): EvictionTurn {
    const { source, wallTime, later, wake } = this.#options;
    const turn = this.#evictions.take(id, uid, wallTime(), (one) => source.get('pods', apart(one as ObjectId)[1])?.metadata.uid);
    if (turn === 'now')
      later(EVICTION_RETRY_MS + 1_000, () => {
        this.#pending.add(id);
        wake();
      });
    return turn;
  }

  #diff(id: ObjectId): readonly ObjectWrite[] {
    const [resource, key] = apart(id);
    const { desired, source, wallTime } = this.#options;
    return diffObject(resource, key, desired.object(id), source.get(resource, key), this.#timestamp(wallTime()));
  }

  /** RFC 3339, to the second. */
  #timestamp(wallTime: number): string {
    const second = Math.floor(wallTime / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = new Date(second * 1_000).toISOString().replace('.000Z', 'Z');
    }
    return this.#secondText;
  }

  #send(id: ObjectId, write: ObjectWrite): void {
    const intent = this.#intent(write);
    const writes = this.#underWay.get(id) ?? new Map<ObjectWrite, WriteIntent>();
    this.#underWay.set(id, writes.set(write, intent));
    void this.#options.writer.submit(intent).then((result) => {
      writes.delete(write);
      if (writes.size === 0) this.#underWay.delete(id);
      this.#finished(id, write, result);
      this.#options.wake();
    });
  }

  #finished(id: ObjectId, write: ObjectWrite, result: WriteResult): void {
    const [resource, key] = apart(id);
    const { source, refusedIps, onWritten, onEvent } = this.#options;
    this.#pending.add(id);
    refusedIps?.answered(write, result.ok ? undefined : result.error);
    if (result.ok) {
      const uid = write.verb === 'create' ? result.object?.metadata.uid : write.uid;
      if (write.verb === 'delete' && !stillThere(result.object)) source.applyOwnDelete(resource, key, write.uid);
      else if (result.object !== undefined && removed(result.object))
        source.applyOwnDelete(resource, key, result.object.metadata.uid ?? '');
      else if (result.object !== undefined) source.applyOwn(resource, result.object);
      for (const event of write.events) onEvent(write, uid, event);
      this.#acknowledge(id, write);
    } else {
      if (write.verb === 'evict') this.#evictions.refused(id);
      this.#rest(id, result.error);
    }
    onWritten(write, result);
  }

  #settled(id: ObjectId): void {
    this.#awaiting.delete(id);
    this.#refusals.delete(id);
    this.#acknowledged.delete(id);
  }

  /**
   * The same write twice in a row, and the object did not change between: the server takes it and drops what it says (a field that
   * an older CRD does not have), so it is repeated ever more rarely.
   */
  #acknowledge(id: ObjectId, write: ObjectWrite): void {
    const before = this.#acknowledged.get(id);
    if (before === undefined) {
      this.#acknowledged.set(id, [write]);
      return;
    }
    const text = textOf(write);
    if (before.some((one) => textOf(one) === text)) this.#pause(id, true, 'work');
    else before.push(write);
  }

  /** Nothing is retried hot: a conflict waits for the cache to move on, longer each time that it does not; a refusal longer at once. */
  #rest(id: ObjectId, error: KubeError): void {
    if (error.code === 'KUBE_FENCED' || error.code === 'KUBE_CLOSED' || error.code === 'KUBE_SUPERSEDED') return;
    this.#pause(
      id,
      error.code === 'KUBE_CONFLICT' ||
        error.code === 'KUBE_NOT_FOUND' ||
        error.code === 'KUBE_ALREADY_EXISTS' ||
        error.code === 'KUBE_PRECONDITION',
      error.code === 'KUBE_DISRUPTION_BUDGET' ? 'answer' : 'work',
    );
  }

  #pause(id: ObjectId, soon: boolean, left: 'work' | 'answer'): void {
    this.#resting.set(id, left);
    const refusals = this.#refusals.get(id) ?? 0;
    this.#refusals.set(id, refusals + 1);
    this.#options.later(soon ? Math.min(CONFLICT_MS * 2 ** refusals, REFUSED_MS) : REFUSED_MS, () => {
      if (!this.#resting.delete(id)) return;
      this.#pending.add(id);
      this.#options.wake();
    });
  }

  #intent(write: ObjectWrite): WriteIntent {
    const { group, version, plural, kind, namespaced } = traitsOf(write.resource);
    const resource = { group, version, plural, kind, namespaced };
    const lane = write.verb === 'evict' ? 'evict' : write.verb === 'patch' && write.subresource === 'status' ? 'status' : 'object';
    const paced = lane === 'status' && write.resource === 'subnets';
    return {
      resource,
      ...(write.namespace === '' ? {} : { namespace: write.namespace }),
      name: write.name,
      lane,
      ...(write.verb === 'create' ? {} : { uid: write.uid }),
      ...(write.verb === 'patch' && write.resourceVersion !== undefined ? { resourceVersion: write.resourceVersion } : {}),
      urgent: binds(write),
      ...(paced ? { minIntervalMs: this.#options.statusIntervalMs ?? 1_000 } : {}),
      operation: operationOf(write),
    };
  }
}

/** A pod waits for it before its containers start: its IP object, and what its annotations tell its node. */
function binds(write: ObjectWrite): boolean {
  return write.verb === 'create' || (write.verb === 'patch' && write.resource === 'pods' && write.subresource === undefined);
}

/** It takes Kiln's finalizer away. */
function letsGo(write: ObjectWrite, observed: AnyObject | undefined): boolean {
  if (write.verb !== 'patch' || observed?.metadata.finalizers?.includes(FINALIZER) !== true) return false;
  const { finalizers } = (write.patch['metadata'] ?? {}) as { readonly finalizers?: readonly string[] };
  return finalizers?.includes(FINALIZER) === false;
}

/** What a write says, whenever it says it. */
function textOf(write: ObjectWrite): string {
  return JSON.stringify({ ...write, resourceVersion: '', events: [] }, withoutTime);
}

/** Times that conditions are stamped with differ from write to write. */
function withoutTime(key: string, value: unknown): unknown {
  return key === 'lastTransitionTime' || key === 'lastUpdateTime' ? undefined : typeof value === 'bigint' ? String(value) : value;
}

function operationOf(write: ObjectWrite): WriteOperation {
  if (write.verb === 'create') return { kind: 'create', object: write.object as unknown as KubeObject };
  if (write.verb === 'delete') return { kind: 'delete', propagation: 'Background' };
  if (write.verb === 'evict') return { kind: 'evict' };
  const body = { patch: write.patch, ...(write.subresource === undefined ? {} : { subresource: write.subresource }) };
  return write.style === 'strategic' ? { kind: 'strategic-patch', ...body } : { kind: 'merge-patch', ...body };
}

function apart(id: ObjectId): [ResourceName, string] {
  const at = id.indexOf('/');
  return [id.slice(0, at) as ResourceName, id.slice(at + 1)];
}

function stillThere(object: KubeObject | undefined): boolean {
  return object !== undefined && !removed(object);
}

/** The last finalizer of a terminating object was taken away: the reply shows it once more, and it is gone. */
function removed(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  return (
    deletionTimestamp !== undefined &&
    deletionTimestamp !== null &&
    (finalizers ?? []).length === 0 &&
    (deletionGracePeriodSeconds ?? 0) === 0
  );
}
