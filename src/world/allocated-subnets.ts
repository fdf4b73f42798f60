/** The Subnets of a pod's addresses, as its annotations claim. An index for look-ups; a tenant writes annotations, so it proves nothing. */
import { MOST_CLAIMS, MOST_PORT_VIPS } from '../api/pod/annotation-limits.ts';
import type { Pod } from '../api/kubernetes/core.ts';
import type { Labels } from '../api/kubernetes/meta.ts';
import { annotationKey, DEFAULT_PROVIDER, podAnnotation } from '../api/well-known.ts';
import { canonicalAddress } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import { pairOf } from '../engine/domain.ts';

const ALLOCATED = '.kubernetes.io/allocated';

/** Names of Subnets. An interface with addresses only has no Subnet in its annotations: it gives `provider/<provider>`. */
export function allocatedSubnets(annotations: Labels): readonly string[] {
  const claims = Object.keys(annotations).filter((key) => key.endsWith(ALLOCATED) && annotations[key] === 'true');
  // A tenant may write very many. The limit loses nothing: IP objects and ports find the pod as well.
  const looked = claims.length <= MOST_CLAIMS ? claims : [podAnnotation(DEFAULT_PROVIDER, 'allocated'), ...claims.slice(0, MOST_CLAIMS)];
  return looked.flatMap((key) => {
    if (annotations[key] !== 'true') return [];
    const provider = key.slice(0, -ALLOCATED.length);
    const subnet = annotations[podAnnotation(provider, 'logical_switch')] ?? '';
    return [subnet === '' ? `provider/${provider}` : subnet];
  });
}

const PORT_VIPS = '.kubernetes.io/port_vips';

/** The addresses of `port_vips`, of any interface, in canonical form. */
export function portVipAddresses(annotations: Labels): readonly string[] {
  const listed = Object.keys(annotations).filter((key) => key.endsWith(PORT_VIPS));
  const addresses = listed.slice(0, MOST_CLAIMS).flatMap((key) => splitList(annotations[key] ?? '').slice(0, MOST_PORT_VIPS));
  return [...new Set(addresses.flatMap((text) => canonicalAddress(text) ?? []))];
}

/** Pairs of Subnet and node of a pod that names further addresses (`aaps`, `port_vips`). */
export function furtherAddressSubnets({ metadata: { annotations = {} }, spec: { nodeName = '' } }: Pod): readonly string[] {
  const isNamed = (key: string): boolean =>
    (key === annotationKey.allowedAddressPairs || key.endsWith(PORT_VIPS)) && annotations[key] !== '';
  if (nodeName === '' || !Object.keys(annotations).some(isNamed)) return [];
  return [...new Set(allocatedSubnets(annotations))].map((subnet) => pairOf(subnet, nodeName));
}
