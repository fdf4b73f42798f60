/** The chassis that host the external ports of routers: those of nodes with the label of a gateway node. */
import { createHash } from 'node:crypto';
import { rowId } from '../../nb/row-id.ts';
import { enabledGatewayConfig } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { nodeChassis } from '../node/node-chassis.ts';
import { nodeReady } from '../node/node-ready.ts';
import type { RowOutput } from '../output.ts';

/** Priority of the first chassis, as with Kube-OVN. The highest one that is alive hosts the port. */
const FIRST_PRIORITY = 100;

/**
 * The chassis of those gateway nodes that can host a port, also of ones that are not ready. Among the chassis of a port OVN passes it on as soon as one is silent, without us; but one that
 * sees no other hosts nothing, since it may be cut off itself. So a node that alone is ready has the port alone.
 */
function hosting(world: World, nodes: readonly string[]): readonly string[] {
  const running = nodes.filter((node) => world.ask(nodeChassis, node) !== '');
  const ready = running.filter((node) => world.ask(nodeReady, node));
  return [...new Set((ready.length === 1 ? ready : running).map((node) => world.ask(nodeChassis, node)))];
}

/** The chassis of all labelled gateway nodes, in the order of the nodes' names. */
const labelledChassis: Query<readonly string[]> = defineQuery('labelled-gateway-chassis', (world) => {
  return hosting(world, [...world.nodes.bucket('externalGateway', 'true')].toSorted());
});

/**
 * Those of the default Vpc: nodes that users labelled, then those that the ConfigMap of the external gateway names. It labels these nodes,
 * and the order does not depend on whether it has done so yet.
 */
const defaultChassis: Query<readonly string[]> = defineQuery('default-gateway-chassis', (world) => {
  const { nodes: named = [], listed = [], distributed = false } = enabledGatewayConfig(world) ?? {};
  const made = world.nodes.bucket('madeGateway', 'true');
  const labelled = [...world.nodes.bucket('externalGateway', 'true')].toSorted();
  const byUsers = labelled.filter((node) => !made.has(node));
  const rank = (node: string): number => (listed.includes(node) ? listed.indexOf(node) : listed.length);
  const kept = distributed ? labelled.filter((node) => made.has(node)).toSorted((a, b) => rank(a) - rank(b)) : [];
  return hosting(world, [...new Set([...byUsers, ...named, ...kept])]);
});

/**
 * The chassis for the external ports of a Vpc, the first one first. Custom Vpcs have Kube-OVN's order, by a hash of Vpc and chassis, which
 * spreads their ports. It follows the nodes: Kube-OVN keeps the set of the moment in which it made the port.
 */
export const gatewayChassis: Query<readonly string[]> = defineQuery('gateway-chassis', (world, vpc) => {
  const labelled = world.ask(labelledChassis, '');
  if (vpc === world.settings.defaultVpc) return world.ask(defaultChassis, '');
  const rank = new Map(
    labelled.map((chassis) => [
      chassis,
      createHash('sha256')
        .update(vpc + chassis)
        .digest('hex'),
    ]),
  );
  return labelled.toSorted((a, b) => ((rank.get(a) ?? '') < (rank.get(b) ?? '') ? -1 : 1));
});

/** The rows that bind a router port to the chassis. */
export function gatewayChassisRows(world: World, vpc: string, port: Pick<RowOutput, 'id' | 'owner' | 'rule'>): readonly RowOutput[] {
  const name = port.id.slice(port.id.indexOf('/') + 1);
  return world.ask(gatewayChassis, vpc).map((chassis, index) => ({
    kind: 'row',
    id: rowId('Gateway_Chassis', `${name}-${chassis}`),
    owner: port.owner,
    rule: port.rule,
    parent: { id: port.id, column: 'gateway_chassis' },
    columns: { name: `${name}-${chassis}`, chassis_name: chassis, priority: Math.max(FIRST_PRIORITY - index, 0) },
    externalIds: { lrp: name },
  }));
}
