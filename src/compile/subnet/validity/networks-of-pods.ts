/**
 * The networks of a Subnet without its router port, according to the annotations of running pods and nodes in it: the port was deleted, the
 * database was lost, or the Subnet was removed by force and made again. Their routes and masks stay as they are, so that a change that was
 * refused must not take effect because of the loss.
 */
import type { Labels } from '../../../api/kubernetes/meta.ts';
import type { PodAnnotationSuffix } from '../../../api/well-known.ts';
import { DEFAULT_PROVIDER, podAnnotation } from '../../../api/well-known.ts';
import type { Address, Family } from '../../../net/address.ts';
import { formatAddress, parseAddress, sameAddress } from '../../../net/address.ts';
import type { Cidr } from '../../../net/cidr.ts';
import { cidrContains, cidrCovers, formatCidr, parseCidr, sameCidr } from '../../../net/cidr.ts';
import type { Dual } from '../../../net/dual.ts';
import { ofFamily, splitList } from '../../../net/dual.ts';
import type { SubnetIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { allocatedProviders, podView } from '../../pod/view/pod-view.ts';

export interface Interface {
  readonly cidr: Cidr;
  readonly gateway: Address;
}

/** Whether the present spec is in effect: then no change waits. A query of one value: the status changes often. */
export const isPresentSpecAccepted: Query<boolean> = defineQuery('subnet-present-spec-accepted', (world, name) => {
  const { metadata, status } = world.subnets.get(name) ?? {};
  const accepted = status?.conditions?.find(({ type, status: is }) => type === 'Accepted' && is === 'True');
  return accepted !== undefined && accepted.observedGeneration === metadata?.generation;
});

/**
 * For each family the network that most of them name, so that one wrong annotation decides nothing. Pods from before the Subnet became wider
 * name a part of it: a wider one with the same gateway counts where IP objects show that its other addresses are in use. What is older than
 * the Subnet may be of another one of its name, and counts only in the requested CIDR. Cost: one pass over the Subnet's pods, nodes and IP
 * objects.
 */
export function networksOfPods(world: World, { metadata }: SubnetIntent, requested: Dual<Interface>): Dual<Interface> {
  const { name: subnet, creationTimestamp } = metadata;
  const named = [
    ...[...world.pods.bucket('allocated', subnet)].map((pod) => world.ask(podNetworks, pod)),
    ...[...world.nodes.bucket('allocated', subnet)].map((node) => world.ask(nodeNetworks, node)),
  ];
  const counts = new Map<string, number>();
  for (const { created, networks } of named)
    for (const one of networks) {
      if (one.subnet !== subnet || (created < creationTimestamp && !isIn(requested, one.cidr))) continue;
      const key = `${one.cidr} ${one.gateway}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  const byCount = [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).flatMap(([key]) => interfaceOf(key));
  // The narrowest one that has the addresses, so that a wrong annotation adds none.
  const byPrefix = byCount.toSorted((a, b) => b.cidr.prefix - a.cidr.prefix);
  const chosen = (family: Family): Interface | undefined => {
    const most = byCount.find(({ cidr }) => cidr.family === family);
    return (
      most &&
      byPrefix.reduce((known, one) => (isWider(one, known) && isUsedBeyond(world, subnet, one.cidr, known.cidr) ? one : known), most)
    );
  };
  const [v4, v6] = [chosen(4), chosen(6)];
  return { ...(v4 !== undefined && { v4 }), ...(v6 !== undefined && { v6 }) };
}

function isWider(one: Interface, known: Interface): boolean {
  return one.cidr.prefix < known.cidr.prefix && cidrCovers(one.cidr, known.cidr) && sameAddress(one.gateway, known.gateway);
}

/** Only the controller and administrators write IP objects. */
function isUsedBeyond(world: World, subnet: string, wider: Cidr, known: Cidr): boolean {
  return world.ips.select('subnet', subnet).some(({ spec: { v4IpAddress = '', v6IpAddress = '' } }) => {
    const address = parseAddress(known.family === 4 ? v4IpAddress : v6IpAddress);
    return address !== undefined && cidrContains(wider, address) && !cidrContains(known, address);
  });
}

function interfaceOf(key: string): readonly Interface[] {
  const [network = '', address = ''] = key.split(' ');
  const [cidr, gateway] = [parseCidr(network), parseAddress(address)];
  return cidr === undefined || gateway === undefined ? [] : [{ cidr, gateway }];
}

function isIn(requested: Dual<Interface>, text: string): boolean {
  const cidr = parseCidr(text);
  const own = cidr === undefined ? undefined : ofFamily(requested, cidr.family);
  return cidr !== undefined && own !== undefined && sameCidr(own.cidr, cidr);
}

interface NamedNetworks {
  readonly created: string;
  /** In canonical form. */
  readonly networks: readonly { readonly subnet: string; readonly cidr: string; readonly gateway: string }[];
}

const NONE: NamedNetworks = { created: '', networks: [] };

/** None for a pod that is not configured yet, has finished, or claims an address without a proof. */
const podNetworks: Query<NamedNetworks> = defineQuery('pod-networks', (world, key) => {
  const view = world.ask(podView, key);
  if (view?.alive !== true) return NONE;
  const annotations = { ...view.annotations, ...view.masks };
  return { created: view.created, networks: allocatedProviders(view).flatMap((provider) => networksIn(annotations, provider)) };
});

const nodeNetworks: Query<NamedNetworks> = defineQuery('node-networks', (world, name) => {
  const { creationTimestamp = '', annotations = {} } = world.nodes.get(name)?.metadata ?? {};
  return { created: creationTimestamp, networks: networksIn(annotations, DEFAULT_PROVIDER) };
});

/** For each family in which it has an address. */
function networksIn(annotations: Labels, provider: string): NamedNetworks['networks'] {
  const listOf = (suffix: PodAnnotationSuffix): readonly string[] => splitList(annotations[podAnnotation(provider, suffix)] ?? '');
  const [subnet = ''] = listOf('logical_switch');
  const addresses = listOf('ip_address').flatMap((text) => parseAddress(text) ?? []);
  const cidrs = listOf('cidr').flatMap((text) => parseCidr(text) ?? []);
  const gateways = listOf('gateway').flatMap((text) => parseAddress(text) ?? []);
  const families: readonly Family[] = [4, 6];
  return families.flatMap((family) => {
    const cidr = cidrs.find((one) => one.family === family);
    const isWithin = (address: Address): boolean => cidr !== undefined && address.family === family && cidrContains(cidr, address);
    const gateway = gateways.find(isWithin);
    if (cidr === undefined || gateway === undefined || !addresses.some(isWithin)) return [];
    return [{ subnet, cidr: formatCidr(cidr), gateway: formatAddress(gateway) }];
  });
}
