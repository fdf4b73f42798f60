/** Namespaces: no creations in a missing or terminating one; a terminating namespace deletes its contents. */
import { timestamp } from './environment.ts';
import type { Json, JsonObject } from './json.ts';
import { at, equal, list, object } from './json.ts';
import type { Guard, Operations } from './operations.ts';
import type { ResourceRegistry } from './registry.ts';
import type { ResourceDefinition } from './resource.ts';
import { resourceName, forbidden, notFound } from './status.ts';
import type { StoreEvent } from './store.ts';
import { StoreController } from './store-controller.ts';

const TABLE = 'namespaces';
const PERMANENT = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

export class NamespaceLifecycle extends StoreController {
  constructor(operations: Operations, registry: ResourceRegistry) {
    super(operations, registry);
    operations.addGuard(this.#guard);
    for (const namespace of operations.store.list(TABLE))
      if (namespace.metadata.deletionTimestamp !== undefined) this.enqueue(namespace.metadata.name);
  }

  /** Creates the namespaces that every cluster has. */
  createPermanent(): void {
    const namespaces = this.#namespaces();
    for (const name of PERMANENT) {
      if (this.operations.store.get(TABLE, name) === undefined) this.operations.create(namespaces, '', { metadata: { name } });
    }
  }

  readonly #guard: Guard = ({ verb, definition, namespace, name }) => {
    if (verb === 'delete' && definition.table === TABLE && PERMANENT.has(name))
      throw forbidden(definition, name, 'this namespace may not be deleted');
    if (verb !== 'create' || !definition.namespaced) return;
    const found = this.operations.store.get(TABLE, namespace);
    if (found === undefined) throw notFound({ group: '', plural: TABLE }, namespace);
    if (found.metadata.deletionTimestamp === undefined) return;
    const cause = { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' };
    throw forbidden(definition, name, `unable to create new content in namespace ${namespace} because it is being terminated`, [cause]);
  };

  #namespaces(): ResourceDefinition {
    const definition = this.registry.find('', 'v1', TABLE);
    if (definition === undefined) throw new Error('the registry has no namespaces');
    return definition;
  }

  protected override onEvent(event: StoreEvent): void {
    const name = event.table === TABLE ? event.object.metadata.name : event.object.metadata.namespace;
    if (name === undefined || (event.table === TABLE && event.type === 'DELETED')) return;
    if (this.operations.store.get(TABLE, name)?.metadata.deletionTimestamp !== undefined) this.enqueue(name);
  }

  protected override reconcile(name: string): void {
    const namespace = this.operations.store.get(TABLE, name);
    if (namespace?.metadata.deletionTimestamp === undefined) return;
    const remaining: { readonly definition: ResourceDefinition; readonly count: number; readonly finalizers: readonly string[] }[] = [];
    const seen = new Set<string>();
    for (const definition of this.registry.all()) {
      if (!definition.namespaced || seen.has(definition.table)) continue;
      seen.add(definition.table);
      for (const item of this.operations.store.list(definition.table, name)) {
        if (item.metadata.deletionTimestamp === undefined)
          this.operations.delete(definition, name, item.metadata.name, { propagationPolicy: 'Background' });
      }
      const left = this.operations.store.list(definition.table, name);
      if (left.length > 0)
        remaining.push({ definition, count: left.length, finalizers: left.flatMap((item) => item.metadata.finalizers ?? []) });
    }
    const conditions = this.#conditions(remaining, list(at(namespace, 'status', 'conditions')));
    if (!equal(conditions, at(namespace, 'status', 'conditions'))) {
      this.operations.update(
        this.#namespaces(),
        '',
        name,
        (current) => ({ ...current, status: { ...object(current['status']), conditions } }),
        { subresource: 'status' },
      );
    }
    if (remaining.length === 0 && list(at(namespace, 'spec', 'finalizers')).includes('kubernetes')) {
      this.operations.update(
        this.#namespaces(),
        '',
        name,
        (current) => {
          const finalizers = list(at(current, 'spec', 'finalizers')).filter((finalizer) => finalizer !== 'kubernetes');
          return { ...current, spec: { ...object(current['spec']), finalizers } };
        },
        { subresource: 'finalize' },
      );
    }
  }

  #conditions(
    remaining: readonly { readonly definition: ResourceDefinition; readonly count: number; readonly finalizers: readonly string[] }[],
    before: readonly Json[],
  ): JsonObject[] {
    const content = remaining.map(({ definition, count }) => `${resourceName(definition)} has ${count} resource instances`).sort();
    const counts = new Map<string, number>();
    for (const finalizer of remaining.flatMap(({ finalizers }) => finalizers)) counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
    const held = [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
    const condition = (
      type: string,
      bad: boolean,
      badReason: string,
      badMessage: string,
      goodReason: string,
      goodMessage: string,
    ): JsonObject => {
      const status = bad ? 'True' : 'False';
      const old = before.find((entry) => at(entry, 'type') === type);
      const lastTransitionTime =
        old !== undefined && at(old, 'status') === status
          ? (at(old, 'lastTransitionTime') ?? null)
          : timestamp(this.operations.environment.now());
      return { type, status, lastTransitionTime, reason: bad ? badReason : goodReason, message: bad ? badMessage : goodMessage };
    };
    return [
      condition('NamespaceDeletionDiscoveryFailure', false, '', '', 'ResourcesDiscovered', 'All resources successfully discovered'),
      condition(
        'NamespaceDeletionGroupVersionParsingFailure',
        false,
        '',
        '',
        'ParsedGroupVersions',
        'All legacy kube types successfully parsed',
      ),
      condition(
        'NamespaceDeletionContentFailure',
        false,
        '',
        '',
        'ContentDeleted',
        'All content successfully deleted, may be waiting on finalization',
      ),
      condition(
        'NamespaceContentRemaining',
        content.length > 0,
        'SomeResourcesRemain',
        `Some resources are remaining: ${content.join(', ')}`,
        'ContentRemoved',
        'All content successfully removed',
      ),
      condition(
        'NamespaceFinalizersRemaining',
        held.length > 0,
        'SomeFinalizersRemain',
        `Some content in the namespace has finalizers remaining: ${held.join(', ')}`,
        'ContentHasNoFinalizers',
        'All content-preserving finalizers finished',
      ),
    ];
  }
}
