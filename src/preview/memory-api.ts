/**
 * An API server in memory, over the tables of a World: what Kiln and users write comes back as if it had been observed. It remembers what
 * each object was before the first change.
 */
import type { OwnerReference } from '../api/kubernetes/meta.ts';
import { fileObject, isObserved, keptOf } from '../controller/reading/observed-objects.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { ReviewedObject } from '../webhook/protocol/admission-review.ts';
import type { ObjectId } from '../compile/output.ts';
import { objectId } from '../compile/output.ts';
import { equal } from '../engine/equal.ts';
import type { ResourceName } from '../world/resources.ts';
import { keyOf, RESOURCE_NAMES, resourceOfKind, traitsOf } from '../world/resources.ts';
import type { Untrimmed } from '../world/trim.ts';
import type { AnyObservedObject, World } from '../world/world.ts';

export interface TouchedObject {
  readonly resource: ResourceName;
  readonly key: string;
  /** Undefined: it did not exist. */
  readonly before: AnyObservedObject | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

export class MemoryApi {
  readonly touched = new Map<ObjectId, TouchedObject>();
  readonly #world: World;
  readonly #now: string;
  /** Called after each change. */
  readonly #changed: (id: ObjectId) => void;
  /** Uids of deleted objects and of workloads that are gone: what they own goes too. */
  readonly #gone = new Set<string>();
  #serial = 0;

  /** @param now RFC 3339 */
  constructor(world: World, now: string, changed: (id: ObjectId) => void) {
    this.#world = world;
    this.#now = now;
    this.#changed = changed;
  }

  get(resource: ResourceName, key: string): AnyObservedObject | undefined {
    return this.#world.tables[resource]?.peek(key);
  }

  /** Whether Kiln observes the kind. */
  observes(resource: ResourceName): boolean {
    return isObserved(this.#world, resource);
  }

  /** Stores an object that a user applies: with the metadata that the API server adds. */
  put(resource: ResourceName, object: ReviewedObject): void {
    const key = keyOf({ metadata: { ...object.metadata, name: object.metadata.name ?? '' } });
    const { group, version, kind } = traitsOf(resource);
    const { generation = 0 } = (object.metadata as { readonly generation?: number }) ?? {};
    const stored = {
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind,
      ...object,
      metadata: {
        creationTimestamp: this.#now,
        ...object.metadata,
        uid: object.metadata.uid ?? this.#newUid(),
        generation: generation + 1,
        resourceVersion: this.#newVersion(),
      },
    };
    this.#file(resource, key, keptOf(resource)(stored as unknown as Untrimmed) as AnyObservedObject);
  }

  /** Deletes an object as a user does; what blocks a deletion keeps it. */
  delete(resource: ResourceName, key: string): void {
    const object = this.get(resource, key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    if ((object.metadata.finalizers ?? []).length > 0) {
      this.#file(resource, key, {
        ...object,
        metadata: { ...object.metadata, deletionTimestamp: this.#now, resourceVersion: this.#newVersion() },
      });
      return;
    }
    this.#remove(resource, key, object);
    if (resource === resourceOfKind('namespace')) this.#empty(key);
  }

  /** A workload that Kiln does not observe is gone: its pods go. @param uid of it, or of what it made */
  ownerGone(uid: string): void {
    this.#gone.add(uid);
  }

  /** Deletes what is owned by deleted objects alone. @returns whether anything was */
  collect(): boolean {
    let found = false;
    for (const resource of this.#gone.size === 0 ? [] : RESOURCE_NAMES) {
      for (const [key, { metadata }] of [...(this.#world.tables[resource]?.entries() ?? [])]) {
        const owners: readonly OwnerReference[] = metadata.ownerReferences ?? [];
        if (owners.length === 0 || metadata.deletionTimestamp !== undefined || !owners.every(({ uid }) => this.#gone.has(uid))) continue;
        this.delete(resource, key);
        found = true;
      }
    }
    return found;
  }

  /** Carries out a write of Kiln's. @returns whether anything changed */
  write(write: ObjectWrite): boolean {
    const { resource, namespace, name } = write;
    const key = keyOf({ metadata: { namespace, name } });
    const held = this.get(resource, key);
    switch (write.verb) {
      case 'create': {
        if (held !== undefined) return false;
        const object = write.object as unknown as ReviewedObject;
        this.put(resource, { ...object, metadata: { ...object.metadata, name, ...(namespace === '' ? {} : { namespace }) } });
        return true;
      }
      case 'delete':
        if (held?.metadata.uid !== write.uid) return false;
        this.delete(resource, key);
        return true;
      case 'evict':
        if (held?.metadata.uid !== write.uid) return false;
        this.#remove(resource, key, held);
        return true;
      case 'patch': {
        if (held?.metadata.uid !== write.uid) return false;
        const { resourceVersion: _, ...patch } = write.patch;
        const after = merged(held as unknown as Fields, patch, write.style) as unknown as AnyObservedObject;
        if (equal(after, held)) return false;
        const { finalizers = [], deletionTimestamp, generation = 0 } = after.metadata;
        if (deletionTimestamp !== undefined && finalizers.length === 0) this.#remove(resource, key, held);
        else {
          const isNewer = !equal(after.spec, held.spec);
          const metadata = { ...after.metadata, generation: generation + (isNewer ? 1 : 0), resourceVersion: this.#newVersion() };
          this.#file(resource, key, { ...after, metadata });
        }
        return true;
      }
    }
  }

  #empty(namespace: string): void {
    for (const resource of RESOURCE_NAMES) {
      if (!traitsOf(resource).namespaced) continue;
      for (const [key, { metadata }] of [...(this.#world.tables[resource]?.entries() ?? [])])
        if (metadata.namespace === namespace) this.delete(resource, key);
    }
  }

  #remove(resource: ResourceName, key: string, { metadata }: AnyObservedObject): void {
    this.#gone.add(metadata.uid);
    this.#file(resource, key, undefined);
  }

  #file(resource: ResourceName, key: string, object: AnyObservedObject | undefined): void {
    const id = objectId(resource, key);
    if (!this.touched.has(id)) this.touched.set(id, { resource, key, before: this.get(resource, key) });
    fileObject(this.#world, resource, key, object);
    this.#changed(id);
  }

  #newUid(): string {
    return `00000000-0000-4000-8000-${String(++this.#serial).padStart(12, '0')}`;
  }

  /** Newer than any that an API server has given. */
  #newVersion(): string {
    return String(Number.MAX_SAFE_INTEGER - 1_000_000_000 + ++this.#serial);
  }
}

type Style = 'merge' | 'strategic';

/** A merge patch; a strategic one merges conditions by type. */
function merged(object: Fields, patch: Fields, style: Style): Fields {
  const result: Record<string, unknown> = { ...object };
  for (const [name, value] of Object.entries(patch)) {
    const held = object[name];
    if (value === null) delete result[name];
    else if (style === 'strategic' && name === 'conditions') result[name] = mergedByType(listOf(held), listOf(value));
    else if (isFields(value)) result[name] = merged(isFields(held) ? held : {}, value, style);
    else result[name] = value;
  }
  return result;
}

function mergedByType(held: readonly Fields[], patch: readonly Fields[]): readonly Fields[] {
  const types = new Set(patch.map(({ type }) => type));
  return [...held.filter(({ type }) => !types.has(type)), ...patch.filter((one) => one['$patch'] === undefined)];
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
