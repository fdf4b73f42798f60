/**
 * The fields of a Vip that pods and its ports depend on, and the pods that use it.
 */
import { vipNames } from '../../api/pod/annotation-limits.ts';
import type { IP } from '../../api/kinds/ip.ts';
import type { Labels } from '../../api/kubernetes/meta.ts';
import { annotationKey, DEFAULT_PROVIDER } from '../../api/well-known.ts';
import type { AddressTexts } from '../../world/address-objects.ts';
import { vipSharingGroup } from '../../world/address-objects.ts';
import { vipAddresses } from '../../kinds/vip/table/vip-addresses.ts';
import { ipSharingGroup } from '../../world/claimants.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { addressesOfIp } from '../ip/ip-object.ts';
import { portOf } from '../pod/interface/pod-interface.ts';
import { podView } from '../pod/view/pod-view.ts';
import type { Exclusion } from '../pod/tenancy/tenancy.ts';
import { excludedFromAddress } from '../pod/tenancy/tenancy.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';

export interface VipView {
  readonly name: string;
  readonly subnet: string;
  /** The type in effect. */
  readonly type: string;
  /** The namespace of the pods that may use it; empty if none may. */
  readonly namespace: string;
  /** Labels of these pods as key:value. */
  readonly selector: readonly string[];
  readonly terminating: boolean;
  /** Undefined until the Vip has addresses. */
  readonly addresses: AddressTexts | undefined;
}

export const vipView: Query<VipView | undefined> = defineQuery('vip-view', (world, name) => {
  const vip = world.vips.get(name);
  if (vip === undefined) return undefined;
  const { subnet, type, typeInEffect, held, terminating } = vipAddresses(vip);
  const { namespace = '', selector = [] } = vip.spec;
  return { name, subnet, type: typeInEffect ?? type, namespace, selector, terminating, addresses: held };
});

export function selectsPod({ namespace, selector }: VipView, pod: { readonly namespace: string; readonly labels: Labels }): boolean {
  return namespace === pod.namespace && selector.every((item) => matches(item, pod.labels));
}

/** Whether a pod may use the Vip's address as its own. */
export function isForNamespace({ namespace }: VipView, pod: { readonly namespace: string }): boolean {
  return namespace === '' || namespace === pod.namespace;
}

/** Why the pods of a namespace may not have the Vip's address: an IPPool for other namespaces has it. */
export function excludedFromVip(world: World, namespace: string, { subnet, addresses }: VipView): Exclusion | undefined {
  return excludedFromAddress(world, namespace, subnet, [addresses?.v4 ?? '', addresses?.v6 ?? '']);
}

/** Whether a pod is considered for the Vip's address: one that may not use it does not keep it from other pods. */
function isCandidate(world: World, vip: VipView, pod: { readonly namespace: string }): boolean {
  return isForNamespace(vip, pod) && excludedFromVip(world, pod.namespace, vip) === undefined;
}

function matches(item: string, labels: Labels): boolean {
  const at = item.indexOf(':');
  return labels[item.slice(0, at).trim()] === item.slice(at + 1).trim();
}

/** Provider of the interfaces in the Vip's Subnet. */
export function vipProvider(world: World, vip: VipView): string {
  return world.ask(subnetView, vip.subnet)?.provider ?? DEFAULT_PROVIDER;
}

/**
 * The port that uses the address of a Vip as its own: the one whose IP object records it, else that of the oldest pod that requests and may
 * use it and has no other address. Undefined if there is none.
 */
export const vipUser: Query<string | undefined> = defineQuery('vip-user', (world, name) => {
  const vip = world.ask(vipView, name);
  const [ip] = world.ips
    .select('vip', name)
    .filter((one) => hasVipAddress(vip, name, one))
    .toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));
  if (ip !== undefined) return ip.metadata.name;
  if (vip === undefined) return undefined;
  const provider = vipProvider(world, vip);
  const [first] = [...world.pods.bucket('vip', name)]
    .flatMap((key) => world.ask(podView, key) ?? [])
    .filter((pod) => pod.alive && isCandidate(world, vip, pod) && !hasOtherAddresses(vip, world.ips.get(portOf(pod, provider))))
    .toSorted((a, b) => (`${a.created} ${a.uid}` < `${b.created} ${b.uid}` ? -1 : 1));
  return first === undefined ? undefined : portOf(first, provider);
});

/**
 * Whether an IP object has the address of a Vip. After the Vip was recreated with another address, the IP object keeps the old one, which
 * is no Vip's.
 */
export function hasVipAddress(vip: VipView | undefined, name: string, ip: IP): boolean {
  return ipSharingGroup(ip) === vipSharingGroup(name) && !hasOtherAddresses(vip, ip);
}

function hasOtherAddresses(vip: VipView | undefined, ip: IP | undefined): boolean {
  const [of, has] = [vip?.addresses, ip === undefined ? undefined : addressesOfIp(ip)];
  return of !== undefined && has !== undefined && (of.v4 !== has.v4 || of.v6 !== has.v6);
}

/** Age, then name: within one second the result must not depend on the order of observation. */
function ageOf({ metadata }: IP): string {
  return `${metadata.creationTimestamp} ${metadata.name}`;
}

/** Names of the Vips whose addresses a pod may also use. */
export function allowedPairsOf(annotations: Labels): readonly string[] {
  return vipNames(annotations[annotationKey.allowedAddressPairs] ?? '');
}
