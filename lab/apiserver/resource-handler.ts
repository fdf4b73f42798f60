/** The verbs of the API on one resource, from a parsed request to a reply. */
import type { AdmissionRequest } from './admission/review.ts';
import type { User } from './authorization/user.ts';
import { bindPodTo, evict, refuseContainer } from './builtin/pod-subresources.ts';
import type { JsonObject } from './json.ts';
import { clone, object } from './json.ts';
import type { KubeObject } from './object.ts';
import {
  deleteOptions,
  integerOf,
  isDryRun,
  reviewedDeletion,
  reviewedOptions,
  selectorOf,
  wantedVersion,
  writeOptions,
} from './requested-options.ts';
import { checkName, checkUpdatedNamespace } from './object-meta.ts';
import type { Operations, UpdateOptions } from './operations.ts';
import { applyPatch, checkPatchType } from './patch/patch.ts';
import { checkNumber, negotiate } from './negotiate.ts';
import type { Reply } from './reply.ts';
import { ObjectList } from './reply.ts';
import { mediaType, readObject, readPatch, readValue } from './request.ts';
import type { RequestMessage, ResourceTarget } from './request.ts';
import type { ResourceDefinition, ScaleSubresource } from './resource.ts';
import { apiVersionOf } from './resource.ts';
import { applyScale, getScaled, readScale, SCALE, scaleObject, scaleToChange } from './scale.ts';
import type { Selector } from './selectors.ts';
import type { ListSnapshots } from './snapshots.ts';
import { ApiError, badRequest, expired, methodNotAllowed, notFound } from './status.ts';
import type { Presentation } from './table.ts';
import { partialMetadata, table } from './table.ts';

export interface ResourceRequest {
  readonly definition: ResourceDefinition;
  readonly target: ResourceTarget;
  readonly query: URLSearchParams;
  readonly message: RequestMessage;
  readonly user: User;
}

/** Called before a write takes effect, with the object to be stored. */
export interface Admission {
  /** Whether any webhook is configured. */
  readonly isConfigured: boolean;
  /** @returns warnings. @throws ApiError when a webhook denies the write. */
  admit(request: AdmissionRequest): Promise<readonly string[]>;
}

export class ResourceHandler {
  readonly #operations: Operations;
  readonly #snapshots: ListSnapshots;
  readonly #admission: Admission;

  constructor(operations: Operations, snapshots: ListSnapshots, admission: Admission) {
    this.#operations = operations;
    this.#snapshots = snapshots;
    this.#admission = admission;
  }

  /** @throws ApiError */
  async handle(request: ResourceRequest): Promise<Reply> {
    const { target, definition, message } = request;
    if (target.subresource !== '') return this.#subresource(request);
    switch (message.method ?? '') {
      case 'HEAD':
        if (!definition.custom) break;
        return target.name === '' ? this.list(request) : this.#get(request);
      case 'GET':
        return target.name === '' ? this.list(request) : this.#get(request);
      case 'POST':
        if (target.name !== '') break;
        return this.#create(request);
      case 'PUT':
        if (target.name === '' && !definition.custom) break;
        if (target.name === '') throw badRequest('name must be provided');
        return this.#update(request, {});
      case 'PATCH':
        if (target.name === '') break;
        return this.#patch(request, {});
      case 'DELETE':
        if (target.name !== '') return this.#delete(request);
        if (!definition.verbs.includes('deletecollection')) break;
        return this.#deleteCollection(request);
      default:
    }
    throw notServed(definition, message.method);
  }

  async #subresource(request: ResourceRequest): Promise<Reply> {
    const { target, definition, message } = request;
    const { namespace, name, subresource } = target;
    if (subresource === 'status' && definition.hasStatus) {
      if (message.method === 'GET') return this.#get(request);
      if (message.method === 'PUT') return this.#update(request, { subresource: 'status' });
      if (message.method === 'PATCH') return this.#patch(request, { subresource: 'status' });
    }
    if (subresource === 'scale' && definition.scale !== undefined) return this.#scale(request, definition.scale);
    if (subresource === 'finalize' && definition.table === 'namespaces' && message.method === 'PUT')
      return this.#update(request, { subresource: 'finalize' });
    if (definition.table === 'pods' && message.method === 'POST' && (subresource === 'binding' || subresource === 'eviction')) {
      const body = await readObject(message);
      const dryRun = isDryRun(request.query, 'CreateOptions');
      const result =
        subresource === 'binding'
          ? bindPodTo(this.#operations, definition, namespace, name, body, dryRun)
          : evict(this.#operations, definition, namespace, name, body, dryRun);
      return { status: 201, body: result };
    }
    if (definition.table === 'pods' && ['log', 'exec', 'attach', 'portforward'].includes(subresource)) {
      refuseContainer(this.#operations.get(definition, namespace, name), subresource, request.query.get('container') ?? '');
      // No container runs here, so the log is empty.
      return { status: 204, body: {} };
    }
    if (subresource === 'status' && definition.hasStatus) throw methodNotAllowed(definition, verbOf(message.method ?? ''));
    throw definition.custom
      ? notFound(definition, name)
      : new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});
  }

  #get(request: ResourceRequest): Reply {
    const { definition, target, query, message } = request;
    const presentation = negotiate(message.headers.accept, query);
    wantedVersion(query, this.#operations.store.revision);
    return { status: 200, body: this.#present(definition, this.#operations.get(definition, target.namespace, target.name), presentation) };
  }

  #present(definition: ResourceDefinition, item: KubeObject, presentation: Presentation): JsonObject {
    checkNumber(presentation, definition, false);
    if (presentation.kind === 'Table')
      return table(
        definition,
        [item],
        presentation,
        { resourceVersion: item.metadata.resourceVersion },
        this.#operations.environment.now(),
      );
    return presentation.kind === 'Object' ? item : partialMetadata(item, presentation.version);
  }

  /** @throws ApiError */
  list(request: ResourceRequest): Reply {
    const { definition, target, query, message } = request;
    const presentation = negotiate(message.headers.accept, query);
    checkNumber(presentation, definition, true);
    const { store, environment } = this.#operations;
    const limit = integerOf(query, 'limit');
    integerOf(query, 'timeoutSeconds');
    const token = query.get('continue') ?? '';
    const wanted = wantedVersion(query, store.revision);
    const matches = selectorOf(definition, query);
    const chunk =
      token === ''
        ? wanted.isExact
          ? this.#snapshots.first(this.#selectAt(request, matches, wanted.revision), wanted.revision, limit, environment.now())
          : this.#snapshots.first(this.#select(definition, target.namespace, matches), store.revision, limit, environment.now())
        : this.#snapshots.next(token, limit, environment.now(), wanted.revision > 0);
    const metadata: JsonObject = { resourceVersion: String(chunk.revision) };
    if (chunk.continueToken !== '') {
      metadata['continue'] = chunk.continueToken;
      if ((query.get('labelSelector') ?? '') === '' && (query.get('fieldSelector') ?? '') === '')
        metadata['remainingItemCount'] = chunk.remaining;
    }
    if (presentation.kind === 'Table')
      return { status: 200, body: table(definition, chunk.objects, presentation, metadata, environment.now()) };
    const typeMeta =
      presentation.kind === 'Object'
        ? { kind: definition.listKind, apiVersion: apiVersionOf(definition) }
        : { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${presentation.version}` };
    const items = presentation.kind === 'Object' ? chunk.objects : chunk.objects.map((item) => partialMetadata(item, presentation.version));
    return { status: 200, body: new ObjectList({ ...typeMeta, metadata }, items) };
  }

  /** @throws ApiError 410 */
  #selectAt({ definition, target }: ResourceRequest, matches: Selector, revision: number): KubeObject[] {
    const then = this.#operations.store.listAt(definition.table, revision, target.namespace);
    if (then === undefined) throw expired('The resourceVersion for the provided list is too old.');
    return then.map((item) => this.#operations.toView(definition, item)).filter(matches);
  }

  #select(definition: ResourceDefinition, namespace: string, matches: Selector): KubeObject[] {
    return this.#operations.store
      .list(definition.table, namespace)
      .map((item) => this.#operations.toView(definition, item))
      .filter(matches);
  }

  async #create(request: ResourceRequest): Promise<Reply> {
    const { target, query, message } = request;
    const presentation = negotiate(message.headers.accept, query);
    const body = await readObject(message, request.definition.kind);
    return this.#createObject(request, presentation, body, target.namespace);
  }

  async #createObject(request: ResourceRequest, presentation: Presentation, body: JsonObject, namespace: string): Promise<Reply> {
    const { definition, query } = request;
    const warnings: string[] = [];
    const options = writeOptions(query, warnings, 'CreateOptions');
    if (this.#admission.isConfigured) {
      const draft = this.#operations.create(definition, namespace, clone(body), { ...options, dryRun: true, warn: () => undefined });
      warnings.push(
        ...(await this.#admission.admit({
          operation: 'CREATE',
          definition,
          object: draft,
          old: undefined,
          user: request.user,
          dryRun: options.dryRun === true,
          subresource: '',
          options: reviewedOptions('CreateOptions', query),
        })),
      );
    }
    const created = this.#operations.create(definition, namespace, body, options);
    return { status: 201, body: this.#present(definition, created, presentation), warnings };
  }

  async #update(request: ResourceRequest, options: UpdateOptions): Promise<Reply> {
    const { definition, target, query, message } = request;
    const presentation = negotiate(message.headers.accept, query);
    const body = await readObject(message, definition.kind);
    const { name, namespace } = object(body['metadata']);
    if (typeof name === 'string') checkName(name, target.name);
    if (definition.namespaced) checkUpdatedNamespace(namespace, target.namespace);
    const missing =
      this.#operations.store.get(definition.table, definition.namespaced ? `${target.namespace}/${target.name}` : target.name) ===
      undefined;
    if (missing && definition.createOnUpdate && target.subresource === '')
      return this.#createObject(request, presentation, body, target.namespace);
    return this.#write(request, presentation, () => clone(body), { ...options, replace: true });
  }

  async #patch(request: ResourceRequest, options: UpdateOptions): Promise<Reply> {
    const { definition, query, message } = request;
    const presentation = negotiate(message.headers.accept, query);
    const type = mediaType(message);
    checkPatchType(definition, type);
    const patch = await readPatch(message);
    return this.#write(request, presentation, (current) => applyPatch(definition, type, current, patch), { ...options, isPatch: true });
  }

  async #write(
    request: ResourceRequest,
    presentation: Presentation,
    change: (current: KubeObject) => JsonObject,
    options: UpdateOptions,
  ): Promise<Reply> {
    const { definition, target, query } = request;
    const { namespace, name, subresource } = target;
    const warnings: string[] = [];
    const all: UpdateOptions = {
      ...options,
      ...writeOptions(query, warnings, options.isPatch === true ? 'PatchOptions' : 'UpdateOptions'),
    };
    if (this.#admission.isConfigured) {
      const old = this.#operations.get(definition, namespace, name);
      const draft = this.#operations.update(definition, namespace, name, change, { ...all, dryRun: true, warn: () => undefined });
      warnings.push(
        ...(await this.#admission.admit({
          operation: 'UPDATE',
          definition,
          object: draft,
          old,
          user: request.user,
          dryRun: all.dryRun === true,
          subresource,
          options: reviewedOptions('UpdateOptions', query),
        })),
      );
    }
    const updated = this.#operations.update(definition, namespace, name, change, all);
    return { status: 200, body: this.#present(definition, updated, presentation), warnings };
  }

  async #delete(request: ResourceRequest): Promise<Reply> {
    const { definition, target, query, message } = request;
    const presentation = negotiate(message.headers.accept, query);
    const options = deleteOptions(await readValue(message), query);
    const old = this.#operations.get(definition, target.namespace, target.name);
    const warnings = await this.#admission.admit({
      operation: 'DELETE',
      definition,
      object: undefined,
      old,
      user: request.user,
      dryRun: options.dryRun === true,
      subresource: '',
      options: reviewedDeletion(options),
    });
    const { object: item, removed } = this.#operations.delete(definition, target.namespace, target.name, options);
    if (!removed || definition.returnsDeleted) return { status: 200, body: this.#present(definition, item, presentation), warnings };
    const details = {
      name: item.metadata.name,
      ...(definition.group === '' ? {} : { group: definition.group }),
      kind: definition.plural,
      uid: item.metadata.uid,
    };
    return { status: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }, warnings };
  }

  async #deleteCollection(request: ResourceRequest): Promise<Reply> {
    const { definition, target, query, message } = request;
    const options = deleteOptions(await readValue(message), query);
    for (const name of ['limit', 'timeoutSeconds']) integerOf(query, name);
    wantedVersion(query, this.#operations.store.revision);
    const items = this.#select(definition, target.namespace, selectorOf(definition, query));
    for (const item of items) {
      await this.#admission.admit({
        operation: 'DELETE',
        definition,
        object: undefined,
        old: item,
        user: request.user,
        dryRun: options.dryRun === true,
        subresource: '',
        isCollection: true,
        options: reviewedDeletion(options),
      });
      try {
        this.#operations.delete(definition, item.metadata.namespace ?? '', item.metadata.name, options);
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 404)) throw error;
      }
    }
    const metadata = { resourceVersion: String(this.#operations.store.revision) };
    return {
      status: 200,
      body: new ObjectList({ kind: definition.listKind, apiVersion: apiVersionOf(definition), metadata }, items),
    };
  }

  async #scale(request: ResourceRequest, scale: ScaleSubresource): Promise<Reply> {
    const { definition, target, query, message } = request;
    const { namespace, name } = target;
    const warnings: string[] = [];
    const write = (change: (current: KubeObject) => JsonObject, how: UpdateOptions): Reply => {
      const updated = this.#operations.update(
        definition,
        namespace,
        name,
        (item) => applyScale(definition, scale, item, change(scaleToChange(definition, scale, item)), how),
        { ...(how.dryRun === true && { dryRun: true }) },
      );
      return { status: 200, body: scaleObject(scale, updated), warnings };
    };
    switch (message.method ?? '') {
      case 'GET':
        return { status: 200, body: readScale(definition, scale, getScaled(this.#operations, definition, namespace, name)) };
      case 'PUT': {
        const body = await readObject(message, 'Scale');
        return write(() => body, { replace: true, ...writeOptions(query, warnings, 'UpdateOptions') });
      }
      case 'PATCH': {
        const type = mediaType(message);
        checkPatchType(definition, type);
        const patch = await readPatch(message);
        return write((current) => applyPatch(SCALE, type, current, patch), {
          isPatch: true,
          ...writeOptions(query, warnings, 'PatchOptions'),
        });
      }
      default:
        throw notServed(definition, message.method);
    }
  }
}

/** The verb of a method; empty for an unknown one. */
function verbOf(method: string): string {
  return { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }[method] ?? '';
}

function notServed(definition: ResourceDefinition, method = ''): ApiError {
  return definition.custom
    ? methodNotAllowed(definition, verbOf(method))
    : new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}
