/**
 * Owner references: collects objects whose owners no longer exist. Background by default; with `foregroundDeletion` the owner waits for its
 * blocking dependents, with `orphan` the dependents stay without the owner.
 */
import type { KubeObject, OwnerReference } from './object.ts';
import type { Operations } from './operations.ts';
import type { ResourceRegistry } from './registry.ts';
import type { ResourceDefinition } from './resource.ts';
import { ApiError } from './status.ts';
import type { StoreEvent } from './store.ts';
import { StoreController } from './store-controller.ts';

interface Located {
  readonly table: string;
  readonly object: KubeObject;
}

export class GarbageCollector extends StoreController {
  readonly #byUid = new Map<string, Located>();
  readonly #dependents = new Map<string, Set<string>>();

  constructor(operations: Operations, registry: ResourceRegistry) {
    super(operations, registry);
    for (const { table, key, object } of operations.store.all())
      this.onEvent({ type: 'ADDED', table, key, revision: operations.store.revision, object });
    for (const { object } of this.#byUid.values()) if (isCollected(object)) this.enqueue(object.metadata.uid);
  }

  protected override onEvent(event: StoreEvent): void {
    const { object, previous } = event;
    const { uid } = object.metadata;
    for (const owner of previous?.metadata.ownerReferences ?? []) this.#dependents.get(owner.uid)?.delete(uid);
    if (event.type === 'DELETED') {
      this.#byUid.delete(uid);
      for (const dependent of this.#dependents.get(uid) ?? []) this.enqueue(dependent);
      this.#dependents.delete(uid);
    } else {
      this.#byUid.set(uid, { table: event.table, object });
      for (const owner of object.metadata.ownerReferences ?? []) {
        let dependents = this.#dependents.get(owner.uid);
        if (dependents === undefined) this.#dependents.set(owner.uid, (dependents = new Set()));
        dependents.add(uid);
      }
      if (event.type === 'ADDED' && (object.metadata.ownerReferences ?? []).length > 0) this.enqueue(uid);
      if (event.type === 'MODIFIED' && isCollected(object)) this.enqueue(uid);
    }
    for (const owner of [...(previous?.metadata.ownerReferences ?? []), ...(object.metadata.ownerReferences ?? [])]) {
      const located = this.#byUid.get(owner.uid);
      if (located !== undefined && isCollected(located.object)) this.enqueue(owner.uid);
    }
  }

  protected override reconcile(uid: string): void {
    const located = this.#byUid.get(uid);
    const definition = located === undefined ? undefined : this.#definition(located.table);
    if (located === undefined || definition === undefined) return;
    try {
      if (located.object.metadata.deletionTimestamp === undefined) this.#collectIfOrphaned(definition, located.object);
      else this.#finishDeletion(definition, located.object);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  #definition(table: string): ResourceDefinition | undefined {
    return this.registry.all().find((definition) => definition.table === table && definition.view === undefined);
  }

  #collectIfOrphaned(definition: ResourceDefinition, object: KubeObject): void {
    const owners = object.metadata.ownerReferences ?? [];
    if (owners.length === 0) return;
    const living = owners.filter((owner) => this.#lives(owner, object));
    const waiting = living.filter(
      (owner) => this.#byUid.get(owner.uid)?.object.metadata.finalizers?.includes('foregroundDeletion') === true,
    );
    const { namespace = '', name, uid } = object.metadata;
    if (living.length === owners.length && waiting.length < living.length) return;
    if (living.length === waiting.length) {
      this.operations.delete(definition, namespace, name, {
        preconditions: { uid },
        propagationPolicy: waiting.length > 0 ? 'Foreground' : 'Background',
      });
    } else if (living.length < owners.length) this.#keepOwners(definition, object, living);
  }

  #lives(owner: OwnerReference, dependent: KubeObject): boolean {
    const found = this.#byUid.get(owner.uid);
    if (found === undefined) return false;
    const { metadata, kind } = found.object;
    return (
      kind === owner.kind &&
      metadata.name === owner.name &&
      (metadata.namespace === undefined || metadata.namespace === dependent.metadata.namespace)
    );
  }

  #keepOwners(definition: ResourceDefinition, object: KubeObject, owners: OwnerReference[]): void {
    const { namespace = '', name } = object.metadata;
    this.operations.update(definition, namespace, name, (current) => ({
      ...current,
      metadata: { ...current.metadata, ownerReferences: owners },
    }));
  }

  #finishDeletion(definition: ResourceDefinition, object: KubeObject): void {
    const finalizers = object.metadata.finalizers ?? [];
    const dependents = [...(this.#dependents.get(object.metadata.uid) ?? [])].flatMap((uid) => this.#byUid.get(uid) ?? []);
    if (finalizers.includes('orphan')) {
      for (const { table, object: dependent } of dependents) {
        const of = this.#definition(table);
        if (of !== undefined)
          this.#keepOwners(
            of,
            dependent,
            (dependent.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== object.metadata.uid),
          );
      }
      this.#removeFinalizer(definition, object, 'orphan');
    } else if (finalizers.includes('foregroundDeletion')) {
      for (const { object: dependent } of dependents) this.enqueue(dependent.metadata.uid);
      const blocking = dependents.some(({ object: dependent }) =>
        (dependent.metadata.ownerReferences ?? []).some(
          (owner) => owner.uid === object.metadata.uid && owner['blockOwnerDeletion'] === true,
        ),
      );
      if (!blocking) this.#removeFinalizer(definition, object, 'foregroundDeletion');
    }
  }

  #removeFinalizer(definition: ResourceDefinition, object: KubeObject, finalizer: string): void {
    const { namespace = '', name } = object.metadata;
    this.operations.update(definition, namespace, name, (current) => {
      const finalizers = (current.metadata.finalizers ?? []).filter((kept) => kept !== finalizer);
      return { ...current, metadata: { ...current.metadata, finalizers } };
    });
  }
}

function isCollected(object: KubeObject): boolean {
  const finalizers = object.metadata.finalizers ?? [];
  return object.metadata.deletionTimestamp !== undefined && (finalizers.includes('orphan') || finalizers.includes('foregroundDeletion'));
}
