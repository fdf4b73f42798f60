/**
 * `spec.bfdPort` of a Vpc: a router port that answers BFD, and the chassis that may host it. These follow the nodes: Kube-OVN takes the first
 * three that it happens to list.
 */
import { createHash } from 'node:crypto';
import { selectorMatches } from '../../api/kubernetes/label-selector.ts';
import { bfdPort } from '../../api/names.ts';
import { wrongFields } from '../../api/validation/finding.ts';
import { splitList } from '../../net/dual.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import { nodeChassis } from '../node/node-chassis.ts';
import type { Json, RowOutput } from '../output.ts';
import { macExternalId, rowMac } from '../row-mac.ts';
import { vpcFindings } from './vpc-state.ts';
import { vpcRowsRule } from './vpc-rows-rule.ts';
import { isOursOnceAdopted, routerId, vpcOwner, vpcSpec } from './vpc-view.ts';
import type { VpcView } from './vpc-view.ts';

const RULE = 'vpc-bfd-port';
const FIRST_PRIORITY = 100;
/** Most chassis without a selector. */
const MOST = 3;

export const vpcBfdPort: Rule = vpcRowsRule(RULE, ({ world, name, view }) => {
  const requested = world.ask(requestedBfdPort, name);
  if (requested === undefined) return [];
  const owner = vpcOwner(view);
  const port = bfdPort(name);
  const group = groupId(name);
  const mac = rowMac(world, portId(name), 'mac');
  const chassis = requested.nodes.map(({ chassis: chassisName }, index): RowOutput => ({
    kind: 'row',
    id: rowId('HA_Chassis', port, chassisName),
    owner,
    rule: RULE,
    parent: { id: group, column: 'ha_chassis' },
    columns: { chassis_name: chassisName, priority: Math.max(FIRST_PRIORITY - index, 0) },
    externalIds: { group: port },
  }));
  return [
    { kind: 'row', id: group, owner, rule: RULE, columns: { name: port }, externalIds: { lrp: port } },
    ...chassis,
    {
      kind: 'row',
      id: portId(name),
      owner,
      rule: RULE,
      parent: { id: routerId(view.router), column: 'ports' },
      columns: { name: port, mac, networks: requested.addresses, options: { 'bfd-only': 'true' }, ha_chassis_group: { ref: group } },
      externalIds: { lr: view.router, ...macExternalId(portId(name), mac) },
    },
  ];
});

function portId(vpc: string): RowId {
  return rowId('Logical_Router_Port', bfdPort(vpc));
}

function groupId(vpc: string): RowId {
  return rowId('HA_Chassis_Group', bfdPort(vpc));
}

interface RequestedPort {
  readonly addresses: readonly string[];
  readonly nodes: readonly { readonly node: string; readonly chassis: string }[];
}

/** Undefined if the Vpc requests none, or a wrong one. */
export const requestedBfdPort: Query<RequestedPort | undefined> = defineQuery('vpc-requested-bfd-port', (world, vpc) => {
  const { enabled = false, ip = '' } = world.ask(vpcSpec, vpc)?.bfdPort ?? {};
  const wrong = wrongFields(world.ask(vpcFindings, vpc));
  if (!enabled || wrong.has('spec.bfdPort.ip') || wrong.has('spec.bfdPort.nodeSelector')) return undefined;
  return { addresses: splitList(ip), nodes: inPlaceFirst(world, vpc, chosenNodes(world, vpc)) };
});

/** Nodes that host the port already keep their order, so that the port does not move without need. */
function inPlaceFirst(world: World, vpc: string, nodes: RequestedPort['nodes']): RequestedPort['nodes'] {
  return nodes.toSorted((a, b) => priorityNow(world, vpc, b.chassis) - priorityNow(world, vpc, a.chassis));
}

/** The priority of a chassis in the group of the port; -1 for one that is not in it. */
function priorityNow(world: World, vpc: string, chassis: string): number {
  const priority = world.rows.column(rowId('HA_Chassis', bfdPort(vpc), chassis), 'priority');
  return priority === undefined || priority === null ? -1 : Number(priority);
}

/** With a selector all nodes that match, by name; else three, by a hash of Vpc and chassis, which spreads the ports of many Vpcs. */
function chosenNodes(world: World, vpc: string): RequestedPort['nodes'] {
  const selector = world.ask(vpcSpec, vpc)?.bfdPort?.nodeSelector;
  const nodes = [...world.nodes.keys()].toSorted().flatMap((node) => {
    const chassis = world.ask(nodeChassis, node);
    return chassis === '' ? [] : [{ node, chassis }];
  });
  if (selector !== undefined && selector !== null)
    return nodes.filter(({ node }) => selectorMatches(selector, world.ask(labelsOfNode, node)));
  const rank = (chassis: string): string =>
    createHash('sha256')
      .update(vpc + chassis)
      .digest('hex');
  const byRank = nodes.toSorted((a, b) => (rank(a.chassis) < rank(b.chassis) ? -1 : 1));
  return inPlaceFirst(world, vpc, byRank).slice(0, MOST);
}

const labelsOfNode: Query<Readonly<Record<string, string>>> = defineQuery(
  'bfd-node-labels',
  (world, name) => world.nodes.get(name)?.metadata.labels ?? {},
);

/** The port that the status names; empty for none. */
const namedPort: Query<string> = defineQuery('vpc-named-bfd-port', (world, vpc) => world.vpcs.get(vpc)?.status?.bfdPort?.name ?? '');

/** `status.bfdPort`: null if it names a port that is not requested; undefined, which leaves it as it is, while there is none. */
export function bfdPortStatus(world: World, view: VpcView): Json | undefined {
  const requested = world.ask(requestedBfdPort, view.name);
  if (requested === undefined) return world.ask(namedPort, view.name) === '' ? undefined : null;
  if (!isOursOnceAdopted(world, portId(view.name), vpcOwner(view))) return undefined;
  return { name: bfdPort(view.name), ip: requested.addresses.join(','), nodes: requested.nodes.map(({ node }) => node) };
}
