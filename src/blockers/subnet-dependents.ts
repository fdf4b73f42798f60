/** What has addresses of a Subnet, also of one that is not there any more, and so keeps it from being deleted. */
import { nodePortName } from '../api/names.ts';
import { DEFAULT_PROVIDER, podAnnotation } from '../api/well-known.ts';
import { rowId } from '../nb/row-id.ts';
import type { AddressResource } from '../world/address-objects.ts';
import { ADDRESS_RESOURCES } from '../world/address-objects.ts';
import { isOfSubnet, onlyRequests } from '../world/claimants.ts';
import { subnetIntent } from '../world/intent.ts';
import type { NatRuleResource } from '../world/nat-rules.ts';
import { eipResourceOf, heldByRule, NAT_RULES } from '../world/nat-rules.ts';
import type { Query, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import type { Dependency } from './dependency.ts';
import { isTooLateForSubnet } from './late-dependents.ts';
import { podSubnets } from './rule-queries.ts';

export const SUBNET_DEPENDENCIES: readonly Dependency[] = [
  {
    held: 'subnets',
    holder: 'ips',
    // One that only asks for an address has none yet: it is refused while the Subnet goes.
    holders: (world, subnet) => [...world.ips.bucket('subnet', subnet)].filter((ip) => world.ask(ipHoldsAddress, ip)),
    holds: (world, ip) => (world.ask(ipHoldsAddress, ip) ? [world.ips.get(ip)?.spec.subnet ?? ''] : []),
  },
  {
    held: 'subnets',
    holder: 'pods',
    // An address is in use while annotations of a live pod or its port say so, whoever took the IP object away.
    holders: (world, subnet) => podsIn(world, subnet).filter((pod) => world.ask(podSubnets, pod).includes(subnet)),
    holds: (world, pod) => world.ask(podSubnets, pod),
  },
  {
    held: 'subnets',
    holder: 'nodes',
    // As with pods: a node that joined has its address, whoever edited its IP object and took its port away.
    holders: (world, subnet) => nodesIn(world, subnet).filter((node) => nodeSubnets(world, node).includes(subnet)),
    holds: nodeSubnets,
  },
  ...ADDRESS_RESOURCES.map((holder): Dependency => ({
    held: 'subnets',
    holder,
    holders: (world, subnet) =>
      [...world.addressObjectsIn(holder, subnet)].filter((name) => world.ask(subnetHeldBy, `${holder}/${name}`) === subnet),
    holds: (world, name) => [world.ask(subnetHeldBy, `${holder}/${name}`)].filter((subnet) => subnet !== ''),
  })),
  ...NAT_RULES.map((holder): Dependency => ({
    held: 'subnets',
    holder,
    // The address stays booked when the EIP was torn out from under the rule.
    holders: (world, subnet) =>
      [...world.natRules[holder].bucket('subnet', subnet)].filter((name) => world.ask(subnetHeldByRule, `${holder}/${name}`) === subnet),
    holds: (world, name) => [world.ask(subnetHeldByRule, `${holder}/${name}`)].filter((subnet) => subnet !== ''),
  })),
];

/** Of an IP object: an address of the Subnet that it names, whether that exists or not. */
export const ipHoldsAddress: Query<boolean> = defineQuery('ip-holds-address', (world, name) => {
  const ip = world.ips.get(name);
  // What is the Subnet's own goes after it.
  return ip !== undefined && !onlyRequests(ip) && !isOfSubnet(ip) && !world.ask(isTooLateForSubnet, name);
});

/** Pods that were given addresses of a Subnet or have a port in it. */
function podsIn(world: World, subnet: string): readonly string[] {
  const provider = world.ask(providerOf, subnet);
  const said = [...world.pods.bucket('allocated', subnet), ...world.pods.bucket('allocated', `provider/${provider}`)];
  return [...new Set([...said, ...ownersOfPorts(world, subnet, 'pod/')])];
}

const providerOf: Query<string> = defineQuery('provider-of-subnet', (world, name) => world.ask(subnetIntent, name)?.spec.provider ?? '');

/** Of one kind. @param kind as owners of rows begin with it */
function ownersOfPorts(world: World, subnet: string, kind: 'pod/' | 'node//'): readonly string[] {
  const ports = world.rows.column(rowId('Logical_Switch', subnet), 'ports');
  return [...(ports instanceof Set ? ports : [])].flatMap((uuid) => {
    const ownership = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0])?.ownership;
    return ownership?.kind === 'ours' && ownership.owner.startsWith(kind) ? [ownership.owner.slice(kind.length)] : [];
  });
}

/** Nodes that were given addresses of a Subnet or have a port in it. */
function nodesIn(world: World, subnet: string): readonly string[] {
  return [...new Set([...world.nodes.bucket('allocated', subnet), ...ownersOfPorts(world, subnet, 'node//')])];
}

/** Subnets that a node was told it has addresses of, or has its port in, without an IP object that says so. */
function nodeSubnets(world: World, node: string): readonly string[] {
  const port = nodePortName(node);
  const said = [world.ask(subnetTold, node), subnetOfPort(world, node)];
  return [...new Set(said)].filter((subnet) => subnet !== '' && subnet !== world.ask(subnetOfIp, port));
}

function subnetOfPort(world: World, node: string): string {
  const id = rowId('Logical_Switch_Port', nodePortName(node));
  const ownership = world.rows.state(id)?.ownership;
  if (ownership?.kind !== 'ours' || ownership.owner !== `node//${node}` || !world.ask(nodeExists, node)) return '';
  const externalIds = world.rows.column(id, 'external_ids');
  const subnet: unknown = externalIds instanceof Map ? externalIds.get('ls') : undefined;
  return typeof subnet === 'string' ? subnet : '';
}

const nodeExists: Query<boolean> = defineQuery('node-exists', (world, name) => world.nodes.has(name));
const subnetTold: Query<string> = defineQuery('subnet-told-to-node', (world, name) => {
  const annotations = world.nodes.get(name)?.metadata.annotations ?? {};
  const isJoined = annotations[podAnnotation(DEFAULT_PROVIDER, 'allocated')] === 'true';
  return isJoined ? (annotations[podAnnotation(DEFAULT_PROVIDER, 'logical_switch')] ?? '') : '';
});

export const subnetOfIp: Query<string> = defineQuery('ip-subnet', (world, name) => world.ips.get(name)?.spec.subnet ?? '');

/** The Subnet that a Vip or an EIP has an address of; empty while it only asks for one. */
const subnetHeldBy: Query<string> = defineQuery('subnet-held-by', (world, key) => {
  const at = key.indexOf('/');
  const object = world.addressObject(key.slice(0, at) as AddressResource, key.slice(at + 1));
  return object?.held === undefined ? '' : object.subnet;
});

/** The Subnet that a rule has an address of without an EIP that says so; empty for none. */
const subnetHeldByRule: Query<string> = defineQuery('subnet-held-by-rule', (world, key) => {
  const at = key.indexOf('/');
  const resource = key.slice(0, at) as NatRuleResource;
  const rule = world.natRules[resource].get(key.slice(at + 1));
  const held = rule === undefined ? undefined : heldByRule(rule);
  if (held === undefined || world.ask(subnetHeldBy, `${eipResourceOf(resource)}/${held.eip}`) === held.subnet) return '';
  return held.subnet;
});
