/** Where a pod was given addresses, as its annotations say: where to look, and no proof. */
import { MOST_CLAIMS } from '../api/annotation-limits.ts';
import type { Pod } from '../api/core.ts';
import type { Labels } from '../api/meta.ts';
import { annotationKey, DEFAULT_PROVIDER, podAnnotation } from '../api/well-known.ts';
import { pairOf } from './domain.ts';

const ALLOCATED = '.kubernetes.io/allocated';

/** Subnets by name. Annotations of an interface for addresses only do not name its Subnet: for such a one, `provider/<provider>`. */
export function allocatedPlaces(annotations: Labels): readonly string[] {
  const claims = Object.keys(annotations).filter((key) => key.endsWith(ALLOCATED) && annotations[key] === 'true');
  // A tenant may write very many, and its pod is found by its IP objects and ports as well.
  const looked = claims.length <= MOST_CLAIMS ? claims : [podAnnotation(DEFAULT_PROVIDER, 'allocated'), ...claims.slice(0, MOST_CLAIMS)];
  return looked.flatMap((key) => {
    if (annotations[key] !== 'true') return [];
    const provider = key.slice(0, -ALLOCATED.length);
    const subnet = annotations[podAnnotation(provider, 'logical_switch')] ?? '';
    return [subnet === '' ? `provider/${provider}` : subnet];
  });
}

const PORT_VIPS = '.kubernetes.io/port_vips';

/** Pairs of Subnet and node where a pod that names further addresses (`aaps`, `port_vips`) was given its own. */
export function furtherPlaces({ metadata: { annotations = {} }, spec: { nodeName = '' } }: Pod): readonly string[] {
  const isNamed = (key: string): boolean =>
    (key === annotationKey.allowedAddressPairs || key.endsWith(PORT_VIPS)) && annotations[key] !== '';
  if (nodeName === '' || !Object.keys(annotations).some(isNamed)) return [];
  return [...new Set(allocatedPlaces(annotations))].map((subnet) => pairOf(subnet, nodeName));
}
