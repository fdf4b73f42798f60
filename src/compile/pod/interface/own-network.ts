/**
 * The network of a pod's own interface. Multus decides it once, when it makes the sandbox, by annotation `v1.multus-cni.io/default-network`:
 * an edit of a bound pod's annotation changes nothing of it. Its record is the pod's own: IP object or port row with its uid.
 */
import { DEFAULT_PROVIDER, kilnAnnotation } from '../../../api/well-known.ts';
import type { World } from '../../../world/world.ts';
import type { PodView } from '../view/pod-view.ts';
import { podOrMachineName, podOwner } from '../view/pod-view.ts';
import { isOurs } from '../../vpc/vpc-view.ts';
import { isAllocated, ownInterface, portId, portOf } from './pod-interface.ts';

export type OwnNetwork =
  /** It has its own port, or the record of one. */
  | { readonly kind: 'own' }
  /** Networks of these providers are there instead. */
  | { readonly kind: 'replaced'; readonly providers: readonly string[] }
  /** It is not bound: the annotation decides. */
  | { readonly kind: 'open' };

const OWN: OwnNetwork = { kind: 'own' };
const OPEN: OwnNetwork = { kind: 'open' };

export function ownNetworkOf(world: World, pod: PodView): OwnNetwork {
  const own = world.settings.nonPrimaryCni ? undefined : portOf(pod, DEFAULT_PROVIDER);
  if (own !== undefined && isAllocated(ownInterface(pod))) return OWN;
  const prefix = `${portOf(pod, DEFAULT_PROVIDER)}.`;
  const providers: string[] = [];
  let hasOwnIp = false;
  for (const { metadata } of world.ips.select('pod', `${pod.namespace}/${podOrMachineName(pod)}`)) {
    const { name, annotations = {} } = metadata;
    if (annotations[kilnAnnotation.podUid] !== pod.uid) continue;
    if (name === own) hasOwnIp = true;
    else if (annotations[kilnAnnotation.replacesOwn] === 'true' && name.startsWith(prefix)) providers.push(name.slice(prefix.length));
  }
  if (providers.length > 0) return { kind: 'replaced', providers: providers.toSorted() };
  return hasOwnIp || (own !== undefined && isOurs(world, portId(own), podOwner(pod))) ? OWN : OPEN;
}
