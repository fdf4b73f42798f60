/**
 * The Kubernetes side of commit: compares the outputs about objects with the observed objects, hands the writes to the coalescing
 * `KubeWriter`, and puts the replies into the caches, so that the next diff includes our own acknowledged writes.
 *
 * Guaranteed: a write is sent only while this process leads, at most one of an object at a time, and with the uid (and, where the rule
 * needs it, the resourceVersion) that the rule saw. A finalizer is removed only when no transaction under way can make rows of the object.
 * The object that results is equal to the outputs, or a difference is pending and has a write delay.
 *
 * Retried: every write, until the object is as emitted; never in a tight loop. After a conflict the writer waits for the newer version, or
 * 200 ms doubling up to 30 s; after a rejection by the API server 5 to 30 s (see `rejected-writes.ts`); after any other failure 30 s.
 *
 * Costs: one diff for each object that changed or whose outputs changed; at most 2,000 a turn, the rest in the next turns.
 */
import type { PlannedEvent } from '../diff/condition-diff.ts';
import { GROUP } from '../api/schema/kind.ts';
import type { DesiredObjects } from '../compile/desired-objects.ts';
import type { ObjectId } from '../compile/output.ts';
import type { AnyObject, ObjectWrite } from '../diff/object-diff.ts';
import { diffObject } from '../diff/object-diff.ts';
import { withoutStaying } from '../diff/leftovers.ts';
import { prunedPaths } from '../diff/pruned-paths.ts';
import type { KubeErrorCode } from '../kube/errors.ts';
import type { KubeWriter } from '../kube/write/kube-writer.ts';
import type { KubeObject } from '../kube/resource.ts';
import { isGone } from '../kube/resource.ts';
import type { WriteIntent, WriteOperation, WriteResult } from '../kube/write/write-intent.ts';
import type { RejectedWrites } from './rejected-writes.ts';
import type { PrunedFields } from '../world/pruned-fields.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { WriteDelay } from './write-delays.ts';
import { WRITE_DELAYS, WriteDelays } from './write-delays.ts';
import { shareOf } from './write-share.ts';

/** The caches: observed objects are read from them, and replies are put into them. */
export interface ObjectSource {
  get(resource: ResourceName, key: string): AnyObject | undefined;
  /** Whether the rules have not seen the object's newest state yet: it is not written before, and `mark` is called then. */
  isLate?(resource: ResourceName, key: string): boolean;
  applyOwn(resource: ResourceName, object: KubeObject): void;
  applyOwnDelete(resource: ResourceName, key: string, uid: string): void;
  /** The server rejected a write because of an object or a version that the cache does not have yet, or of one that is gone. */
  isAhead(resource: ResourceName, key: string): void;
  /** The server does not have an object that the cache has: the event of its deletion has to arrive. */
  expectEvent(resource: ResourceName): void;
}

export interface ObjectWriterOptions {
  readonly desired: DesiredObjects;
  readonly source: ObjectSource;
  readonly writer: Pick<KubeWriter, 'submit' | 'waits' | 'cancel'>;
  readonly rejected?: Pick<RejectedWrites, 'inBackoff' | 'answered' | 'quiet'>;
  /** Filled from the answers. */
  readonly pruned: PrunedFields;
  /** Whether what is left of an owner may go from the object now; when that changes, the caller calls `examineAll`. Default: always. */
  readonly collects?: (object: ObjectId, owner: string) => boolean;
  readonly mayWrite: () => boolean;
  /**
   * Whether everything that an earlier leader wrote was observed; called when there is something to send. `wake` is called when it becomes
   * true.
   */
  readonly upToDate?: () => boolean;
  /** When the Northbound transaction under way was sent; undefined: none is. `wake` is called when it is over. */
  readonly transactionSentAt?: () => number | undefined;
  /** Wall clock, milliseconds since the epoch. */
  readonly wallTime: () => number;
  /** The monotonic clock: milliseconds since the epoch; never goes back. Deadlines pass by it. */
  readonly monotonicNow: () => number;
  readonly onWritten: (write: ObjectWrite, result: WriteResult) => void;
  readonly onEvent: (write: ObjectWrite, uid: string | undefined, event: PlannedEvent) => void;
  /** Called when the diff of an object threw, which is a bug: the other objects are written, and this one is compared again later. */
  readonly onFailure: (id: ObjectId, error: unknown) => void;
  readonly later: (ms: number, run: () => void) => void;
  readonly wake: () => void;
}

/** Most objects compared in one turn: a turn has to be short. */
const MOST_EXAMINED = 2_000;
/** Most changed outputs taken in one turn. */
const MOST_TAKEN = 5_000;

/** Errors which show that the server has an object or a version that the cache lacks. */
const AHEAD: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>(['KUBE_ALREADY_EXISTS', 'KUBE_CONFLICT', 'KUBE_PRECONDITION']);

export class ObjectWriter {
  readonly #options: ObjectWriterOptions;
  readonly #pending = new Set<ObjectId>();
  /** Writes under way by object; meanwhile no other write is sent to it. */
  readonly #underWay = new Map<ObjectId, Map<ObjectWrite, WriteIntent>>();
  /** Acknowledged writes until the effect is observed. */
  readonly #acknowledged = new Map<ObjectId, ObjectWrite[]>();
  /** Objects with an unanswered write that removes Kiln's last finalizer or deletes them. */
  readonly #releasing = new Map<ObjectId, ObjectWrite>();
  readonly #delays: WriteDelays;
  /** The rest of all objects, while all are examined again. */
  #all: Iterator<ObjectId> | undefined;
  #second = NaN;
  #secondText = '';

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
    const { source } = options;
    this.#delays = new WriteDelays({
      ...options,
      observed: (id) => source.get(...apart(id)),
      unanswered: (id) => this.#underWay.has(id),
      look: (id) => this.reexamine(id),
    });
  }

  get quiet(): boolean {
    const left = this.#pending.size + this.#underWay.size + this.#options.desired.due.size;
    return left === 0 && this.#all === undefined && this.#delays.quiet;
  }

  /** Number of objects with due writes that are not sent now, by write delay. */
  get delayed(): ReadonlyMap<WriteDelay, number> {
    const delay = this.#delays.onAll();
    return delay === undefined ? this.#delays.counts : new Map([[delay, this.#pending.size]]);
  }

  /** Whether a write under way removes Kiln's last finalizer, or deletes the object: it may be gone at any moment. */
  releasesObject(id: ObjectId): boolean {
    return this.#releasing.has(id);
  }

  /** An object changed in the cache, or a reply arrived. */
  mark(id: ObjectId): void {
    this.#delays.changed(id);
    this.#acknowledged.delete(id);
    this.#pending.add(id);
  }

  /** A write delay of the object is over. */
  reexamine(id: ObjectId): void {
    this.#pending.add(id);
    this.#options.wake();
  }

  /** Compares every object again, some in each `flush`. */
  examineAll(): void {
    this.#all = this.#options.desired.ids;
  }

  /** The writes that are due now, for dry runs. Changes nothing. */
  plan(only: (id: ObjectId) => boolean = () => true): readonly ObjectWrite[] {
    return [...this.#options.desired.ids].filter(only).flatMap((id) => this.#diff(id));
  }

  flush(): void {
    const { wake } = this.#options;
    // Compare only after all changed outputs are taken: an object compared before would be compared again.
    if (!this.#takeDirty()) return wake();
    if (this.#delays.onAll() !== undefined) return;
    const again: ObjectId[] = [];
    let examined = 0;
    for (const id of this.#pending) {
      if (examined++ >= MOST_EXAMINED) {
        wake();
        break;
      }
      this.#pending.delete(id);
      if (this.#look(id) === 'again') again.push(id);
    }
    for (const id of again) this.#pending.add(id);
  }

  /** @returns false if the turn ended before all changed outputs were taken */
  #takeDirty(): boolean {
    const { desired } = this.#options;
    let taken = 0;
    for (const id of desired.due) {
      if (taken++ >= MOST_TAKEN) return false;
      desired.due.delete(id);
      this.mark(id);
    }
    for (let next = this.#all?.next(); next !== undefined; next = this.#all?.next()) {
      if (next.done === true) this.#all = undefined;
      else this.mark(next.value);
      if (taken++ >= MOST_TAKEN) return false;
    }
    return true;
  }

  /** @returns whether a write delay has to be checked again in the next turn */
  #look(id: ObjectId): 'again' | 'done' {
    try {
      if (this.#options.source.isLate?.(...apart(id)) === true) return 'done';
      const delay = this.#delays.onObject(id);
      if (delay === undefined) return this.#write(id);
      if (delay === 'unanswered') this.#takeBack(id);
    } catch (error) {
      this.#options.onFailure(id, error);
      this.#delays.backOff(id, 'late');
    }
    return 'done';
  }

  /** Cancels writes that were submitted, not sent, and are no longer due: the object may be in use again. */
  #takeBack(id: ObjectId): void {
    let due: ReadonlySet<string> | undefined;
    for (const [write, intent] of this.#underWay.get(id) ?? []) {
      if (!this.#options.writer.waits(intent)) continue;
      due ??= new Set(this.#diff(id).map(textOf));
      if (!due.has(textOf(write))) this.#options.writer.cancel(intent);
    }
  }

  /** Sends the due writes of an object that have no delay. @returns whether a write delay has to be checked again in the next turn */
  #write(id: ObjectId): 'again' | 'done' {
    const writes = this.#diff(id);
    this.#delays.compared(id, writes);
    if (writes.length === 0) this.#acknowledged.delete(id);
    let next: 'again' | 'done' = 'done';
    for (const write of writes) {
      const delay = this.#delays.onWrite(id, write);
      if (delay === undefined) this.#send(id, write);
      else if (WRITE_DELAYS[delay].ends === 'turn') next = 'again';
    }
    return next;
  }

  #diff(id: ObjectId): readonly ObjectWrite[] {
    const [resource, key] = apart(id);
    const { desired, source, pruned, wallTime, monotonicNow } = this.#options;
    const [now, monotonic] = [this.#timestamp(wallTime()), this.#timestamp(monotonicNow())];
    const { collects } = this.#options;
    const all = desired.of(id);
    const outputs = collects === undefined ? all : withoutStaying(all, (owner) => collects(id, owner));
    return diffObject(resource, key, outputs, source.get(resource, key), now, monotonic, pruned.of(resource));
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
    const [resource, key] = apart(id);
    const seen = this.#options.source.get(resource, key)?.metadata.resourceVersion;
    const writes = this.#underWay.get(id) ?? new Map<ObjectWrite, WriteIntent>();
    this.#underWay.set(id, writes.set(write, intent));
    if (this.#delays.releasesObject(id, write)) this.#releasing.set(id, write);
    void this.#options.writer.submit(intent).then((result) => {
      writes.delete(write);
      if (writes.size === 0) this.#underWay.delete(id);
      if (this.#releasing.get(id) === write) this.#releasing.delete(id);
      this.#finished(id, write, result, seen);
      this.#options.wake();
    });
  }

  /** @param seen the observed version of the object when the write was sent */
  #finished(id: ObjectId, write: ObjectWrite, result: WriteResult, seen: string | undefined): void {
    const [resource, key] = apart(id);
    const { source, onWritten, onEvent } = this.#options;
    this.#pending.add(id);
    this.#delays.answered(id, write, result.ok ? undefined : result.error);
    if (result.ok) {
      const uid = write.verb === 'create' ? result.object?.metadata.uid : write.uid;
      if (write.verb === 'delete' && (result.object === undefined || isGone(result.object)))
        source.applyOwnDelete(resource, key, write.uid);
      else if (result.object !== undefined) {
        this.#learnPruned(write, result.object);
        source.applyOwn(resource, result.object);
      }
      for (const event of write.events) onEvent(write, uid, event);
      this.#acknowledge(id, write);
    } else {
      const { uid: held, resourceVersion } = source.get(resource, key)?.metadata ?? {};
      const { code } = result.error;
      const isGone = code === 'KUBE_NOT_FOUND' && write.verb !== 'create' && held === write.uid;
      if (isGone) source.expectEvent(resource);
      if ((isGone || AHEAD.has(code)) && resourceVersion === seen) source.isAhead(resource, key);
    }
    onWritten(write, result);
  }

  /** A kind whose CRD is older than Kiln: what the answer lacks is not written again. */
  #learnPruned(write: ObjectWrite, answer: KubeObject): void {
    if (write.verb !== 'patch' || traitsOf(write.resource).group !== GROUP) return;
    const { spec, status } = write.patch;
    const held = answer as AnyObject & KubeObject;
    const paths = [...prunedPaths(spec, held.spec, 'spec'), ...prunedPaths(status, held.status, 'status')];
    if (paths.length > 0) this.#options.pruned.add(write.resource, paths);
  }

  /**
   * If the same write is due again and the object did not change in between, the server accepted it and dropped its contents. Such a write
   * is repeated less and less often.
   */
  #acknowledge(id: ObjectId, write: ObjectWrite): void {
    const before = this.#acknowledged.get(id);
    if (before === undefined) {
      this.#acknowledged.set(id, [write]);
      return;
    }
    const text = textOf(write);
    if (before.some((one) => textOf(one) === text)) this.#delays.backOff(id, 'soon');
    else before.push(write);
  }

  #observed({ resource, namespace, name }: ObjectWrite): AnyObject | undefined {
    return this.#options.source.get(resource, namespace === '' ? name : `${namespace}/${name}`);
  }

  #intent(write: ObjectWrite): WriteIntent {
    const { group, version, plural, kind, namespaced } = traitsOf(write.resource);
    const resource = { group, version, plural, kind, namespaced };
    const lane = write.verb === 'evict' ? 'evict' : write.verb === 'patch' && write.subresource === 'status' ? 'status' : 'object';
    return {
      resource,
      ...(write.namespace === '' ? {} : { namespace: write.namespace }),
      name: write.name,
      lane,
      ...(write.verb === 'create' ? {} : { uid: write.uid }),
      ...(write.verb === 'patch' && write.resourceVersion !== undefined ? { resourceVersion: write.resourceVersion } : {}),
      urgent: binds(write),
      share: shareOf(write.resource, write.namespace, write.verb === 'create' ? write.object : this.#observed(write)),
      operation: operationOf(write),
    };
  }
}

/** Whether a pod cannot start before this write: its IP object, or the annotations that its node reads. */
function binds(write: ObjectWrite): boolean {
  return (
    write.verb === 'create' ||
    (write.verb === 'patch' && write.subresource === undefined && traitsOf(write.resource).urgentMetadata === true)
  );
}

/** The contents of a write without its times. */
export function textOf(write: ObjectWrite): string {
  return JSON.stringify({ ...write, resourceVersion: '', events: [] }, withoutTime);
}

/** The times of conditions differ from write to write. */
function withoutTime(key: string, value: unknown): unknown {
  return key === 'lastTransitionTime' || key === 'lastUpdateTime' ? undefined : typeof value === 'bigint' ? String(value) : value;
}

export function operationOf(write: ObjectWrite): WriteOperation {
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
