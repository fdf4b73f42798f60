/**
 * Validates answers with status 200: a proxy, a login portal or a broken server answers 200 as well. A list needs the requested kind and an
 * array of objects of that kind; anything else is `KUBE_PROTOCOL`, never an empty list.
 */
import { KubeError, type KubeSubject } from '../errors.ts';
import { apiVersionOf, type KubeObject, type ObjectName, type Resource } from '../resource.ts';

/** A list without its items, as the server sent it. */
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
 * @throws KubeError KUBE_PROTOCOL if it is not a list of this resource
 */
export function validateList(resource: Resource, answer: unknown, subject: KubeSubject): ListPosition {
  const frame = recordOf(answer);
  const apiVersion = apiVersionOf(resource);
  const kind = `${resource.kind}List`;
  if (frame === undefined) throw doubted(subject, `the answer is ${typeName(answer)}, not a ${kind}`);
  if (frame['kind'] !== kind || frame['apiVersion'] !== apiVersion)
    throw doubted(
      subject,
      `the answer is of kind ${shownValue(frame['apiVersion'])} ${shownValue(frame['kind'])}, not ${apiVersion} ${kind}`,
    );
  const { items } = frame;
  // Servers before 1.17 write `null` for the items of an empty list.
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
 * Lists of built-in kinds leave out the type of their items, watches do not. This function fills it in, so that both give equal objects.
 * @param namespace the requested namespace, if any
 * @throws KubeError KUBE_PROTOCOL if it is not an object of this resource
 */
export function validateItem(resource: Resource, answer: unknown, namespace: string | undefined, subject: KubeSubject): void {
  const item = recordOf(answer);
  if (item === undefined) throw doubted(subject, `an item of the list is ${typeName(answer)}`);
  validateType(resource, item, subject);
  const metadata = validateMetadata(resource, item, subject);
  if (resource.namespaced && namespace !== undefined && namespace !== '' && metadata['namespace'] !== namespace)
    throw doubted(subject, `the list of namespace ${namespace} has an object of namespace ${shownValue(metadata['namespace'])}`);
  item['apiVersion'] ??= apiVersionOf(resource);
  item['kind'] ??= resource.kind;
}

/**
 * The object of a watch event has this kind and a name.
 * @throws KubeError KUBE_PROTOCOL if not
 */
export function validateEventObject(resource: Resource, object: unknown, subject: KubeSubject): void {
  const record = recordOf(object);
  if (record === undefined) throw doubted(subject, `the object of an event is ${typeName(object)}`);
  validateType(resource, record, subject);
  validateMetadata(resource, record, subject);
}

/**
 * The answer to a request for one object has this kind and the requested name.
 * @throws KubeError KUBE_PROTOCOL if not
 */
export function validateObject(resource: Resource, name: Partial<ObjectName>, answer: unknown, subject: KubeSubject): KubeObject {
  const object = recordOf(answer);
  if (object === undefined) throw doubted(subject, `the answer is ${typeName(answer)}, not a ${resource.kind}`);
  validateType(resource, object, subject);
  const { name: answered, namespace } = recordOf(object['metadata']) ?? {};
  // A review has no name, neither in the request nor in the answer.
  const isNameless = name.name === '' && (answered === undefined || answered === '');
  if (typeof answered !== 'string' && !isNameless) throw doubted(subject, `the ${resource.kind} of the answer has no name`);
  const asked = name.namespace ?? '';
  if ((name.name !== undefined && answered !== name.name && !isNameless) || (asked !== '' && (namespace ?? '') !== asked))
    throw doubted(
      subject,
      `the answer is ${resource.kind} ${[namespace, answered].filter(Boolean).map(shownValue).join('/')}, another one`,
    );
  return answer as KubeObject;
}

/** The `Status` of a deletion: a failure in an answer with status 200 does not prove that the object is gone. */
export function validateStatus(answer: { readonly status?: unknown; readonly message?: unknown }, subject: KubeSubject): void {
  if (answer.status !== undefined && answer.status !== 'Success')
    throw doubted(subject, `the answer says ${shownValue(answer.status)}: ${shownValue(answer.message)}`);
}

function validateType(resource: Resource, { apiVersion, kind }: Record<string, unknown>, subject: KubeSubject): void {
  if ((kind ?? resource.kind) === resource.kind && (apiVersion ?? apiVersionOf(resource)) === apiVersionOf(resource)) return;
  throw doubted(
    subject,
    `an object of the answer is of kind ${shownValue(apiVersion)} ${shownValue(kind)}, not ${apiVersionOf(resource)} ${resource.kind}`,
  );
}

function validateMetadata(resource: Resource, object: Record<string, unknown>, subject: KubeSubject): Record<string, unknown> {
  const metadata = recordOf(object['metadata']) ?? {};
  const { name } = metadata;
  if (typeof name !== 'string' || name === '') throw doubted(subject, `a ${resource.kind} of the answer has no name`);
  for (const field of ['uid', 'resourceVersion', ...(resource.namespaced ? ['namespace'] : [])])
    if (typeof metadata[field] !== 'string' || metadata[field] === '')
      throw doubted(subject, `${resource.kind} ${shownValue(name)} of the answer has no ${field}`);
  return metadata;
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** A text of the server, shortened for a message. */
function shownValue(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : value === undefined ? '(none)' : typeName(value);
}

function doubted(subject: KubeSubject, why: string): KubeError {
  return new KubeError('KUBE_PROTOCOL', subject, why);
}
