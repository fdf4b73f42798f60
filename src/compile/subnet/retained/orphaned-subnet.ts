/**
 * A Subnet that was removed by force with addresses in use: its rows and its router stay as they are while an IP object, a Vip, an EIP, a
 * NAT rule, or a port has an address of it. They are deleted with the last one; a new Subnet of that name takes them over as soon as it can
 * use them.
 */
import { ipHoldsAddress } from '../../../kinds/ip/dependencies/ip-holds-address.ts';
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
import { podView } from '../../pod/view/pod-view.ts';
import { orphanedRows, routerOfOrphanedNetwork } from './orphaned-network.ts';
import { owningSubnet } from '../validity/subnet-state.ts';
import { switchId } from '../validity/subnet-view.ts';

/** A value, not the object: a status write runs no rule again. */
const hasOwningSubnet: Query<boolean> = defineQuery('has-owning-subnet', (world, name) => owningSubnet(world, name) !== undefined);
const holdsAddress: Query<boolean> = defineQuery('object-holds-address', (world, key) => {
  const [resource = '', name = ''] = key.split('/');
  return isAddressResource(resource) && world.addressObject(resource, name)?.held !== undefined;
});

/** A Vip, an EIP, or a NAT rule with the address of an EIP. */
export interface AddressUser {
  readonly resource: AddressResource | NatRuleResource;
  readonly name: string;
  readonly subnet: string;
}

/** The domain has all Subnets that IP objects name, existing or not. */
export const orphanedSubnet: Rule = {
  name: 'orphaned-subnet',
  over: (world) => valuesOf(world.ips, 'subnet'),
  run: (world, subnet) =>
    subnet === '' || world.ask(hasOwningSubnet, subnet) || !world.ask(isHeldByIp, subnet) ? [] : orphanedNetwork(world, subnet),
};

/** An IP object that only requests an address does not count: it may wait for a Subnet of that name for ever. */
const isHeldByIp: Query<boolean> = defineQuery('subnet-held-by-ip', (world, subnet) =>
  [...world.ips.bucket('subnet', subnet)].some((ip) => world.ask(ipHoldsAddress, ip)),
);

/** The same if no IP object has an address: the first of the Vips, EIPs and NAT rules with one emits the rows. */
export function orphanedNetworkOfObject(world: World, { resource, name, subnet }: AddressUser): readonly Output[] {
  if (world.ask(hasOwningSubnet, subnet) || world.ask(isHeldByIp, subnet)) return [];
  const [first] = holdersIn(world, subnet);
  return first === `${resource}/${name}` ? orphanedNetwork(world, subnet) : [];
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

/** The same if these objects were deleted as well: one of the pods and nodes with ports in the network emits the rows. */
export function orphanedNetworkOfPort(world: World, subnet: string, port: RowId): readonly Output[] {
  return world.ask(emittingPort, subnet) === port ? orphanedNetwork(world, subnet) : [];
}

/** The port of the pod or node that emits the rows. A query, so that a change of one port does not run the rules of all others. */
const emittingPort: Query<RowId | undefined> = defineQuery('subnet-emitting-port', (world, subnet) => {
  if (world.ask(isHeldByIp, subnet) || holdersIn(world, subnet).length > 0) return undefined;
  const ports = world.rows.column(switchId(subnet), 'ports');
  const theirs = [...(ports instanceof Set ? ports : [])].flatMap((uuid) => {
    const id = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0])?.id;
    const ownership = id === undefined ? undefined : world.rows.state(id)?.ownership;
    return id !== undefined && ownership?.kind === 'ours' && lives(world, ownership) ? [id] : [];
  });
  return theirs.toSorted()[0];
});

/** Whether the row owner of a port exists, so that its rule runs. */
function lives(world: World, { owner, uid }: { readonly owner: string; readonly uid: string }): boolean {
  const [kind = '', namespace = '', name = ''] = owner.split('/');
  if (kind === 'node') return world.ask(nodeView, name)?.uid === uid;
  const pod = kind === 'pod' ? world.ask(podView, `${namespace}/${name}`) : undefined;
  return pod?.uid === uid && pod.alive;
}

function orphanedNetwork(world: World, subnet: string): readonly Output[] {
  return [...orphanedRows(world, subnet), ...routerOfOrphanedNetwork(world, subnet, isLeft)];
}

/** Whether the rows of an orphaned network are emitted. */
const isLeft: Query<boolean> = defineQuery(
  'network-left',
  (world, subnet) =>
    !world.ask(hasOwningSubnet, subnet) &&
    (world.ask(isHeldByIp, subnet) || holdersIn(world, subnet).length > 0 || world.ask(emittingPort, subnet) !== undefined),
);
