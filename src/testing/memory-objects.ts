/**
 * Kubernetes objects in the tables of a World, changed as an API server would: uid, generation, finalizers and deletion, patches,
 * conditions with their Events.
 */
import type { Condition } from '../api/kubernetes/meta.ts';
import { storableLabels } from '../api/values/label-value.ts';
import { FINALIZER, LEGACY_FINALIZERS, kilnAnnotation } from '../api/well-known.ts';
import { RejectedWrites } from '../commit/rejected-writes.ts';
import { diffConditions, eventOfCondition } from '../diff/condition-diff.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import { diffObject } from '../diff/object-diff.ts';
import type { ConditionOutput, Json, ObjectOutput, PatchOutput } from '../compile/output.ts';
import { objectId } from '../compile/output.ts';
import { conditionsOf } from '../world/conditions.ts';
import { equal } from '../engine/equal.ts';
import { KubeError } from '../kube/errors.ts';
import type { ResourceName } from '../world/resources.ts';
import { keyOf, splitKey, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import type { Table } from '../engine/table.ts';

export interface TestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly creationTimestamp: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec: Readonly<Record<string, Json>>;
  readonly status?: Readonly<Record<string, Json>> & { readonly conditions?: readonly Condition[] };
}

export interface TestEvent {
  readonly object: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** The fields that a test gives; the rest is filled in. */
export interface ObjectInput {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    /** Default: a second after that of the object made before. */
    readonly creationTimestamp?: string;
    readonly ownerReferences?: readonly object[];
    readonly managedFields?: readonly object[];
  };
  readonly spec?: object;
  readonly status?: object;
}

export class MemoryObjects {
  readonly events: TestEvent[] = [];
  /** The time of conditions (milliseconds since the epoch), or that of the last object if it is later. */
  clock = 0;
  /** Whether disruption budgets allow that a pod is evicted now. */
  mayEvict: (pod: string) => boolean = () => true;
  /** Why the API server rejects a write; undefined: it accepts it. */
  rejects: ((write: ObjectWrite) => string | undefined) | undefined;
  readonly #rejected: RejectedWrites;
  readonly #world: World;
  #serial = 0;

  constructor(world: World) {
    this.#world = world;
    this.#rejected = new RejectedWrites({
      table: world.rejectedWrites,
      monotonicNow: () => this.clock,
      later: () => undefined,
      due: () => undefined,
    });
  }

  /** Takes over all objects of another instance, like a new client of the same API server. */
  observe(before: MemoryObjects): void {
    this.#serial = before.#serial;
    for (const [resource, table] of Object.entries(this.#tables())) {
      for (const [key, object] of before.#need(resource as ResourceName).entries()) table.set(key, object);
    }
  }

  get(resource: ResourceName, key: string): TestObject | undefined {
    return this.#table(resource)?.peek(key);
  }

  keys(resource: ResourceName): string[] {
    return [...(this.#table(resource)?.entries() ?? [])].map(([key]) => key).toSorted();
  }

  /** Takes over all objects of another World. */
  load(other: World): void {
    const from = tablesOf(other);
    for (const [resource, table] of Object.entries(tablesOf(this.#world))) {
      for (const [key, object] of from[resource as keyof typeof from]?.entries() ?? []) table.set(key, object);
    }
    this.#serial = 1_000_000;
  }

  /** `kubectl apply`, with the spec replaced as a whole. Each new object is a second younger than the last. */
  put(resource: ResourceName, input: ObjectInput): TestObject {
    const table = this.#need(resource);
    const key = keyOf(input);
    const before = table.peek(key);
    const serial = ++this.#serial;
    const { group, version, kind } = traitsOf(resource);
    const { metadata, spec, status, ...others } = input;
    const object: TestObject = {
      ...others,
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind,
      ...(before?.status !== undefined && { status: before.status }),
      ...(status !== undefined && { status: status as NonNullable<TestObject['status']> }),
      metadata: {
        ...(before?.metadata ?? { uid: `uid-${serial}-${key}`, creationTimestamp: timeOf(serial) }),
        ...metadata,
        resourceVersion: String(serial),
        generation: (before?.metadata.generation ?? 0) + 1,
      },
      spec: (spec ?? before?.spec ?? {}) as TestObject['spec'],
    };
    table.set(key, object);
    return object;
  }

  /** `kubectl delete`: sets the deletion timestamp, or removes an object without finalizers. */
  delete(resource: ResourceName, key: string): void {
    const table = this.#need(resource);
    const object = table.peek(key);
    if (object === undefined) return;
    if ((object.metadata.finalizers ?? []).length === 0) table.delete(key);
    else if (object.metadata.deletionTimestamp === undefined)
      this.#write(resource, key, { ...object, metadata: { ...object.metadata, deletionTimestamp: timeOf(++this.#serial) } });
  }

  /** Removes the object by force: in spite of its finalizers, as after their removal by hand. */
  removeByForce(resource: ResourceName, key: string): void {
    this.#need(resource).delete(key);
  }

  /** Applies the outputs about one object. @returns whether anything changed */
  apply(resource: ResourceName, key: string, outputs: readonly ObjectOutput[]): boolean {
    const table = this.#table(resource);
    if (table === undefined) return false;
    for (const output of outputs) {
      const object = table.peek(key);
      if (output.kind === 'create' && object === undefined) {
        const { namespace, name } = splitKey(key);
        const answer = this.#asked({ resource, namespace, name, events: [], verb: 'create', object: output.object });
        if (answer !== 'taken') return answer === 'rejected';
        const object = output.object as unknown as { readonly metadata?: object; readonly spec?: object };
        this.put(resource, { ...object, metadata: { ...object.metadata, name, ...(namespace !== '' && { namespace }) } });
        return true;
      }
      if (
        output.kind === 'evict' &&
        object?.metadata.uid === output.uid &&
        object.metadata.deletionTimestamp === undefined &&
        this.mayEvict(key)
      ) {
        if (output.event !== undefined) this.events.push(eventOf(resource, object, output.event.type, output.event));
        table.delete(key);
        return true;
      }
      if (output.kind === 'delete' && object?.metadata.uid === output.uid && object.metadata.deletionTimestamp === undefined) {
        if (output.event !== undefined) this.events.push(eventOf(resource, object, output.event.type, output.event));
        this.delete(resource, key);
        return true;
      }
    }
    const object = table.peek(key);
    if (object === undefined) return false;
    const emitted = outputs.filter((output) => output.kind === 'patch').filter(({ uid }) => uid === object.metadata.uid);
    const { patches, rejected } = this.#withoutRejected(resource, key, object, emitted);
    const eventsBefore = this.events.length;
    const after = patches.reduce((now, patch) => this.#patched(resource, now, patch), withFinalizers(object, patches));
    if (equal(after, object)) return rejected;
    this.#write(resource, key, after);
    // Before conditions, as in the real writer.
    if (!equal([after.metadata, after.spec], [object.metadata, object.spec]))
      this.events.splice(
        eventsBefore,
        0,
        ...patches.flatMap((patch) =>
          patch.event === undefined || !changes(patch, object) ? [] : [eventOf(resource, object, patch.event.type, patch.event)],
        ),
      );
    if (after.metadata.deletionTimestamp !== undefined && (after.metadata.finalizers ?? []).length === 0) table.delete(key);
    return true;
  }

  /** The parts of patches that the API server accepts: rejected parts are left out. */
  #withoutRejected(
    resource: ResourceName,
    key: string,
    object: TestObject,
    patches: readonly PatchOutput[],
  ): { readonly patches: readonly PatchOutput[]; readonly rejected: boolean } {
    if (this.rejects === undefined) return { patches, rejected: false };
    const traits = traitsOf(resource);
    let left = patches;
    let rejected = false;
    for (const write of diffObject(resource, key, patches, object, this.#now())) {
      const answer = this.#asked(write);
      if (answer === 'taken' || write.verb !== 'patch') continue;
      rejected ||= answer === 'rejected';
      const inStatus = write.subresource === 'status';
      left = left.map((patch): PatchOutput => {
        const { kind, key: of, uid } = patch;
        const { status, conditions, withoutConditions, ...others } = patch;
        if (inStatus) return others;
        if (traits.conditions !== 'status' || !traits.statusSubresource) return { kind, resource, key: of, uid };
        return {
          ...{ kind, resource, key: of, uid },
          ...(status !== undefined && { status }),
          ...(conditions !== undefined && { conditions }),
          ...(withoutConditions !== undefined && { withoutConditions }),
        };
      });
    }
    return { patches: left, rejected };
  }

  #asked(write: ObjectWrite): 'taken' | 'rejected' | 'rests' {
    if (this.rejects === undefined) return 'taken';
    if (this.#rejected.inBackoff(write)) return 'rests';
    const { resource, namespace, name, verb } = write;
    const rejection = this.rejects(write);
    const error = rejection === undefined ? undefined : new KubeError('KUBE_FORBIDDEN', { verb, resource, name }, rejection);
    this.#rejected.answered(objectId(resource, namespace === '' ? name : `${namespace}/${name}`), write, error);
    return error === undefined ? 'taken' : 'rejected';
  }

  #patched(resource: ResourceName, object: TestObject, patch: PatchOutput): TestObject {
    const { labels, annotations } = object.metadata;
    const traits = traitsOf(resource);
    const currentConditions = conditionsOf(resource, object);
    const conditions = this.#conditions(resource, object, currentConditions, patch);
    const hasConditions = patch.conditions !== undefined || patch.withoutConditions !== undefined;
    const inAnnotation =
      hasConditions && traits.conditions === 'annotation' && !equal(conditions, currentConditions)
        ? { [kilnAnnotation.conditions]: JSON.stringify(conditions) }
        : {};
    const status = {
      ...merged(object.status ?? {}, patch.status ?? {}),
      ...(hasConditions && traits.conditions === 'status' && { conditions: conditions as unknown as Json }),
    };
    const spec = merged(object.spec, patch.spec ?? {});
    return {
      ...object,
      metadata: {
        ...object.metadata,
        generation: object.metadata.generation + (equal(spec, object.spec) ? 0 : 1),
        ...(patch.labels !== undefined && { labels: merged<string>(labels ?? {}, storableLabels(patch.labels)) }),
        ...((patch.annotations !== undefined || Object.keys(inAnnotation).length > 0) && {
          annotations: merged<string>(annotations ?? {}, { ...patch.annotations, ...inAnnotation }),
        }),
      },
      spec,
      ...(Object.keys(status).length > 0 && { status: status as unknown as NonNullable<TestObject['status']> }),
    };
  }

  #conditions(
    resource: ResourceName,
    object: TestObject,
    currentConditions: readonly Condition[],
    patch: PatchOutput,
  ): readonly Condition[] {
    const now = this.#now();
    const stamp = { now, monotonic: now, observedGeneration: undefined, extended: false };
    const diff = diffConditions(currentConditions, patch.conditions ?? [], patch.withoutConditions ?? [], stamp);
    for (const condition of diff?.withEvent ?? []) {
      const event = eventOfCondition(condition);
      if (event !== undefined) this.events.push(eventOf(resource, object, event.type, event));
    }
    for (const type of diff?.removed ?? []) {
      const event = patch.eventsWithout?.[type];
      if (event !== undefined) this.events.push(eventOf(resource, object, event.type, event));
    }
    return diff?.conditions ?? currentConditions;
  }

  #now(): string {
    return new Date(Math.max(this.clock, Date.parse(timeOf(this.#serial)))).toISOString().replace('.000Z', 'Z');
  }

  #write(resource: ResourceName, key: string, object: TestObject): void {
    this.#need(resource).set(key, { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#serial) } });
  }

  #tables(): Partial<Record<ResourceName, Table<TestObject>>> {
    return tablesOf(this.#world);
  }

  #table(resource: ResourceName): Table<TestObject> | undefined {
    return this.#tables()[resource];
  }

  #need(resource: ResourceName): Table<TestObject> {
    const table = this.#table(resource);
    if (table === undefined) throw new Error(`the World has no table of ${resource}`);
    return table;
  }
}

function tablesOf(world: World): Partial<Record<ResourceName, Table<TestObject>>> {
  return world.tables as unknown as Partial<Record<ResourceName, Table<TestObject>>>;
}

function withFinalizers(object: TestObject, patches: readonly PatchOutput[]): TestObject {
  const emitted = patches.flatMap(({ finalizer }) => (finalizer === undefined ? [] : [finalizer]));
  if (emitted.length === 0) return object;
  const { finalizers = [], deletionTimestamp } = object.metadata;
  const others = finalizers.filter((one) => one !== FINALIZER && !LEGACY_FINALIZERS.includes(one));
  const takesOwn = finalizers.includes(FINALIZER) || deletionTimestamp === undefined;
  const wanted = !emitted.includes(true) ? others : takesOwn ? [...others, FINALIZER] : finalizers;
  return { ...object, metadata: { ...object.metadata, finalizers: wanted } };
}

/** A merge patch of one level: null removes. */
function merged<V>(object: Readonly<Record<string, V>>, patch: Readonly<Record<string, V | null>>): Record<string, V> {
  return Object.fromEntries(Object.entries({ ...object, ...patch }).filter((entry): entry is [string, V] => entry[1] !== null));
}

/** As in the diff: the Event of a patch that was written before is not emitted again with another patch of the object. */
function changes({ finalizer, labels, annotations, spec }: PatchOutput, { metadata, spec: observed }: TestObject): boolean {
  const differs = (fields: Readonly<Record<string, Json | null>> | undefined, held: Readonly<Record<string, Json>>): boolean =>
    fields !== undefined && !equal(merged(held, fields), held);
  return (
    finalizer !== undefined ||
    differs(labels && storableLabels(labels), metadata.labels ?? {}) ||
    differs(annotations, metadata.annotations ?? {}) ||
    differs(spec, observed)
  );
}

function eventOf(
  resource: ResourceName,
  object: TestObject,
  type: string,
  { reason, message }: Pick<ConditionOutput, 'reason' | 'message'>,
): TestEvent {
  return { object: `${resource}/${keyOf(object)}`, type, reason, message };
}

function timeOf(serial: number): string {
  return new Date(Date.UTC(2026, 0, 1) + serial * 1000).toISOString().replace('.000Z', 'Z');
}
