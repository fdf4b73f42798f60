/** The users of a Subnet's addresses, which block its deletion; also for a Subnet that was removed by force. */
import { nodePortName } from '../api/names.ts';
import { DEFAULT_PROVIDER, podAnnotation } from '../api/well-known.ts';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import type { AddressResource } from '../world/address-objects.ts';
import { ADDRESS_RESOURCES } from '../world/address-objects.ts';
import { isOfSubnet, onlyRequests } from '../world/claimants.ts';
import { subnetIntent } from '../world/intent.ts';
import type { NatRuleResource } from '../world/nat-rules.ts';
import { eipResourceOf, heldByRule, NAT_RULES } from '../world/nat-rules.ts';
import type { SetDefinition } from '../world/sets/set-definition.ts';
import type { Query, World } from '../world/world.ts';
import { defineQuery, defineSet, where } from '../world/world.ts';
import type { Dependency } from './dependency.ts';
import { isLateForSubnet } from './late-dependents.ts';
import { podSubnets } from './rule-queries.ts';

/** Row owners of the ports in a Subnet's switch, of one kind. @param kind prefix of the owner text */
function ownersOfPorts(name: string, kind: 'pod/' | 'node//'): SetDefinition<World> {
  return defineSet(
    name,
    (_, subnet) => [{ kind: 'children', parent: rowId('Logical_Switch', subnet), column: 'ports' }],
    (world, _, port) => {
      const ownership = world.rows.state(port as RowId)?.ownership;
      return ownership?.kind === 'ours' && ownership.owner.startsWith(kind) ? ownership.owner.slice(kind.length) : undefined;
    },
  );
}

const podsWithPorts = ownersOfPorts('pods-with-ports', 'pod/');
const nodesWithPorts = ownersOfPorts('nodes-with-ports', 'node//');

export const SUBNET_DEPENDENCIES: readonly Dependency[] = [
  {
    on: 'subnets',
    dependent: 'ips',
    // An IP object that only requests an address does not block: the request fails while the Subnet is being deleted.
    dependents: defineSet(
      'ips-of-subnet',
      (world, value) => [{ kind: 'bucket', table: world.ips, index: 'subnet', value }],
      where((world, _, ip) => world.ask(ipHoldsAddress, ip)),
    ),
    dependsOn: (world, ip) => (world.ask(ipHoldsAddress, ip) ? [world.ips.get(ip)?.spec.subnet ?? ''] : []),
  },
  {
    on: 'subnets',
    dependent: 'pods',
    // An address is in use while a live pod's annotations or port have it, also if the IP object was deleted.
    dependents: defineSet(
      'pods-of-subnet',
      (world, subnet) => [
        { kind: 'bucket', table: world.pods, index: 'allocated', value: subnet },
        { kind: 'bucket', table: world.pods, index: 'allocated', value: `provider/${world.ask(providerOf, subnet)}` },
        { kind: 'set', of: podsWithPorts, key: subnet },
      ],
      where((world, subnet, pod) => world.ask(podSubnets, pod).includes(subnet)),
    ),
    dependsOn: (world, pod) => world.ask(podSubnets, pod),
  },
  {
    on: 'subnets',
    dependent: 'nodes',
    // As for pods: a node that joined keeps its address, also if its IP object was edited and its port deleted.
    dependents: defineSet(
      'nodes-of-subnet',
      (world, subnet) => [
        { kind: 'bucket', table: world.nodes, index: 'allocated', value: subnet },
        { kind: 'set', of: nodesWithPorts, key: subnet },
      ],
      where((world, subnet, node) => nodeSubnets(world, node).includes(subnet)),
    ),
    dependsOn: nodeSubnets,
  },
  ...ADDRESS_RESOURCES.map((dependent): Dependency => ({
    on: 'subnets',
    dependent,
    dependents: defineSet(
      `${dependent}-of-subnet`,
      (world, value) => [{ kind: 'bucket', table: world.addressTable(dependent), index: 'subnet', value }],
      where((world, subnet, name) => world.ask(subnetHeldBy, `${dependent}/${name}`) === subnet),
    ),
    dependsOn: (world, name) => [world.ask(subnetHeldBy, `${dependent}/${name}`)].filter((subnet) => subnet !== ''),
  })),
  ...NAT_RULES.map((dependent): Dependency => ({
    on: 'subnets',
    dependent,
    // A NAT rule holds the address of its EIP also after the EIP was removed by force.
    dependents: defineSet(
      `${dependent}-of-subnet`,
      (world, value) => [{ kind: 'bucket', table: world.natRules[dependent], index: 'subnet', value }],
      where((world, subnet, name) => world.ask(subnetHeldByRule, `${dependent}/${name}`) === subnet),
    ),
    dependsOn: (world, name) => [world.ask(subnetHeldByRule, `${dependent}/${name}`)].filter((subnet) => subnet !== ''),
  })),
];

/** Whether an IP object holds an address of the Subnet that it names; the Subnet need not exist. */
export const ipHoldsAddress: Query<boolean> = defineQuery('ip-holds-address', (world, name) => {
  const ip = world.ips.get(name);
  // An address for the Subnet itself (interconnection, multicast querier) is released with the Subnet.
  return ip !== undefined && !onlyRequests(ip) && !isOfSubnet(ip) && !world.ask(isLateForSubnet, name);
});

const providerOf: Query<string> = defineQuery('provider-of-subnet', (world, name) => world.ask(subnetIntent, name)?.spec.provider ?? '');

/** Subnets in a node's annotations, or of its port, that its IP object does not name. */
function nodeSubnets(world: World, node: string): readonly string[] {
  const port = nodePortName(node);
  const subnets = [world.ask(annotatedSubnet, node), subnetOfPort(world, node)];
  return [...new Set(subnets)].filter((subnet) => subnet !== '' && subnet !== world.ask(subnetOfIp, port));
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
const annotatedSubnet: Query<string> = defineQuery('annotated-subnet-of-node', (world, name) => {
  const annotations = world.nodes.get(name)?.metadata.annotations ?? {};
  const isJoined = annotations[podAnnotation(DEFAULT_PROVIDER, 'allocated')] === 'true';
  return isJoined ? (annotations[podAnnotation(DEFAULT_PROVIDER, 'logical_switch')] ?? '') : '';
});

export const subnetOfIp: Query<string> = defineQuery('ip-subnet', (world, name) => world.ips.get(name)?.spec.subnet ?? '');

/** The Subnet of the address of a Vip or an EIP; empty while it only requests one. */
const subnetHeldBy: Query<string> = defineQuery('subnet-held-by', (world, key) => {
  const at = key.indexOf('/');
  const object = world.addressObject(key.slice(0, at) as AddressResource, key.slice(at + 1));
  return object?.held === undefined ? '' : object.subnet;
});

/** The Subnet of a NAT rule's address, if its EIP does not hold that; empty for none. */
const subnetHeldByRule: Query<string> = defineQuery('subnet-held-by-rule', (world, key) => {
  const at = key.indexOf('/');
  const resource = key.slice(0, at) as NatRuleResource;
  const rule = world.natRules[resource].get(key.slice(at + 1));
  const held = rule === undefined ? undefined : heldByRule(rule);
  if (held === undefined || world.ask(subnetHeldBy, `${eipResourceOf(resource)}/${held.eip}`) === held.subnet) return '';
  return held.subnet;
});
