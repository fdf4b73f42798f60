/** A kind that an API server serves, as data. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly deletionTimestamp?: string | null | undefined;
  readonly deletionGracePeriodSeconds?: number | null | undefined;
  readonly finalizers?: readonly string[] | null | undefined;
  readonly annotations?: Readonly<Record<string, string>> | null | undefined;
}

/** The fields that this folder needs of an object; the kinds of `api/` and all of Kubernetes have them. */
export interface KubeObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata: ObjectMeta;
}

/**
 * Whether the object of a reply no longer exists: the server answers a write that removed the last finalizer of a deleted object with that
 * object. A Namespace has finalizers in its spec as well, and exists until these are removed too.
 */
export function isGone(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  const { finalizers: ofSpec } = ((object as { readonly spec?: unknown }).spec ?? {}) as { readonly finalizers?: readonly string[] };
  const kept = (finalizers ?? []).length + (ofSpec ?? []).length;
  return typeof deletionTimestamp === 'string' && kept === 0 && (deletionGracePeriodSeconds ?? 0) === 0;
}

export interface ObjectName {
  /** Undefined or empty for cluster scope. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** `namespace/name`, or `name` for cluster scope. */
export type ObjectKey = string;

export function keyOf(name: ObjectName): ObjectKey {
  return name.namespace === undefined || name.namespace === '' ? name.name : `${name.namespace}/${name.name}`;
}

export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** `vpcs.kubeovn.io`, `pods`. */
export function resourceName(resource: Resource): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** URL path of a collection; default: in all namespaces. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  return resource.namespaced && namespace !== undefined && namespace !== ''
    ? `${root}/namespaces/${encodeURIComponent(namespace)}/${resource.plural}`
    : `${root}/${resource.plural}`;
}

/** URL path of an object or of one of its subresources. */
export function objectPath(resource: Resource, name: ObjectName, subresource?: string): string {
  const path = `${collectionPath(resource, name.namespace)}/${encodeURIComponent(name.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};
export const EVENTS: Resource = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };
export const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
