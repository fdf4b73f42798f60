/** Whose share of what is sent a write or an Event counts against. */
import type { ResourceName } from '../world/resources.ts';

/** Kinds of the cluster of which each object is for one namespace, which its spec names. */
const FOR_A_NAMESPACE: ReadonlySet<ResourceName> = new Set(['ips', 'vips']);

/**
 * @param namespace empty for an object of the cluster
 * @param object as it is, or as it is to be made; undefined where it is not known
 * @returns a namespace; empty for the cluster
 */
export function shareOf(resource: ResourceName, namespace: string, object: { readonly spec?: unknown } | undefined): string {
  if (namespace !== '' || !FOR_A_NAMESPACE.has(resource)) return namespace;
  const said = (object?.spec as { readonly namespace?: unknown } | undefined)?.namespace;
  return typeof said === 'string' ? said : '';
}
