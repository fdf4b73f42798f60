/** Where a pod was given addresses, as its annotations say. */
import { podAnnotation } from '../api/well-known.ts';
import type { Labels } from '../api/meta.ts';

const ALLOCATED = '.kubernetes.io/allocated';

/** Subnets by name. Annotations of an interface for addresses only do not name its Subnet: for such a one, `provider/<provider>`. */
export function allocatedPlaces(annotations: Labels): readonly string[] {
  return Object.keys(annotations).flatMap((key) => {
    if (!key.endsWith(ALLOCATED) || annotations[key] !== 'true') return [];
    const provider = key.slice(0, -ALLOCATED.length);
    const subnet = annotations[podAnnotation(provider, 'logical_switch')] ?? '';
    return [subnet === '' ? `provider/${provider}` : subnet];
  });
}
