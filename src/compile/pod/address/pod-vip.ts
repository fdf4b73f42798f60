/**
 * A pod's annotations about Vips: the Vip whose address it uses as its own, and the Vips whose addresses its ports may also use.
 */
import type { Reason } from '../../../api/reasons.ts';
import { subnetProvider } from '../../../api/names.ts';
import { annotationKey, DEFAULT_PROVIDER } from '../../../api/well-known.ts';
import type { Address } from '../../../net/address.ts';
import { parseAddress } from '../../../net/address.ts';
import { vipSharingGroup } from '../../../world/address-objects.ts';
import { ipSharingGroup } from '../../../world/claimants.ts';
import { podVips } from '../../../kinds/pod/dependencies/pod-vips.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { selectsPod, allowedPairsOf, excludedFromVip, isForNamespace, vipProvider, vipUser, vipView } from '../../vip-eip/vip-view.ts';
import type { VipView } from '../../vip-eip/vip-view.ts';
import type { Addresses } from '../../ip/ip-object.ts';
import type { Held } from './held-addresses.ts';
import { heldBy } from './held-addresses.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { interfacesOf } from '../interface/pod-interfaces.ts';
import type { PodView } from '../view/pod-view.ts';
import { podView } from '../view/pod-view.ts';
import { allowedPortVips, isOfAnother, singleAddress } from '../tenancy/port-vip-tenancy.ts';
import { commandText } from '../../../text/command-text.ts';

interface Obstacle {
  readonly reason: Reason;
  readonly message: string;
}

/** The Vip whose address an interface uses as its own: on the interface in the Vip's network, else on the pod's own. */
export function vipNamed(world: World, { pod, provider, isOvn }: PodInterface): string | undefined {
  const name = (pod.annotations[annotationKey.vip] ?? '').trim();
  if (name === '' || !isOvn) return undefined;
  const vip = world.ask(vipView, name);
  return subnetProvider(provider) === (vip === undefined ? DEFAULT_PROVIDER : vipProvider(world, vip)) ? name : undefined;
}

/** The address of a Vip for an interface, or what it waits for. */
export function addressesOfVip(world: World, nic: PodInterface, name: string): Addresses | Obstacle {
  const subject = `Pod ${nic.pod.key}: annotation ${annotationKey.vip} "${name}"`;
  const look = commandText`kubectl get vip ${name}`;
  const vip = world.ask(vipView, name);
  if (vip === undefined) return { reason: 'WaitingForVip', message: `${subject} names a Vip that does not exist; kubectl get vips` };
  if (vip.terminating) return { reason: 'WaitingForVip', message: `${subject} names a Vip that is being deleted; ${look}` };
  if (vip.addresses === undefined) return { reason: 'WaitingForVip', message: `${subject} names a Vip that has no address yet; ${look}` };
  if (vip.type !== '')
    return {
      reason: 'InvalidAnnotation',
      message: `${subject} names a Vip of type ${vip.type}, which has a port of its own; name one without a type`,
    };
  if (!isForNamespace(vip, nic.pod))
    return { reason: 'InvalidAnnotation', message: `${subject} names a Vip for pods of Namespace ${vip.namespace}; ${look}` };
  const exclusion = excludedFromVip(world, nic.pod.namespace, vip);
  if (exclusion !== undefined) return { ...exclusion, message: `${subject}: ${exclusion.message}` };
  const user = world.ask(vipUser, name);
  if (user !== undefined && user !== nic.port)
    return { reason: 'AddressConflict', message: `${subject} names a Vip whose address port ${user} has; only one pod can use it` };
  return { subnet: vip.subnet, ...vip.addresses };
}

/** The group with which an interface shares an address with a Vip; undefined if it has its own address. */
export function sharingGroupOf(world: World, nic: PodInterface, { ip }: Held): string | undefined {
  const durable = ip === undefined ? undefined : ipSharingGroup(ip);
  if (durable !== undefined) return durable;
  const name = vipNamed(world, nic);
  return name === undefined ? undefined : vipSharingGroup(name);
}

/** What is wrong with the Vips that a pod declares in `aaps`. */
export function allowedPairProblem(world: World, pod: PodView): Obstacle | undefined {
  for (const name of allowedPairsOf(pod.annotations)) {
    const subject = `Pod ${pod.key}: annotation ${annotationKey.allowedAddressPairs} names Vip "${name}"`;
    const vip = world.ask(vipView, name);
    const look = vip === undefined ? 'kubectl get vips' : commandText`kubectl get vip ${name}`;
    if (vip?.addresses === undefined)
      return {
        reason: 'WaitingForVip',
        message: `${subject}, which ${vip === undefined ? 'does not exist' : 'has no address yet'}; ${look}`,
      };
    if (vip.namespace !== pod.namespace)
      return {
        reason: 'InvalidAnnotation',
        message: `${subject}, which is for pods of ${vip.namespace === '' ? 'no namespace' : `Namespace ${vip.namespace}`}: its spec.namespace must be ${pod.namespace}; ${look}`,
      };
    const exclusion = excludedFromVip(world, pod.namespace, vip);
    if (exclusion !== undefined) return { ...exclusion, message: `${subject}: ${exclusion.message}` };
  }
  return undefined;
}

/** Further addresses of a port: those of its annotation, and of its pod's declared Vips those in its Subnet. */
export function furtherAddresses(world: World, nic: PodInterface, subnet: string): readonly string[] {
  return [...new Set([...allowedPortVips(world, nic, subnet), ...sharedAddresses(world, nic, subnet)])];
}

/**
 * Further addresses of a port that may have a gateway: no network, and no address of another. Port security may admit these, but a gateway
 * policy for one would reroute the traffic of the other pod with it.
 */
export function furtherSourceAddresses(world: World, nic: PodInterface, subnet: string): readonly Address[] {
  const listed = allowedPortVips(world, nic, subnet).flatMap((item) => singleAddress(item) ?? []);
  // With the setting `namespaced` the listed addresses are the pod's already.
  const own = world.settings.tenancy === 'open' ? listed.filter((one) => !isOfAnother(world, nic, subnet, one)) : listed;
  return [...own, ...sharedAddresses(world, nic, subnet).flatMap((text) => parseAddress(text) ?? [])];
}

/** The addresses of the pod's declared Vips in its Subnet. */
function sharedAddresses(world: World, nic: PodInterface, subnet: string): readonly string[] {
  const vips = allowedPairsOf(nic.pod.annotations)
    .flatMap((name) => world.ask(vipView, name) ?? [])
    .filter((vip: VipView) => vip.subnet === subnet && selectsPod(vip, nic.pod));
  return vips.flatMap(({ addresses }) => [addresses?.v4 ?? '', addresses?.v6 ?? '']).filter((text) => text !== '');
}

/** The Vips that a pod uses wait for it in their deletion. */
podVips.define((world, key) => {
  const pod = world.ask(podView, key);
  if (pod?.alive !== true) return [];
  const used = interfacesOf(world, pod).interfaces.flatMap((nic) => usedBy(world, nic));
  // One that comes after its deletion began does not use it: else the deletion would never end.
  return [...new Set(used)].toSorted().filter((vip) => !(pod.created > world.ask(deletedAt, vip)));
});

function usedBy(world: World, nic: PodInterface): readonly string[] {
  const { addresses } = heldBy(world, nic);
  if (addresses === undefined) return [];
  const own = vipNamed(world, nic);
  const vip = own === undefined ? undefined : world.ask(vipView, own);
  const has = vip?.addresses !== undefined && vip.addresses.v4 === addresses.v4 && vip.addresses.v6 === addresses.v6;
  const shared = allowedPairsOf(nic.pod.annotations).filter((name) => {
    const one = world.ask(vipView, name);
    return one?.addresses !== undefined && one.subnet === addresses.subnet && selectsPod(one, nic.pod);
  });
  return has && own !== undefined ? [own, ...shared] : shared;
}

/** When its deletion began; later than all for one that is not being deleted. */
const deletedAt: Query<string> = defineQuery('vip-deleted-at', (world, name) => world.vips.get(name)?.metadata.deletionTimestamp ?? '~');
