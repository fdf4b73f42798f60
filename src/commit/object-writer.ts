/**
 * The Kubernetes side of commit: diffs the objects that rules speak of against what was observed, hands the writes to the
 * coalescing writer, and puts the replies into the caches, so that the next diff is against our own acknowledged writes too.
 */
import type { Desired } from '../compile/desired.ts';
import type { ObjectId } from '../compile/output.ts';
import type { AnyObject, PlannedEvent, ObjectWrite } from '../diff/object-diff.ts';
import { diffObject } from '../diff/object-diff.ts';
import type { KubeErrorCode } from '../kube/errors.ts';
import type { KubeWriter } from '../kube/kube-writer.ts';
import type { KubeObject } from '../kube/resource.ts';
import { isGone } from '../kube/resource.ts';
import type { WriteIntent, WriteOperation, WriteResult } from '../kube/write-intent.ts';
import type { RejectedWrites } from './rejected-writes.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { WriteDelay } from './write-delays.ts';
import { WRITE_DELAYS, WriteDelays } from './write-delays.ts';
import { shareOf } from './write-share.ts';

/** Where observed objects are, and where replies go. */
export interface ObjectSource {
  get(resource: ResourceName, key: string): AnyObject | undefined;
  /** Whether the rules do not know its newest state yet: it is not written before they do, and `mark` is called then. */
  isLate?(resource: ResourceName, key: string): boolean;
  applyOwn(resource: ResourceName, object: KubeObject): void;
  applyOwnDelete(resource: ResourceName, key: string, uid: string): void;
  /** The server refused a write because of what the cache does not show: an object of that name, a newer version of it. */
  isAhead(resource: ResourceName, key: string): void;
  /** The server does not have an object that is held: its deletion has to come. */
  expectEvent(resource: ResourceName): void;
}

export interface ObjectWriterOptions {
  readonly desired: Desired;
  readonly source: ObjectSource;
  readonly writer: Pick<KubeWriter, 'submit' | 'waits' | 'cancel'>;
  readonly rejected?: Pick<RejectedWrites, 'rests' | 'answered' | 'quiet'>;
  readonly mayWrite: () => boolean;
  /** Asked where there is something to send: whether all is seen that a leader before this one wrote. `wake` is called when it is. */
  readonly upToDate?: () => boolean;
  /** When the Northbound transaction that is under way was sent; undefined for none. `wake` is called when it is over. */
  readonly transactionSentAt?: () => number | undefined;
  /** Wall clock, milliseconds since the epoch. */
  readonly wallTime: () => number;
  /** Likewise, and it never goes back: the date that moments pass by. */
  readonly date: () => number;
  readonly onWritten: (write: ObjectWrite, result: WriteResult) => void;
  readonly onEvent: (write: ObjectWrite, uid: string | undefined, event: PlannedEvent) => void;
  /** An object could not be compared, which is a bug: the others go on, and it is compared again later. */
  readonly onFailure: (id: ObjectId, error: unknown) => void;
  readonly later: (ms: number, run: () => void) => void;
  readonly wake: () => void;
}

/** In one turn: a turn is to be short. */
const MOST_EXAMINED = 2_000;
/** In one turn, of what rules have spoken of. */
const MOST_TAKEN = 5_000;

/** The server has seen what the cache has not. */
const AHEAD: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>(['KUBE_ALREADY_EXISTS', 'KUBE_CONFLICT', 'KUBE_PRECONDITION']);

export class ObjectWriter {
  readonly #options: ObjectWriterOptions;
  readonly #pending = new Set<ObjectId>();
  /** Writes under way by object; while there are any, nothing else is written to it. */
  readonly #underWay = new Map<ObjectId, Map<ObjectWrite, WriteIntent>>();
  /** Writes that were acknowledged and whose effect has not been seen yet. */
  readonly #acknowledged = new Map<ObjectId, ObjectWrite[]>();
  /** Objects with a write that lets them go and is not answered yet. */
  readonly #releasing = new Map<ObjectId, ObjectWrite>();
  readonly #delays: WriteDelays;
  /** What is left of all objects that are to be looked at again. */
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
    const left = this.#pending.size + this.#underWay.size + this.#options.desired.dirtyObjects.size;
    return left === 0 && this.#all === undefined && this.#delays.quiet;
  }

  /** Objects with writes that are not sent now, by what keeps them. */
  get delayed(): ReadonlyMap<WriteDelay, number> {
    const delay = this.#delays.onAll();
    return delay === undefined ? this.#delays.counts : new Map([[delay, this.#pending.size]]);
  }

  /** Whether a write is under way after which nothing of Kiln's keeps the object: it may be gone at any moment. */
  releasesObject(id: ObjectId): boolean {
    return this.#releasing.has(id);
  }

  /** An object changed outside, or a reply came in. */
  mark(id: ObjectId): void {
    this.#delays.changed(id);
    this.#acknowledged.delete(id);
    this.#pending.add(id);
  }

  /** What kept an object from being written is over. */
  reexamine(id: ObjectId): void {
    this.#pending.add(id);
    this.#options.wake();
  }

  /** Looks at every object again; `flush` begins with it, some at a time. */
  examineAll(): void {
    this.#all = this.#options.desired.objectIds;
  }

  /** What would be written now. Changes nothing. */
  plan(): readonly ObjectWrite[] {
    return [...this.#options.desired.objectIds].flatMap((id) => this.#diff(id));
  }

  flush(): void {
    const { wake } = this.#options;
    // Only then: what is compared before all are known is compared again.
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

  /** @returns false where the turn is over before all that is to be compared was taken */
  #takeDirty(): boolean {
    const { desired } = this.#options;
    let taken = 0;
    for (const id of desired.dirtyObjects) {
      if (taken++ >= MOST_TAKEN) return false;
      desired.dirtyObjects.delete(id);
      this.mark(id);
    }
    for (let next = this.#all?.next(); next !== undefined; next = this.#all?.next()) {
      if (next.done === true) this.#all = undefined;
      else this.mark(next.value);
      if (taken++ >= MOST_TAKEN) return false;
    }
    return true;
  }

  /** @returns whether a hold is asked about again in the next turn */
  #look(id: ObjectId): 'again' | 'done' {
    try {
      if (this.#options.source.isLate?.(...apart(id)) === true) return 'done';
      const delay = this.#delays.onObject(id);
      if (delay === undefined) return this.#write(id);
      if (delay === 'unanswered') this.#takeBack(id);
    } catch (error) {
      this.#options.onFailure(id, error);
      this.#delays.rest(id, 'late');
    }
    return 'done';
  }

  /** Takes back writes that were submitted, are not sent yet, and are no longer wanted: the object may be in use again. */
  #takeBack(id: ObjectId): void {
    let wanted: ReadonlySet<string> | undefined;
    for (const [write, intent] of this.#underWay.get(id) ?? []) {
      if (!this.#options.writer.waits(intent)) continue;
      wanted ??= new Set(this.#diff(id).map(textOf));
      if (!wanted.has(textOf(write))) this.#options.writer.cancel(intent);
    }
  }

  /** Sends what is due of an object and not held. @returns whether a hold is asked about again in the next turn */
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
    const { desired, source, wallTime, date } = this.#options;
    const now = this.#timestamp(wallTime());
    return diffObject(resource, key, desired.object(id), source.get(resource, key), now, this.#timestamp(date()));
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

  /** @param seen version of the object that was known when the write was sent */
  #finished(id: ObjectId, write: ObjectWrite, result: WriteResult, seen: string | undefined): void {
    const [resource, key] = apart(id);
    const { source, onWritten, onEvent } = this.#options;
    this.#pending.add(id);
    this.#delays.answered(id, write, result.ok ? undefined : result.error);
    if (result.ok) {
      const uid = write.verb === 'create' ? result.object?.metadata.uid : write.uid;
      if (write.verb === 'delete' && (result.object === undefined || isGone(result.object)))
        source.applyOwnDelete(resource, key, write.uid);
      else if (result.object !== undefined) source.applyOwn(resource, result.object);
      for (const event of write.events) onEvent(write, uid, event);
      this.#acknowledge(id, write);
    } else {
      const { uid: held, resourceVersion } = source.get(resource, key)?.metadata ?? {};
      const { code } = result.error;
      if (code === 'KUBE_NOT_FOUND' && write.verb !== 'create' && held === write.uid) source.expectEvent(resource);
      if (AHEAD.has(code) && resourceVersion === seen) source.isAhead(resource, key);
    }
    onWritten(write, result);
  }

  /**
   * If the same write is due twice and the object did not change in between, the server accepts it and drops what it says (a field that an
   * older CRD does not have). Such a write is repeated less and less often.
   */
  #acknowledge(id: ObjectId, write: ObjectWrite): void {
    const before = this.#acknowledged.get(id);
    if (before === undefined) {
      this.#acknowledged.set(id, [write]);
      return;
    }
    const text = textOf(write);
    if (before.some((one) => textOf(one) === text)) this.#delays.rest(id, 'soon');
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

/** A pod cannot start before this is written: its IP object, or the annotations that its node reads. */
function binds(write: ObjectWrite): boolean {
  return write.verb === 'create' || (write.verb === 'patch' && write.resource === 'pods' && write.subresource === undefined);
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
