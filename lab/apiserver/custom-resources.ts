/** Makes served resources of CustomResourceDefinitions, and deletes the custom objects with their definition. */
import { CLEANUP_FINALIZER, setCondition } from './builtin/crd.ts';
import { timestamp } from './environment.ts';
import type { JsonObject } from './json.ts';
import { at, clone, isObject, list, object, text } from './json.ts';
import type { KubeObject } from './object.ts';
import type { Operations } from './operations.ts';
import { columnsOf } from './printer-columns.ts';
import type { ResourceRegistry } from './registry.ts';
import type { ResourceDefinition, ScaleSubresource } from './resource.ts';
import { ALL_VERBS } from './resource.ts';
import { validateScaled } from './scale.ts';
import { readSchema } from './schema/schema.ts';
import { ApiError } from './status.ts';
import type { StoreEvent } from './store.ts';

const TABLE = 'customresourcedefinitions';

export class CustomResources {
  readonly #operations: Operations;
  readonly #registry: ResourceRegistry;
  readonly #crds: ResourceDefinition;
  readonly #served = new Map<string, { readonly generation: number | undefined; readonly definitions: readonly ResourceDefinition[] }>();
  readonly #stop: () => void;

  constructor(operations: Operations, registry: ResourceRegistry) {
    const crds = registry.find('apiextensions.k8s.io', 'v1', TABLE);
    if (crds === undefined) throw new Error('the registry has no CustomResourceDefinitions');
    this.#operations = operations;
    this.#registry = registry;
    this.#crds = crds;
    // In the order of establishment, so that discovery has the same order as before a restart.
    const version = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion);
    for (const crd of operations.store.list(TABLE).toSorted((a, b) => version(a) - version(b))) {
      if (isEstablished(crd)) this.#serve(crd);
      this.#establish(crd.metadata.name);
    }
    this.#stop = operations.store.watchAll((event) => this.#onEvent(event));
  }

  stop(): void {
    this.#stop();
  }

  #onEvent(event: StoreEvent): void {
    const { name } = event.object.metadata;
    if (event.table === TABLE) {
      if (event.type === 'DELETED') this.#withdraw(name);
      else this.#operations.environment.schedule(() => this.#establish(name));
    } else if (event.type === 'DELETED' && event.table.includes('.')) {
      const crd = this.#operations.store.get(TABLE, event.table);
      if (crd?.metadata.deletionTimestamp !== undefined) this.#operations.environment.schedule(() => this.#establish(event.table));
    }
  }

  #establish(name: string): void {
    const crd = this.#operations.store.get(TABLE, name);
    if (crd === undefined) return;
    const known = this.#served.get(name);
    if (crd.metadata.deletionTimestamp !== undefined) {
      // A definition that was being deleted before a restart still serves its objects.
      if (known === undefined) this.#serve(crd);
      this.#empty(crd);
      return;
    }
    if (known !== undefined && known.generation === crd.metadata.generation) return;
    const clash = this.#clash(crd);
    if (clash === undefined) this.#serve(crd);
    const now = timestamp(this.#operations.environment.now());
    this.#operations.update(
      this.#crds,
      '',
      name,
      (before) => {
        const current = clone(before);
        const accepted = clash === undefined;
        setCondition(
          current,
          accepted
            ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
            : { type: 'NamesAccepted', status: 'False', reason: clash.reason, message: clash.message },
          now,
        );
        setCondition(
          current,
          accepted
            ? { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
            : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
          now,
        );
        if (accepted) current['status'] = { ...object(current['status']), acceptedNames: acceptedNames(current) };
        return current;
      },
      { subresource: 'status' },
    );
  }

  #serve(crd: KubeObject): void {
    const { name, generation } = crd.metadata;
    for (const definition of this.#served.get(name)?.definitions ?? []) this.#registry.remove(definition);
    let definitions = compiled.get(crd);
    if (definitions === undefined) compiled.set(crd, (definitions = servedVersions(crd)));
    for (const definition of definitions) this.#registry.add(definition);
    this.#served.set(name, { generation, definitions });
  }

  /** Names must be new within the group. */
  #clash(crd: KubeObject): { readonly reason: string; readonly message: string } | undefined {
    const names = object(at(crd, 'spec', 'names'));
    const group = at(crd, 'spec', 'group');
    for (const other of this.#registry.all()) {
      if (other.group !== group || other.table === crd.metadata.name) continue;
      const taken = [other.plural, other.singular, ...other.shortNames];
      for (const name of [names['plural'], names['singular'], ...list(names['shortNames'])]) {
        if (taken.includes(text(name))) return { reason: 'NameConflict', message: `${JSON.stringify(name)} is already in use` };
      }
      if (other.kind === names['kind'] || other.listKind === names['listKind'])
        return { reason: 'KindConflict', message: `${JSON.stringify(names['kind'])} is already in use` };
    }
    return undefined;
  }

  /** Deletes the objects of a definition that is being deleted, then removes its finalizer. */
  #empty(crd: KubeObject): void {
    if (!(crd.metadata.finalizers ?? []).includes(CLEANUP_FINALIZER)) return;
    const { name } = crd.metadata;
    const definition = this.#served.get(name)?.definitions[0];
    if (definition !== undefined) {
      for (const item of this.#operations.store.list(definition.table)) {
        if (item.metadata.deletionTimestamp === undefined)
          this.#operations.delete(definition, item.metadata.namespace ?? '', item.metadata.name);
      }
      if (this.#operations.store.count(definition.table) > 0) return;
    }
    this.#operations.update(this.#crds, '', name, (current) => {
      const finalizers = (current.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
      return { ...current, metadata: { ...current.metadata, finalizers } };
    });
  }

  #withdraw(name: string): void {
    for (const definition of this.#served.get(name)?.definitions ?? []) {
      this.#registry.remove(definition);
      this.#operations.store.forgetHistory(definition.table);
    }
    this.#served.delete(name);
  }

  /** A terminating definition accepts no new objects. */
  refuseCreate(definition: ResourceDefinition): void {
    if (!definition.custom) return;
    const crd = this.#operations.store.get(TABLE, definition.table);
    if (crd?.metadata.deletionTimestamp !== undefined)
      throw new ApiError(405, 'MethodNotAllowed', `create not allowed while custom resource definition is terminating`);
  }
}

function isEstablished(crd: KubeObject): boolean {
  const conditions = list(at(crd, 'status', 'conditions'));
  return conditions.some((condition) => at(condition, 'type') === 'Established' && at(condition, 'status') === 'True');
}

/** Several servers of one process may start with the same objects: each definition is compiled once. */
const compiled = new WeakMap<KubeObject, readonly ResourceDefinition[]>();

function acceptedNames(crd: KubeObject): JsonObject {
  return { ...object(at(crd, 'spec', 'names')) };
}

function servedVersions(crd: KubeObject): ResourceDefinition[] {
  const spec = object(crd['spec']);
  const names = object(spec['names']);
  const scope = text(spec['scope']);
  return list(spec['versions'])
    .filter(isObject)
    .filter((version) => version['served'] === true)
    .map((version) => {
      const source = object(at(version, 'schema', 'openAPIV3Schema'));
      const scale = scaleOf(version);
      return {
        group: text(spec['group']),
        version: text(version['name']),
        plural: text(names['plural']),
        singular: text(names['singular']),
        kind: text(names['kind']),
        listKind: text(names['listKind']),
        shortNames: list(names['shortNames']).map(text),
        categories: list(names['categories']).map(text),
        namespaced: scope === 'Namespaced',
        verbs: ALL_VERBS,
        table: crd.metadata.name,
        schema: readSchema(source),
        openApiSchema: source,
        custom: true,
        hasStatus: at(version, 'subresources', 'status') !== undefined,
        ...(scale === undefined ? {} : { scale }),
        hasGeneration: true,
        unconditionalUpdate: false,
        createOnUpdate: false,
        returnsDeleted: false,
        fieldSelectors: list(version['selectableFields']).map((field) => text(at(field, 'jsonPath')).replace(/^\./, '')),
        columns: columnsOf(version),
        strategy: scale === undefined ? {} : { validate: (item) => validateScaled(scale, item) },
      };
    });
}

function scaleOf(version: JsonObject): ScaleSubresource | undefined {
  const scale = at(version, 'subresources', 'scale');
  if (!isObject(scale)) return undefined;
  const selector = text(scale['labelSelectorPath']);
  return {
    specReplicasPath: text(scale['specReplicasPath']),
    statusReplicasPath: text(scale['statusReplicasPath']),
    ...(selector === '' ? {} : { labelSelectorPath: selector }),
  };
}
