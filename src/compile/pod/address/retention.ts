/**
 * Whether an address that is retained without a pod is useful to the next pod: its Subnet exists and has it, and the next pod would have an
 * interface in that Subnet.
 */
import type { IP } from '../../../api/kinds/ip.ts';
import type { Labels } from '../../../api/kubernetes/meta.ts';
import { parseProvider, portName, subnetProvider } from '../../../api/names.ts';
import type { NetworkSelection } from '../../../api/pod/network-selection.ts';
import { DEFAULT_PROVIDER, podAnnotation } from '../../../api/well-known.ts';
import { parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import type { World } from '../../../world/world.ts';
import { isReserved } from '../../../world/claimants.ts';
import { requestsOthers } from './requested-addresses.ts';
import { misboundPolicy, movesToPool } from './misbound.ts';
import type { PodView } from '../view/pod-view.ts';
import { namespaceBinding } from '../../namespace/namespace-binding.ts';
import { subnetView } from '../../subnet/validity/subnet-view.ts';

/** The pod that the template would create. */
export interface NextPod extends Pick<PodView, 'key' | 'statefulSet'> {
  readonly annotations: Labels;
  /** Networks that it would attach. */
  readonly networks: readonly NetworkSelection[];
}

export function isStillUseful(world: World, ip: IP, next: NextPod): boolean {
  const { subnet = '', namespace = '', ipAddress = '' } = ip.spec;
  const view = world.ask(subnetView, subnet);
  const texts = splitList(ipAddress);
  if (view === undefined || view.terminating || texts.length === 0) return false;
  for (const text of texts) {
    const address = parseAddress(text);
    const cidr = address === undefined ? undefined : parseCidr((address.family === 4 ? view.v4 : view.v6)?.cidr ?? '');
    if (address === undefined || cidr === undefined || !cidrContains(cidr, address)) return false;
  }
  const provider = providerOf(ip);
  const attached = provider !== DEFAULT_PROVIDER;
  const selection = attached ? attaches(next, provider) : undefined;
  if (attached && selection === undefined) return false;
  const { key, statefulSet, annotations } = next;
  if (
    !isReserved(ip) &&
    requestsOthers(world, { pod: { key, statefulSet, annotations }, provider, selection, isOvn: view.isOvn || view.external }, ip)
  )
    return false;
  const declared = next.annotations[podAnnotation(provider, 'logical_switch')] ?? '';
  if (declared !== '') return declared === subnet;
  if (attached) return view.provider === subnetProvider(provider);
  const binding = world.ask(namespaceBinding, namespace);
  if (binding.undecided !== undefined) return true;
  if (binding.subnets.includes(subnet)) return !movesToPool(world, namespace, ip);
  return misboundPolicy(world, namespace) === 'report';
}

/** The provider of the interface that the IP object is named after. */
export function providerOf({ metadata, spec: { podName = '', namespace = '' } }: IP): string {
  const own = portName(podName, namespace, DEFAULT_PROVIDER);
  return metadata.name === own ? DEFAULT_PROVIDER : metadata.name.slice(own.length + 1);
}

/** The element for a provider in the pod's list of networks; undefined if the pod would not attach it. */
function attaches({ networks }: NextPod, provider: string): NetworkSelection | undefined {
  const parsed = parseProvider(provider);
  if (parsed.kind !== 'attachment' && parsed.kind !== 'ipam-only') return undefined;
  const interfaceName = parsed.kind === 'attachment' ? (parsed.interfaceName ?? '') : '';
  return networks.find(
    (one) =>
      one.name === parsed.nad &&
      one.namespace === parsed.namespace &&
      (interfaceName === '' || one.interfaceName === '' || one.interfaceName === interfaceName),
  );
}
