/** The namespace that a write or an Event counts for. */
import type { ResourceName } from '../world/resources.ts';
import { resourcesWith } from '../world/resources.ts';

/** Cluster-scoped kinds of which each object is for one namespace, which its spec names. */
const FOR_A_NAMESPACE: ReadonlySet<ResourceName> = new Set(resourcesWith('namespaceInSpec'));

/**
 * @param namespace empty for a cluster-scoped object
 * @param object as observed, or to be created; undefined: not known
 * @returns a namespace; empty for the cluster
 */
export function shareOf(resource: ResourceName, namespace: string, object: { readonly spec?: unknown } | undefined): string {
  if (namespace !== '' || !FOR_A_NAMESPACE.has(resource)) return namespace;
  const ofSpec = (object?.spec as { readonly namespace?: unknown } | undefined)?.namespace;
  return typeof ofSpec === 'string' ? ofSpec : '';
}
