/**
 * A Subnet that vanished (somebody stripped its finalizer) with addresses of it in use: its rows stay as they are while an IP object, a
 * Vip, an EIP or a rule that is marked with one has an address of it, and so does the router that they are in. The last of these takes them along; a
 * new Subnet of that name takes them over, once it can carry them on.
 */
import { ipHoldsAddress } from '../../../blockers/subnet-dependents.ts';
import type { RowId } from '../../../nb/row-id.ts';
import type { AddressResource } from '../../../world/address-objects.ts';
import { ADDRESS_RESOURCES, isAddressResource } from '../../../world/address-objects.ts';
import { valuesOf } from '../../../world/domain.ts';
import type { NatRuleResource } from '../../../world/nat-rules.ts';
import { NAT_RULES } from '../../../world/nat-rules.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { Rule } from '../../compiler.ts';
import type { Output } from '../../output.ts';
import { nodeView } from '../../node/node-view.ts';
import { podView } from '../../pod/pod-view.ts';
import { keptNetwork, routerOfNetworkLeft } from './kept-network.ts';
import { owningSubnet } from '../judging/subnet-state.ts';
import { switchId } from '../judging/subnet-view.ts';

/** Value, not object: a status that comes back runs nobody's rule. */
const hasOwningSubnet: Query<boolean> = defineQuery('has-owning-subnet', (world, name) => owningSubnet(world, name) !== undefined);
const holdsAddress: Query<boolean> = defineQuery('object-holds-address', (world, key) => {
  const [resource = '', name = ''] = key.split('/');
  return isAddressResource(resource) && world.addressObject(resource, name)?.held !== undefined;
});

/** A Vip, an EIP, or a rule that is marked with an EIP. */
export interface AddressUser {
  readonly resource: AddressResource | NatRuleResource;
  readonly name: string;
  readonly subnet: string;
}

/** Over Subnets that IP objects name, whether they exist or not. */
export const subnetMissing: Rule = {
  name: 'subnet-missing',
  over: (world) => valuesOf(world.ips, 'subnet'),
  run: (world, subnet) =>
    subnet === '' || world.ask(hasOwningSubnet, subnet) || !world.ask(isHeldByIp, subnet) ? [] : networkLeft(world, subnet),
};

/** One that only asks for an address keeps no network from others: it may wait for a Subnet of that name for ever. */
const isHeldByIp: Query<boolean> = defineQuery('subnet-held-by-ip', (world, subnet) =>
  [...world.ips.bucket('subnet', subnet)].some((ip) => world.ask(ipHoldsAddress, ip)),
);

/** The same while no IP object has one: the first of the Vips, EIPs and rules that hold addresses of it speaks for all. */
export function networkOfObject(world: World, { resource, name, subnet }: AddressUser): readonly Output[] {
  if (world.ask(hasOwningSubnet, subnet) || world.ask(isHeldByIp, subnet)) return [];
  const [first] = holdersIn(world, subnet);
  return first === `${resource}/${name}` ? networkLeft(world, subnet) : [];
}

function holdersIn(world: World, subnet: string): readonly string[] {
  const objects = ADDRESS_RESOURCES.flatMap((resource) =>
    [...world.addressObjectsIn(resource, subnet)].map((name) => `${resource}/${name}`).filter((one) => world.ask(holdsAddress, one)),
  );
  const rules = NAT_RULES.flatMap((resource) =>
    [...world.natRules[resource].bucket('subnet', subnet)].map((name) => `${resource}/${name}`),
  );
  return [...objects, ...rules].toSorted();
}

/** The same while none of these has one, because they were taken away too: one of the pods and nodes whose ports are in it speaks for all. */
export function networkOfPort(world: World, subnet: string, port: RowId): readonly Output[] {
  return world.ask(portThatSpeaks, subnet) === port ? networkLeft(world, subnet) : [];
}

/** Asked by each port that is left: a query, so that who goes of very many runs the rules of one. */
const portThatSpeaks: Query<RowId | undefined> = defineQuery('subnet-port-that-speaks', (world, subnet) => {
  if (world.ask(isHeldByIp, subnet) || holdersIn(world, subnet).length > 0) return undefined;
  const ports = world.rows.column(switchId(subnet), 'ports');
  const theirs = [...(ports instanceof Set ? ports : [])].flatMap((uuid) => {
    const id = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0])?.id;
    const ownership = id === undefined ? undefined : world.rows.state(id)?.ownership;
    return id !== undefined && ownership?.kind === 'ours' && lives(world, ownership) ? [id] : [];
  });
  return theirs.toSorted()[0];
});

/** A pod or a node that is there, and so speaks for its port: one that went leaves it for a moment. */
function lives(world: World, { owner, uid }: { readonly owner: string; readonly uid: string }): boolean {
  const [kind = '', namespace = '', name = ''] = owner.split('/');
  if (kind === 'node') return world.ask(nodeView, name)?.uid === uid;
  const pod = kind === 'pod' ? world.ask(podView, `${namespace}/${name}`) : undefined;
  return pod?.uid === uid && pod.alive;
}

function networkLeft(world: World, subnet: string): readonly Output[] {
  return [...keptNetwork(world, subnet), ...routerOfNetworkLeft(world, subnet, isLeft)];
}

/** Whether somebody speaks for the network of a Subnet that vanished. */
const isLeft: Query<boolean> = defineQuery(
  'network-left',
  (world, subnet) =>
    !world.ask(hasOwningSubnet, subnet) &&
    (world.ask(isHeldByIp, subnet) || holdersIn(world, subnet).length > 0 || world.ask(portThatSpeaks, subnet) !== undefined),
);
