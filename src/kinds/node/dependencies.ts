import { nodePortName } from '../../api/names.ts';
import { DEFAULT_PROVIDER, podAnnotation } from '../../api/well-known.ts';
import type { Dependency } from '../../blockers/dependency.ts';
import { rowId } from '../../nb/row-id.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery, defineSet, where } from '../../world/world.ts';
import { subnetOfIp } from '../ip/dependencies/ip-holds-address.ts';
import { usesIps } from '../ip/dependencies/ips-in-use.ts';
import { ownersOfPorts, usesSubnet } from '../subnet/dependencies/subnet-users.ts';

const nodesWithPorts = ownersOfPorts('nodes-with-ports', 'node//');

export const dependencies: readonly Dependency[] = [
  ...usesSubnet({
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
  }),
  usesIps('nodes', (_, node) => [`node-${node}`]),
];

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
