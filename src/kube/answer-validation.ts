/**
 * What of an answer with status 200 is believed: a proxy, a portal or a broken server answers that way as well. A list is one where it has the
 * kind that was asked for and an array of objects of that kind; anything else is `KUBE_PROTOCOL`, and never an empty list.
 */
import { KubeError, type KubeSubject } from './errors.ts';
import { apiVersionOf, type KubeObject, type ObjectName, type Resource } from './resource.ts';

/** A list around its items, as the server sent it. */
export interface ListFrame {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly items?: unknown;
  readonly metadata?: { readonly resourceVersion?: unknown; readonly continue?: unknown; readonly remainingItemCount?: unknown } | null;
}

export interface ListPosition {
  readonly resourceVersion: string;
  /** Token of the next page; undefined for none. */
  readonly continue: string | undefined;
  readonly remaining: number | undefined;
}

/**
 * @param answer the list, with or without its items in the array
 * @throws KubeError KUBE_PROTOCOL where it is not a list of this resource
 */
export function validateList(resource: Resource, answer: unknown, subject: KubeSubject): ListPosition {
  const frame = recordOf(answer);
  const apiVersion = apiVersionOf(resource);
  const kind = `${resource.kind}List`;
  if (frame === undefined) throw doubted(subject, `the answer is ${typeName(answer)}, not a ${kind}`);
  if (frame['kind'] !== kind || frame['apiVersion'] !== apiVersion)
    throw doubted(subject, `the answer is of kind ${said(frame['apiVersion'])} ${said(frame['kind'])}, not ${apiVersion} ${kind}`);
  const { items } = frame;
  // Servers before 1.17 write the items of an empty list so.
  if (!Array.isArray(items) && items !== null)
    throw doubted(subject, `the ${kind} has ${items === undefined ? 'no items' : 'items that are no array'}`);
  const { resourceVersion, continue: token, remainingItemCount } = recordOf(frame['metadata']) ?? {};
  if (typeof resourceVersion !== 'string' || resourceVersion === '') throw doubted(subject, 'the list has no resourceVersion');
  if (token !== undefined && token !== null && typeof token !== 'string')
    throw doubted(subject, 'the continue token of the list is no text');
  return {
    resourceVersion,
    continue: typeof token === 'string' && token !== '' ? token : undefined,
    remaining: typeof remainingItemCount === 'number' ? remainingItemCount : undefined,
  };
}

/**
 * Lists of built-in kinds leave the type of their items out, watches do not: it is filled in, so that an object looks the same from both.
 * @param namespace that was asked for, where one was
 * @throws KubeError KUBE_PROTOCOL where it is not an object of this resource
 */
export function validateItem(resource: Resource, answer: unknown, namespace: string | undefined, subject: KubeSubject): void {
  const item = recordOf(answer);
  if (item === undefined) throw doubted(subject, `an item of the list is ${typeName(answer)}`);
  validateType(resource, item, subject);
  const metadata = validateMetadata(resource, item, subject);
  if (resource.namespaced && namespace !== undefined && namespace !== '' && metadata['namespace'] !== namespace)
    throw doubted(subject, `the list of namespace ${namespace} has an object of namespace ${said(metadata['namespace'])}`);
  item['apiVersion'] ??= apiVersionOf(resource);
  item['kind'] ??= resource.kind;
}

/**
 * The object of a watch's event: of this kind, and named.
 * @throws KubeError KUBE_PROTOCOL where it is not
 */
export function validateEventObject(resource: Resource, object: unknown, subject: KubeSubject): void {
  const record = recordOf(object);
  if (record === undefined) throw doubted(subject, `the object of an event is ${typeName(object)}`);
  validateType(resource, record, subject);
  validateMetadata(resource, record, subject);
}

/**
 * The object of an answer to a request for one: of this kind, with the name that was asked for.
 * @throws KubeError KUBE_PROTOCOL where it is not
 */
export function validateObject(resource: Resource, name: Partial<ObjectName>, answer: unknown, subject: KubeSubject): KubeObject {
  const object = recordOf(answer);
  if (object === undefined) throw doubted(subject, `the answer is ${typeName(answer)}, not a ${resource.kind}`);
  validateType(resource, object, subject);
  const { name: answered, namespace } = recordOf(object['metadata']) ?? {};
  // A review has no name, neither when it is asked nor when it is answered.
  const isNameless = name.name === '' && (answered === undefined || answered === '');
  if (typeof answered !== 'string' && !isNameless) throw doubted(subject, `the ${resource.kind} of the answer has no name`);
  const asked = name.namespace ?? '';
  if ((name.name !== undefined && answered !== name.name && !isNameless) || (asked !== '' && (namespace ?? '') !== asked))
    throw doubted(subject, `the answer is ${resource.kind} ${[namespace, answered].filter(Boolean).map(said).join('/')}, another one`);
  return answer as KubeObject;
}

/** The `Status` that tells of a deletion: one of failure in an answer of success is no proof that anything is gone. */
export function validateStatus(answer: { readonly status?: unknown; readonly message?: unknown }, subject: KubeSubject): void {
  if (answer.status !== undefined && answer.status !== 'Success')
    throw doubted(subject, `the answer says ${said(answer.status)}: ${said(answer.message)}`);
}

function validateType(resource: Resource, { apiVersion, kind }: Record<string, unknown>, subject: KubeSubject): void {
  if ((kind ?? resource.kind) === resource.kind && (apiVersion ?? apiVersionOf(resource)) === apiVersionOf(resource)) return;
  throw doubted(
    subject,
    `an object of the answer is of kind ${said(apiVersion)} ${said(kind)}, not ${apiVersionOf(resource)} ${resource.kind}`,
  );
}

function validateMetadata(resource: Resource, object: Record<string, unknown>, subject: KubeSubject): Record<string, unknown> {
  const metadata = recordOf(object['metadata']) ?? {};
  const { name } = metadata;
  if (typeof name !== 'string' || name === '') throw doubted(subject, `a ${resource.kind} of the answer has no name`);
  for (const field of ['uid', 'resourceVersion', ...(resource.namespaced ? ['namespace'] : [])])
    if (typeof metadata[field] !== 'string' || metadata[field] === '')
      throw doubted(subject, `${resource.kind} ${said(name)} of the answer has no ${field}`);
  return metadata;
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** A text of the server, short enough for a message. */
function said(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : value === undefined ? '(none)' : typeName(value);
}

function doubted(subject: KubeSubject, why: string): KubeError {
  return new KubeError('KUBE_PROTOCOL', subject, why);
}
