/**
 * The operations of the API without HTTP: create, update and delete, with the rules of metadata, generation, status, finalizers and grace
 * periods. Every operation is one turn: it reads, checks and writes without a gap.
 */
import { decodeObject } from './decode-object.ts';
import type { Environment } from './environment.ts';
import { timestamp } from './environment.ts';
import type { JsonObject } from './json.ts';
import { at, clone, isObject } from './json.ts';
import type { KubeObject, ObjectMeta } from './object.ts';
import { orderMeta } from './meta-order.ts';
import type { DeleteOptions, Deletion, Guard, UpdateOptions, WriteOptions } from './operation-options.ts';
import { withMeta } from './object.ts';
import { checkName, checkNamespace, checkUpdatedNamespace, sameButVersion, validateMeta, validateMetaUpdate } from './object-meta.ts';
import type { ResourceDefinition } from './resource.ts';
import { apiVersionOf } from './resource.ts';
import { applyDefaults } from './schema/default.ts';
import { validateRules } from './schema/rules.ts';
import { validate } from './schema/validate.ts';
import type { FieldError } from './status.ts';
import { alreadyExists, ApiError, conflict, invalid, invalidValue, modifiedMeanwhile, notFound } from './status.ts';
import type { ObjectStore } from './store.ts';
import { storeKey } from './store.ts';
import { specChanged, statusUpdate } from './update-rules.ts';

export type { DeleteOptions, Deletion, Guard, UpdateOptions, WriteOptions } from './operation-options.ts';

export class Operations {
  readonly store: ObjectStore;
  readonly environment: Environment;
  readonly #guards: Guard[] = [];
  readonly #verdicts: Guard[] = [];
  /** The revision of the store when a definition was first used: objects with a later revision were written by its rules. */
  readonly #since = new WeakMap<ResourceDefinition, number>();

  constructor(store: ObjectStore, environment: Environment) {
    this.store = store;
    this.environment = environment;
  }

  /** Called before defaults and validation; a guard may change an object that is being created. */
  addGuard(guard: Guard): void {
    this.#guards.push(guard);
  }

  /** Called when the new or updated object is complete and valid. */
  addVerdict(guard: Guard): void {
    this.#verdicts.push(guard);
  }

  /** @throws ApiError 404 */
  get(definition: ResourceDefinition, namespace: string, name: string): KubeObject {
    const stored = this.store.get(definition.table, storeKey(namespace, name));
    if (stored === undefined) throw notFound(definition, name);
    return this.toView(definition, stored);
  }

  /** The object in this version of the resource. */
  toView(definition: ResourceDefinition, stored: KubeObject): KubeObject {
    if (definition.view !== undefined) return definition.view.fromStorage(stored);
    const apiVersion = apiVersionOf(definition);
    return stored.apiVersion === apiVersion ? stored : { ...stored, apiVersion };
  }

  /** An object of one version of a resource in another version of it. */
  convert(from: ResourceDefinition, to: ResourceDefinition, object: KubeObject): KubeObject {
    return this.toView(to, this.#toStorage(from, object));
  }

  #toStorage(definition: ResourceDefinition, object: KubeObject): KubeObject {
    return definition.view === undefined ? object : definition.view.toStorage(object);
  }

  /**
   * @param body becomes the object and is changed.
   * @throws ApiError
   */
  create(definition: ResourceDefinition, namespace: string, body: JsonObject, options: WriteOptions = {}): KubeObject {
    this.#rulesSince(definition);
    const object = decodeObject(definition, body, options);
    const meta = object.metadata;
    if (meta.resourceVersion !== undefined) throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created');
    this.#placeIn(definition, object, namespace);
    if ((meta.name ?? '') === '' && meta.generateName !== undefined) meta.name = meta.generateName.slice(0, 58) + this.environment.suffix();
    for (const guard of this.#guards) guard({ verb: 'create', definition, namespace, name: meta.name ?? '', object });
    meta.uid = this.environment.uid();
    meta.creationTimestamp = timestamp(this.environment.now());
    for (const key of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'managedFields', 'selfLink', 'generation']) delete meta[key];
    if (definition.hasGeneration) meta.generation = 1;
    if (definition.hasStatus && definition.custom) delete object['status'];
    definition.strategy.prepareCreate?.(object);
    this.#default(definition, object);
    this.#check(definition, object, undefined);
    for (const verdict of this.#verdicts) verdict({ verb: 'create', definition, namespace, name: meta.name, object, options });
    for (const warning of definition.strategy.warnings?.(object) ?? []) options.warn?.(warning);
    const key = storeKey(namespace, meta.name);
    const existing = this.store.get(definition.table, key);
    if (existing !== undefined) throw alreadyExists(definition, meta.name, existing.metadata.deletionTimestamp !== undefined);
    const ordered = withMeta(object, orderMeta(meta));
    if (options.dryRun === true) return ordered;
    return this.toView(definition, this.store.put(definition.table, key, this.#toStorage(definition, ordered)));
  }

  /**
   * Replaces an object by the result of `change`.
   * @param change gets the current object, which it must not change, and returns the new one, which may share parts with it
   * @throws ApiError
   */
  update(
    definition: ResourceDefinition,
    namespace: string,
    name: string,
    change: (current: KubeObject) => JsonObject,
    options: UpdateOptions = {},
  ): KubeObject {
    const key = storeKey(namespace, name);
    const current = this.get(definition, namespace, name);
    const wanted = change(current);
    // Parts that are shared with the current object are neither checked again nor changed.
    const old = this.#isSettled(definition, current) ? current : undefined;
    const object = decodeObject(definition, old === undefined ? clone(wanted) : ownMeta(wanted), options, old);
    const meta = object.metadata;
    checkName(meta.name, name);
    if (definition.namespaced) checkUpdatedNamespace(meta.namespace, namespace);
    this.#placeIn(definition, object, namespace);
    this.#checkVersion(definition, current, meta, options);
    for (const guard of this.#guards) guard({ verb: 'update', definition, namespace, name, object });
    const next = this.#prepareUpdate(definition, object, current, options, old);
    this.#check(definition, next, current, old);
    for (const verdict of this.#verdicts) verdict({ verb: 'update', definition, namespace, name, object: next, options });
    if (sameButVersion(next, current)) return current;
    if (options.subresource === undefined) for (const warning of definition.strategy.warnings?.(next) ?? []) options.warn?.(warning);
    const ending =
      next.metadata.deletionTimestamp !== undefined &&
      (next.metadata.finalizers ?? []).length === 0 &&
      (next.metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
      !hasSpecFinalizers(next);
    if (options.dryRun === true) return next;
    const stored = this.#toStorage(definition, next);
    if (ending) return this.toView(definition, this.store.remove(definition.table, key, stored) ?? stored);
    return this.toView(definition, this.store.put(definition.table, key, stored));
  }

  /**
   * Whether the rules of this definition have already processed the stored object and would change nothing: then the parts that an update
   * leaves equal need not be decoded, defaulted and validated again.
   */
  #isSettled(definition: ResourceDefinition, { apiVersion, metadata }: KubeObject): boolean {
    const { strategy } = definition;
    const isFirm = strategy.settles === true || (strategy.applyDefaults === undefined && strategy.prepareUpdate === undefined);
    if (!isFirm || definition.view !== undefined || apiVersion !== apiVersionOf(definition)) return false;
    return Number(metadata.resourceVersion) > this.#rulesSince(definition);
  }

  #rulesSince(definition: ResourceDefinition): number {
    let since = this.#since.get(definition);
    if (since === undefined) this.#since.set(definition, (since = this.store.revision));
    return since;
  }

  #prepareUpdate(
    definition: ResourceDefinition,
    object: KubeObject,
    current: KubeObject,
    options: UpdateOptions,
    settled: KubeObject | undefined,
  ): KubeObject {
    const meta = object.metadata;
    const old = current.metadata;
    const immutable = validateMetaUpdate(meta, old);
    if (immutable.length > 0) throw invalid(definition, old.name, immutable);
    for (const key of [
      'uid',
      'creationTimestamp',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
      'generation',
      'generateName',
    ] as const) {
      if (old[key] === undefined) delete meta[key];
      else (meta as JsonObject)[key] = old[key];
    }
    meta.resourceVersion = old.resourceVersion;
    delete meta['managedFields'];
    delete meta['selfLink'];
    let next = object;
    if (options.subresource === 'status') next = statusUpdate(definition, object, settled ?? clone(current));
    else if (definition.hasStatus && options.subresource === undefined) {
      if (current['status'] === undefined) delete next['status'];
      else next['status'] = settled === undefined ? clone(current['status']) : current['status'];
    }
    definition.strategy.prepareUpdate?.(next, current, options.subresource);
    this.#default(definition, next, settled);
    if (definition.hasGeneration && specChanged(definition, next, current)) next.metadata.generation = (old.generation ?? 0) + 1;
    return withMeta(next, orderMeta(next.metadata));
  }

  /** A write of the system itself, such as a binding: stored without the rules for clients. */
  replaceState(
    definition: ResourceDefinition,
    namespace: string,
    name: string,
    change: (current: KubeObject) => KubeObject,
    dryRun = false,
  ): KubeObject {
    const next = change(this.get(definition, namespace, name));
    if (dryRun) return next;
    return this.toView(definition, this.store.put(definition.table, storeKey(namespace, name), this.#toStorage(definition, next)));
  }

  /** @throws ApiError */
  delete(definition: ResourceDefinition, namespace: string, name: string, options: DeleteOptions = {}): Deletion {
    const key = storeKey(namespace, name);
    const current = this.get(definition, namespace, name);
    this.#checkPreconditions(definition, current, options);
    for (const guard of this.#guards) guard({ verb: 'delete', definition, namespace, name, object: current });
    const marked =
      definition.strategy.prepareDelete === undefined || current.metadata.deletionTimestamp !== undefined ? current : clone(current);
    if (marked !== current) definition.strategy.prepareDelete?.(marked);
    const meta: ObjectMeta = { ...marked.metadata };
    const waitsForGrace = this.#startGrace(definition, current, meta, options);
    if (waitsForGrace === 'unchanged') return { object: current, removed: false };
    setPropagation(meta, options.propagationPolicy);
    const waits = waitsForGrace === 'started' || (meta.finalizers ?? []).length > 0 || hasSpecFinalizers(current);
    if (!waits) {
      if (options.dryRun === true) return { object: current, removed: true };
      return {
        object: this.toView(
          definition,
          this.store.remove(
            definition.table,
            key,
            waitsForGrace === 'none' ? undefined : this.#toStorage(definition, withMeta(current, meta)),
          ) ?? current,
        ),
        removed: true,
      };
    }
    if (waitsForGrace !== 'started') {
      meta.deletionTimestamp ??= timestamp(this.environment.now());
      if (!hasSpecFinalizers(current)) meta.deletionGracePeriodSeconds = 0;
    }
    if (current.metadata.deletionTimestamp === undefined && meta.generation !== undefined) meta.generation += 1;
    const next = withMeta(marked, orderMeta(meta));
    if (options.dryRun === true) return { object: next, removed: false };
    if (sameButVersion(next, current)) return { object: current, removed: false };
    return { object: this.toView(definition, this.store.put(definition.table, key, this.#toStorage(definition, next))), removed: false };
  }

  /** Sets the deletion timestamp and the grace period in `meta` if the kind has one. */
  #startGrace(
    definition: ResourceDefinition,
    current: KubeObject,
    meta: ObjectMeta,
    options: DeleteOptions,
  ): 'none' | 'started' | 'over' | 'unchanged' {
    if (definition.strategy.gracePeriod === undefined) return 'none';
    const requested = options.gracePeriodSeconds;
    const now = this.environment.now();
    if (current.metadata.deletionTimestamp !== undefined) {
      const running = current.metadata.deletionGracePeriodSeconds ?? 0;
      if (running === 0) return 'over';
      if (requested === undefined || requested >= running) return 'unchanged';
      const started = Date.parse(current.metadata.deletionTimestamp) - running * 1000;
      meta.deletionGracePeriodSeconds = Math.max(0, requested);
      meta.deletionTimestamp = timestamp(Math.max(now, started + Math.max(0, requested) * 1000));
      return requested <= 0 ? 'over' : 'started';
    }
    const grace = definition.strategy.gracePeriod(current, requested);
    meta.deletionTimestamp = timestamp(now + grace * 1000);
    meta.deletionGracePeriodSeconds = grace;
    return grace === 0 ? 'over' : 'started';
  }

  #checkPreconditions(definition: ResourceDefinition, current: KubeObject, options: DeleteOptions): void {
    const { uid, resourceVersion } = options.preconditions ?? {};
    const { name } = current.metadata;
    const kind = { group: definition.group, plural: definition.kind };
    if (uid !== undefined && uid !== current.metadata.uid) {
      throw conflict(
        kind,
        name,
        `the UID in the precondition (${uid}) does not match the UID in record (${current.metadata.uid}). The object might have been deleted and then recreated`,
      );
    }
    if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
      throw conflict(
        kind,
        name,
        `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${current.metadata.resourceVersion}). The object might have been modified`,
      );
    }
  }

  #checkVersion(definition: ResourceDefinition, current: KubeObject, meta: ObjectMeta, options: UpdateOptions): void {
    const { name } = current.metadata;
    if (meta.uid !== undefined && meta.uid !== '' && meta.uid !== current.metadata.uid) {
      if (options.replace !== true) throw invalid(definition, name, [invalidValue('metadata.uid', meta.uid, 'field is immutable')]);
      throw conflict(
        definition,
        name,
        `Precondition failed: UID in precondition: ${meta.uid}, UID in object meta: ${current.metadata.uid}`,
      );
    }
    if (meta.resourceVersion !== undefined && meta.resourceVersion !== '' && meta.resourceVersion !== '0') {
      if (!/^\d+$/.test(meta.resourceVersion))
        throw invalid(definition, name, [
          invalidValue(
            'metadata.resourceVersion',
            meta.resourceVersion,
            `strconv.ParseUint: parsing ${JSON.stringify(meta.resourceVersion)}: invalid syntax`,
          ),
        ]);
      if (meta.resourceVersion !== current.metadata.resourceVersion) throw modifiedMeanwhile(definition, name);
    } else if (options.replace === true && !definition.unconditionalUpdate) {
      throw invalid({ group: definition.group, kind: definition.plural }, name, [
        { type: 'Invalid', field: 'metadata.resourceVersion', message: 'Invalid value: 0: must be specified for an update' },
      ]);
    }
  }

  #placeIn(definition: ResourceDefinition, object: KubeObject, namespace: string): void {
    const meta = object.metadata;
    if (!definition.namespaced) {
      delete meta.namespace;
      return;
    }
    checkNamespace(meta.namespace, namespace);
    meta.namespace = namespace;
  }

  #default(definition: ResourceDefinition, object: KubeObject, settled?: KubeObject): void {
    if (definition.custom) applyDefaults(definition.schema, object, settled);
    definition.strategy.applyDefaults?.(object);
  }

  #check(definition: ResourceDefinition, object: KubeObject, old: KubeObject | undefined, settled?: KubeObject): void {
    const errors: FieldError[] = validateMeta(definition, object);
    if (definition.custom) errors.push(...validate(definition.schema, object, settled));
    if (definition.custom && errors.length === 0) errors.push(...validateRules(definition.schema, object, old));
    errors.push(...(definition.strategy.validate?.(object, old) ?? []));
    if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors);
  }
}

/** A copy with its own metadata; the other members are shared. */
function ownMeta(object: JsonObject): JsonObject {
  const { metadata } = object;
  return isObject(metadata) ? { ...object, metadata: { ...metadata } } : { ...object };
}

function hasSpecFinalizers(object: KubeObject): boolean {
  const finalizers = object.kind === 'Namespace' ? at(object, 'spec', 'finalizers') : undefined;
  return Array.isArray(finalizers) && finalizers.length > 0;
}

function setPropagation(meta: ObjectMeta, policy: DeleteOptions['propagationPolicy']): void {
  if (policy === undefined) return;
  const kept = (meta.finalizers ?? []).filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion');
  if (policy === 'Orphan') kept.push('orphan');
  if (policy === 'Foreground') kept.push('foregroundDeletion');
  if (kept.length === 0) delete meta.finalizers;
  else meta.finalizers = kept;
}
