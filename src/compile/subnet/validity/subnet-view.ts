/**
 * The projection of a Subnet that rules read, with the networks in effect. Rules for pods, nodes and Vpcs never read the object: its status
 * changes with every pod.
 */
import { parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import type { Dual, Protocol } from '../../../net/dual.ts';
import { joinDual, protocolOf } from '../../../net/dual.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { subnetAcceptance } from './subnet-acceptance.ts';
import type { SubnetBasics } from './subnet-basics.ts';
import { keptNetworks } from './accepted-spec.ts';
import { subnetBasics } from './spec-in-effect.ts';
import type { Network, SubnetNetworks } from './subnet-networks.ts';
import { requestedNetworks, cidrsOf } from './subnet-networks.ts';

export { subnetOwner, isRunning, runsOnceAdopted, subnetIntentOwner, switchId } from './subnet-basics.ts';
export { subnetSpec } from './spec-in-effect.ts';

/** `v4` and `v6` are the networks in effect, each with its gateway. */
export interface SubnetView extends SubnetBasics, Dual<Network> {
  /** Of the networks in effect; `Mac` for an underlay Subnet without addresses. */
  readonly protocol: Protocol | 'Mac';
  /** Networks in effect as one text, IPv4 first. */
  readonly cidr: string;
  readonly gateway: string;
}

/** Undefined if no Subnet has that name. */
export const subnetView: Query<SubnetView | undefined> = defineQuery('subnet-view', (world, name) => {
  const basics = world.ask(subnetBasics, name);
  if (basics === undefined) return undefined;
  const { v4, v6 } = world.ask(subnetNetworks, name);
  const networks = { ...(v4 !== undefined && { v4 }), ...(v6 !== undefined && { v6 }) };
  return {
    ...basics,
    ...networks,
    protocol: protocolOf(networks) ?? 'Mac',
    cidr: cidrsOf(networks),
    gateway: joinDual({ ...(v4 !== undefined && { v4: v4.gateway }), ...(v6 !== undefined && { v6: v6.gateway }) }),
  };
});

/** Whether each of its pods is in the group of its node for its Services. */
export function hasServicesByNode({ servicesByNode, protocol }: SubnetView): boolean {
  return servicesByNode && protocol !== 'Mac';
}

/** The networks in effect. */
export const subnetNetworks: Query<SubnetNetworks> = defineQuery('subnet-networks', (world, name) =>
  world.ask(world.ask(subnetAcceptance, name).kind === 'frozen' ? keptNetworks : requestedNetworks, name),
);

/** Whether the addresses are in the networks in effect; an empty text is no address. */
export function isWithin(subnet: SubnetView, { v4, v6 }: { readonly v4: string; readonly v6: string }): boolean {
  const within = (text: string, cidrText: string | undefined): boolean => {
    const [address, cidr] = [parseAddress(text), parseCidr(cidrText ?? '')];
    return text === '' || (address !== undefined && cidr !== undefined && cidrContains(cidr, address));
  };
  return within(v4, subnet.v4?.cidr) && within(v6, subnet.v6?.cidr);
}

/** Subnets of a provider by name, including those that are being deleted. */
export function providerSubnets(world: World, provider: string): readonly string[] {
  return [...world.subnets.bucket('provider', provider)].toSorted();
}
