/**
 * Rows that stay although their owner was removed by force: those of a Subnet with addresses in use, and those of a Vpc with Subnets or
 * orphaned networks in use, or with NAT rules in effect. They are deleted with the last dependent; a new owner of that name takes them over.
 */
import { blockersOf } from '../../../blockers/blockers.ts';
import { orphanedNetworks } from '../../../kinds/subnet/dependencies/orphaned-networks.ts';
import { switchToRouterPort } from '../../../api/names.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { identityOf, rowId, tableOf } from '../../../nb/row-id.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import { addressesOfLostPorts } from '../../nat/external-ports.ts';
import { gatewayChassis, gatewayChassisRows } from '../../nat/gateway-chassis.ts';
import { EXTERNAL_PORTS_RULE } from '../../../nb/ownership.ts';
import { NAT_RULES } from '../../../world/nat-rules.ts';
import { retainedRows } from '../../retained-row.ts';
import type { Output, RowOutput } from '../../output.ts';
import { mayLink, routerPortOf } from '../../port-link.ts';
import { isOrphaned } from './orphan-holders.ts';
import { subnetBasics } from '../validity/spec-in-effect.ts';
import { subnetRows } from '../validity/subnet-state.ts';
import { linkRow } from '../rows/subnet-switch.ts';
import { switchId } from '../validity/subnet-view.ts';
import { loadBalancerId, loadBalancersOf } from '../../vpc/vpc-load-balancers.ts';
import { emittedVpc } from '../../vpc/vpc-state.ts';

/** The rows of an orphaned network, as they are. */
export function orphanedRows(world: World, subnet: string): readonly Output[] {
  return [...linked(world, retainedRows(world, `subnet//${subnet}`), subnet), ...retainedBalancers(world, subnet)];
}

/**
 * Adds the switch port that links to each router port, which follows from its name, so that another program's change of it is repaired.
 * Drops a link to a router port that has another owner now.
 */
export function linked(world: World, rows: readonly RowOutput[], subnet: string): readonly RowOutput[] {
  const links = rows.flatMap(({ id, parent, owner }): readonly RowOutput[] => {
    if (tableOf(id) !== 'Logical_Router_Port' || parent === undefined) return [];
    const name = switchToRouterPort(subnet, identityOf(parent.id));
    return [linkRow(owner, subnet, name, identityOf(id))];
  });
  const emitted = new Set(links.map(({ id }) => id));
  return [...rows.filter((row) => !emitted.has(row.id) && !isWrongLink(world, row)), ...links];
}

function isWrongLink(world: World, { id, owner }: RowOutput): boolean {
  if (tableOf(id) !== 'Logical_Switch_Port') return false;
  const name = routerPortOf(world, id);
  return name !== '' && !mayLink(world, rowId('Logical_Router_Port', name), owner, () => true);
}

/**
 * The load balancers of a frozen switch: without these members the diff would remove them. A deleted load balancer comes back with its Vpc,
 * and into the switch if that has others of the Vpc: it has all of them or none.
 */
export function retainedBalancers(world: World, subnet: string): readonly Output[] {
  const row = switchId(subnet);
  const held = world.rows.column(row, 'load_balancer');
  if (!(held instanceof Set)) return [];
  const members = new Set<RowId>();
  const vpcs = new Set<string>();
  for (const uuid of held) {
    const balancer = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0]);
    if (balancer?.ownership.kind !== 'ours') continue;
    members.add(balancer.id);
    const [kind, , vpc = ''] = balancer.ownership.owner.split('/');
    if (kind === 'vpc') vpcs.add(vpc);
  }
  for (const vpc of vpcs) {
    if (emittedVpc(world, vpc) === undefined) continue;
    for (const { name } of loadBalancersOf(world, vpc)) members.add(loadBalancerId(name));
  }
  return [...members].map((ref): Output => ({ kind: 'member', row, column: 'load_balancer', member: { ref } }));
}

/** Also if a Vpc of the name exists and cannot take the router over: it has a name conflict, or is external. */
export const orphanedVpc: Rule = {
  name: 'orphaned-vpc',
  over: (world) => world.rows.ownersOf('vpc'),
  run: (world, vpc) => {
    if (world.ask(isEmitted, vpc) || !(world.ask(hasNetworks, vpc) || world.ask(hasNatRules, vpc))) return [];
    return [...withPresentChassis(world, vpc, retainedRows(world, `vpc//${vpc}`)), ...addressesOfLostPorts(world, vpc)];
  },
};

/** The rows of a Vpc as they are, but the chassis of its external ports, which follow the gateway nodes; without one they stay as they are. */
function withPresentChassis(world: World, vpc: string, rows: readonly RowOutput[]): readonly RowOutput[] {
  if (world.ask(gatewayChassis, vpc).length === 0) return rows;
  const ports = rows.filter(({ id, rule }) => rule === EXTERNAL_PORTS_RULE && tableOf(id) === 'Logical_Router_Port');
  const isOfPort = ({ id, parent }: RowOutput): boolean =>
    tableOf(id) === 'Gateway_Chassis' && ports.some((port) => port.id === parent?.id);
  return [...rows.filter((row) => !isOfPort(row)), ...ports.flatMap((port) => gatewayChassisRows(world, vpc, port))];
}

const isEmitted: Query<boolean> = defineQuery('vpc-emitted', (world, vpc) => emittedVpc(world, vpc) !== undefined);

/** Its router has rows of NAT rules, which also block the deletion of a Vpc. */
const hasNatRules: Query<boolean> = defineQuery('vpc-has-nat-rules', (world, vpc) =>
  NAT_RULES.some((resource) => world.natRules[resource].bucket('vpc', vpc).size > 0),
);

/** Subnets with rows, or orphaned networks in use: the same block the deletion of a Vpc. */
const hasNetworks: Query<boolean> = defineQuery(
  'vpc-has-networks',
  (world, vpc) =>
    [...world.subnetVpcs.in(vpc)].some((name) => world.ask(subnetBasics, name)?.isOvn === true && world.ask(subnetRows, name) !== 'none') ||
    world.ask(orphanedNetworks, vpc).some((name) => world.ask(isOrphaned, name) && blockersOf(world, 'subnets', name).count > 0),
);
