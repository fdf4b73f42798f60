import { AnswerLimit } from '../transport/answer-limit.ts';
import { type ListPosition, validateList, validateItem, validateObject, validateStatus } from './answer-validation.ts';
import { isKubeError, KubeError, type KubeSubject } from '../errors.ts';
import { ListReader } from './list-reader.ts';
import {
  apiVersionOf,
  collectionPath,
  type KubeObject,
  type ObjectName,
  objectPath,
  PODS,
  type Resource,
  resourceName,
} from '../resource.ts';
import type { KubeRequest, OpenWatch, Transport } from '../transport/transport.ts';

export interface ListOptions {
  /** For a namespaced resource. Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Most objects in a page. Default: all in one answer. */
  readonly limit?: number | undefined;
  /** Token from the page before. */
  readonly continue?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The limit of the whole list, if this is one page of it. */
  readonly whole?: AnswerLimit | undefined;
}

export interface CachedListOptions extends Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'signal' | 'whole'> {
  /** Name of an array in the objects that the caller does not read: it is left out, at any depth, where that saves work. */
  readonly unread?: string | undefined;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  /** The version of the state that the list shows. */
  readonly resourceVersion: string;
  /** Present when there are more pages. */
  readonly continue: string | undefined;
  /** Number of objects on the remaining pages, if the server gives it. */
  readonly remaining: number | undefined;
}

export interface WatchOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion: string;
  /** After this long the server ends the watch. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

export interface WriteOptions {
  /** `status`, `scale`, … */
  readonly subresource?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface DeleteOptions {
  /** Delete only the object with this uid (else KUBE_PRECONDITION). */
  readonly uid?: string | undefined;
  /** Delete only this version of it (else KUBE_CONFLICT). */
  readonly resourceVersion?: string | undefined;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** RFC 6902. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
}

const WHOLE_LIST_MS = 60_000;

/** Typed requests. Every failure is thrown as a KubeError; integers beyond 2^53 are bigint in and out. */
export class KubeClient {
  readonly transport: Transport;
  readonly #writeQuery: string;

  /** @param fieldManager the field manager of creates and changes; default: the server derives one from the user agent */
  constructor(transport: Transport, fieldManager?: string) {
    this.transport = transport;
    this.#writeQuery = queryOf({ fieldManager });
  }

  async get<T extends KubeObject>(resource: Resource, name: ObjectName, signal?: AbortSignal): Promise<T> {
    const subject = subjectOf('get', resource, name);
    return validateObject(resource, name, await this.#read(subject, objectPath(resource, name), signal), subject) as T;
  }

  /** Like `get`; undefined where there is no such object (or resource). */
  async find<T extends KubeObject>(resource: Resource, name: ObjectName, signal?: AbortSignal): Promise<T | undefined> {
    try {
      return await this.get<T>(resource, name, signal);
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND') || isKubeError(error, 'KUBE_NOT_SERVED')) return undefined;
      throw error;
    }
  }

  /**
   * One page, of the newest state (a quorum read).
   * @throws KubeError KUBE_PROTOCOL if the answer is no list of this resource, KUBE_ANSWER_TOO_LARGE
   */
  async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<ListPage<T>> {
    const { namespace, labelSelector, fieldSelector, limit, continue: token, signal, whole } = options;
    const subject = subjectOf('list', resource, { namespace });
    const path = collectionPath(resource, namespace) + queryOf({ labelSelector, fieldSelector, limit, continue: token });
    if (limit === undefined) return this.#listAtOnce(resource, path, options, subject);
    const answer = await this.#read(subject, path, signal, whole);
    const { items, ...frame } = { items: itemsOf(answer) as readonly T[], ...validateList(resource, answer, subject) };
    for (const item of items) validateItem(resource, item, namespace, subject);
    whole?.objects(items.length, subject);
    return { items, ...frame };
  }

  /** All objects in one answer, which may be longer than a JavaScript string can be. */
  async #listAtOnce<T extends KubeObject>(
    resource: Resource,
    path: string,
    options: ListOptions,
    subject: KubeSubject,
  ): Promise<ListPage<T>> {
    const items: T[] = [];
    const frame = await this.#stream(resource, path, options, subject, (some) => {
      for (const item of some) items.push(item as T);
    });
    return { items, ...frame };
  }

  /**
   * Reads a list from the API server's cache, which may be behind etcd: streamed, without pages.
   * @param take called with some items at a time; they count only when the whole list was read without an error
   * @returns the version of the list
   * @throws KubeError KUBE_PROTOCOL if the answer is no list of this resource, KUBE_ANSWER_TOO_LARGE
   */
  async readCached(resource: Resource, options: CachedListOptions, take: (items: readonly KubeObject[]) => void): Promise<string> {
    const { namespace, labelSelector, fieldSelector } = options;
    const path = collectionPath(resource, namespace) + queryOf({ resourceVersion: '0', labelSelector, fieldSelector });
    return (await this.#stream(resource, path, options, subjectOf('list', resource, { namespace }), take)).resourceVersion;
  }

  async #stream(
    resource: Resource,
    path: string,
    { namespace, signal, unread, whole = new AnswerLimit() }: CachedListOptions,
    subject: KubeSubject,
    take: (items: readonly KubeObject[]) => void,
  ): Promise<ListPosition> {
    const request: KubeRequest = {
      subject,
      method: 'GET',
      path,
      // The server serializes the whole answer before it sends the first byte.
      timeoutMs: WHOLE_LIST_MS,
      // While it sends, it does not pause for long.
      silenceMs: WHOLE_LIST_MS,
      ...(signal === undefined ? {} : { signal }),
    };
    const reader = new ListReader(unread);
    try {
      for await (const chunk of await this.transport.stream(request)) {
        whole.bytes((chunk as Buffer).length, subject);
        const items = reader.push(chunk as Buffer) as KubeObject[];
        for (const item of items) validateItem(resource, item, namespace, subject);
        whole.objects(items.length, subject);
        if (items.length > 0) take(items);
      }
      const frame = reader.end();
      // The items were handed over as they arrived.
      if (itemsOf(frame).length > 0) throw new KubeError('KUBE_PROTOCOL', subject, 'an item of the list is no object');
      return validateList(resource, frame, subject);
    } catch (error) {
      if (error instanceof SyntaxError) throw new KubeError('KUBE_PROTOCOL', subject, 'the list is not whole JSON', { cause: error });
      if (error instanceof RangeError) throw new KubeError('KUBE_ANSWER_TOO_LARGE', subject, error.message, { cause: error });
      throw isKubeError(error) ? error : this.transport.streamFailure(subject, error);
    }
  }

  /** All objects, page after page, for a single use (a cache pages by itself). */
  async listAll<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<T[]> {
    const all: T[] = [];
    const whole = new AnswerLimit();
    let token: string | undefined;
    do {
      const page = await this.list<T>(resource, { limit: 500, whole, ...options, continue: token });
      all.push(...page.items);
      token = page.continue;
    } while (token !== undefined);
    return all;
  }

  /** A watch with bookmarks: one JSON event a line, see {@link Transport.watch}. */
  watch(resource: Resource, options: WatchOptions): Promise<OpenWatch> {
    const query = queryOf({
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
    });
    return this.transport.watch({
      subject: subjectOf('watch', resource, { namespace: options.namespace }),
      method: 'GET',
      path: collectionPath(resource, options.namespace) + query,
      signal: options.signal,
    });
  }

  /** Fills in `apiVersion` and `kind`. With `subresource`, the name comes from the object's metadata. */
  create<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}): Promise<T> {
    const path =
      options.subresource === undefined
        ? collectionPath(resource, object.metadata.namespace)
        : objectPath(resource, object.metadata, options.subresource);
    return this.#write('create', 'POST', resource, object.metadata, path, options, withType(resource, object));
  }

  /** Replaces the object; conflicts unless its resourceVersion is current or absent. */
  update<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}): Promise<T> {
    const path = objectPath(resource, object.metadata, options.subresource);
    return this.#write('update', 'PUT', resource, object.metadata, path, options, withType(resource, object));
  }

  /** RFC 7396. `metadata.resourceVersion` in the patch makes it conditional. */
  mergePatch<T extends KubeObject>(resource: Resource, name: ObjectName, patch: object, options: WriteOptions = {}): Promise<T> {
    const path = objectPath(resource, name, options.subresource);
    return this.#write('patch', 'PATCH', resource, name, path, options, patch, 'application/merge-patch+json');
  }

  /** Lists merge by their keys; the built-in kinds only. */
  strategicPatch<T extends KubeObject>(resource: Resource, name: ObjectName, patch: object, options: WriteOptions = {}): Promise<T> {
    const path = objectPath(resource, name, options.subresource);
    return this.#write('patch', 'PATCH', resource, name, path, options, patch, 'application/strategic-merge-patch+json');
  }

  jsonPatch<T extends KubeObject>(
    resource: Resource,
    name: ObjectName,
    patch: readonly JsonPatchOperation[],
    options: WriteOptions = {},
  ): Promise<T> {
    const path = objectPath(resource, name, options.subresource);
    return this.#write('patch', 'PATCH', resource, name, path, options, patch, 'application/json-patch+json');
  }

  /** @returns the object if it still exists (finalizers, grace period), else undefined */
  async delete<T extends KubeObject>(resource: Resource, name: ObjectName, options: DeleteOptions = {}): Promise<T | undefined> {
    const { uid, resourceVersion } = options;
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
      propagationPolicy: options.propagation,
      gracePeriodSeconds: options.gracePeriodSeconds,
      dryRun: options.dryRun === true ? ['All'] : undefined,
    };
    const subject = subjectOf('delete', resource, name);
    const answer = (await this.transport.request({
      subject,
      method: 'DELETE',
      path: objectPath(resource, name),
      body,
      ...signalOf(options),
    })) as KubeObject;
    if (answer?.kind !== 'Status') return validateObject(resource, name, answer, subject) as T;
    validateStatus(answer as { readonly status?: unknown }, subject);
    return undefined;
  }

  /** Requests the pod's eviction. @throws KubeError KUBE_DISRUPTION_BUDGET when a budget forbids it now */
  async evict(name: ObjectName, options: DeleteOptions = {}): Promise<void> {
    const preconditions = options.uid === undefined ? {} : { preconditions: { uid: options.uid } };
    const attempt = (version: string): Promise<unknown> =>
      this.transport.request({
        subject: subjectOf('evict', PODS, name),
        method: 'POST',
        path: objectPath(PODS, name, 'eviction'),
        body: {
          apiVersion: `policy/${version}`,
          kind: 'Eviction',
          metadata: { name: name.name, namespace: name.namespace },
          deleteOptions: { ...preconditions, gracePeriodSeconds: options.gracePeriodSeconds },
        },
        ...signalOf(options),
      });
    try {
      await attempt('v1');
    } catch (error) {
      // Servers before 1.22 know only policy/v1beta1 and answer any other version with 400.
      if (!isKubeError(error, 'KUBE_BAD_REQUEST') && !isKubeError(error, 'KUBE_NOT_SERVED')) throw error;
      await attempt('v1beta1');
    }
  }

  async version(signal?: AbortSignal): Promise<VersionInfo> {
    return (await this.#read({ verb: 'discover', resource: '/version' }, '/version', signal)) as VersionInfo;
  }

  /** Any other path with a JSON answer (`/apis/<group>/<version>`). */
  getPath(path: string, signal?: AbortSignal): Promise<unknown> {
    return this.#read({ verb: 'discover', resource: path }, path, signal);
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  async #write<T extends KubeObject>(
    verb: string,
    method: 'POST' | 'PUT' | 'PATCH',
    resource: Resource,
    name: ObjectName,
    path: string,
    options: WriteOptions,
    body: object,
    contentType?: string,
  ): Promise<T> {
    const subject = subjectOf(verb, resource, name);
    const answer = await this.transport.request({
      subject,
      method,
      path: this.#writePath(path, options.dryRun === true),
      body,
      ...(contentType === undefined ? {} : { contentType }),
      ...signalOf(options),
    });
    // A Scale has its own kind.
    return options.subresource === undefined || options.subresource === 'status'
      ? (validateObject(resource, name, answer, subject) as T)
      : (answer as T);
  }

  #writePath(path: string, dryRun: boolean): string {
    const query = this.#writeQuery;
    return dryRun ? `${path}${query}${query === '' ? '?' : '&'}dryRun=All` : path + query;
  }

  /** Reads are safe to repeat: on a kept-alive connection that the server has just closed, the request is sent once more. */
  async #read(subject: KubeSubject, path: string, signal: AbortSignal | undefined, whole?: AnswerLimit): Promise<unknown> {
    const request: KubeRequest = {
      subject,
      method: 'GET',
      path,
      ...(signal === undefined ? {} : { signal }),
      ...(whole === undefined ? {} : { onBytes: (bytes) => whole.bytes(bytes, subject) }),
    };
    try {
      return await this.transport.request(request);
    } catch (error) {
      if (!isKubeError(error, 'KUBE_DISCONNECTED')) throw error;
      return this.transport.request(request);
    }
  }
}

export function subjectOf(verb: string, resource: Resource, name: Partial<ObjectName>): KubeSubject {
  return { verb, resource: resourceName(resource), namespace: name.namespace, name: name.name };
}

function withType(resource: Resource, object: KubeObject): object {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}

function itemsOf(answer: unknown): readonly unknown[] {
  const items = (answer as { readonly items?: unknown } | null)?.items;
  return Array.isArray(items) ? (items as unknown[]) : [];
}

function signalOf(options: { readonly signal?: AbortSignal | undefined }): { readonly signal?: AbortSignal } {
  return options.signal === undefined ? {} : { signal: options.signal };
}

function queryOf(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
