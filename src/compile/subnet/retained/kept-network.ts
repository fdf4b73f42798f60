/**
 * What stays although nobody is there to state it: the rows of a network whose Subnet vanished, and the rows of a Vpc that vanished with
 * Subnets still in it, or with networks in use whose Subnets vanished too. The last of these takes them along; a new Vpc of that name takes
 * them over.
 */
import { blockersOf } from '../../../blockers/blockers.ts';
import { orphanedNetworks, vpcOfOrphanedNetwork } from '../../../blockers/orphaned-networks.ts';
import { switchToRouterPort } from '../../../api/names.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { identityOf, rowId, tableOf } from '../../../nb/row-id.ts';
import { keysOf } from '../../../world/domain.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { Rule } from '../../compiler.ts';
import { frozenRows } from '../../kept-row.ts';
import type { Output, RowOutput } from '../../output.ts';
import { mayLink, routerPortOf } from '../../port-link.ts';
import { subnetBasics } from '../judging/subnet-basics.ts';
import { subnetRows } from '../judging/subnet-state.ts';
import { linkRow } from '../rows/subnet-switch.ts';
import { switchId } from '../judging/subnet-view.ts';
import { loadBalancerId, loadBalancersOf } from '../../vpc/vpc-load-balancers.ts';
import { emittedVpc } from '../../vpc/vpc-state.ts';

/** A network of which nobody states anything: its rows as they are, under this owner text. */
export function keptNetwork(world: World, subnet: string): readonly Output[] {
  return [...linked(world, frozenRows(world, `subnet//${subnet}`), subnet), ...frozenBalancers(world, subnet)];
}

/**
 * What follows from the router port that it has, whoever changed or took it: the port of its switch which leads there, by name. One that leads
 * to the router port of another object, which has the name since, is given up.
 */
export function linked(world: World, rows: readonly RowOutput[], subnet: string): readonly RowOutput[] {
  const links = rows.flatMap(({ id, parent, owner }): readonly RowOutput[] => {
    if (tableOf(id) !== 'Logical_Router_Port' || parent === undefined) return [];
    const name = switchToRouterPort(subnet, identityOf(parent.id));
    return [linkRow(owner, subnet, name, identityOf(id))];
  });
  const stated = new Set(links.map(({ id }) => id));
  return [...rows.filter((row) => !stated.has(row.id) && !leadsAstray(world, row)), ...links];
}

function leadsAstray(world: World, { id, owner }: RowOutput): boolean {
  if (tableOf(id) !== 'Logical_Switch_Port') return false;
  const name = routerPortOf(world, id);
  return name !== '' && !mayLink(world, rowId('Logical_Router_Port', name), owner, () => true);
}

/**
 * What else would leave the switch of such a Subnet, whichever Vpc its spec names now: members are stated one by one. One that somebody takes
 * away as a row comes again with its Vpc, and to the switch where that has others of this Vpc: it has all of them or none.
 */
export function frozenBalancers(world: World, subnet: string): readonly Output[] {
  const row = switchId(subnet);
  const held = world.rows.column(row, 'load_balancer');
  if (!(held instanceof Set)) return [];
  const kept = new Set<RowId>();
  const vpcs = new Set<string>();
  for (const uuid of held) {
    const balancer = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0]);
    if (balancer?.ownership.kind !== 'ours') continue;
    kept.add(balancer.id);
    const [kind, , vpc = ''] = balancer.ownership.owner.split('/');
    if (kind === 'vpc') vpcs.add(vpc);
  }
  for (const vpc of vpcs) {
    if (emittedVpc(world, vpc) === undefined) continue;
    for (const { name } of loadBalancersOf(world, vpc)) kept.add(loadBalancerId(name));
  }
  return [...kept].map((ref): Output => ({ kind: 'member', row, column: 'load_balancer', member: { ref } }));
}

export const vpcMissing: Rule = {
  name: 'vpc-missing',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const vpc = world.ask(subnetBasics, name)?.vpc;
    return vpc === undefined || world.ask(firstWithRows, vpc) !== name ? [] : routerLeft(world, vpc);
  },
};

/** The rows of a Vpc that is not there to state them. */
function routerLeft(world: World, vpc: string): readonly Output[] {
  return world.ask(isEmitted, vpc) ? [] : frozenRows(world, `vpc//${vpc}`);
}

/**
 * The same for networks whose Subnets vanished as well, where no Subnet is there to speak: the first of those that are in use does.
 * @param isLeft whether somebody states the rows of such a network
 */
export function routerOfNetworkLeft(world: World, subnet: string, isLeft: Query<boolean>): readonly Output[] {
  const vpc = world.ask(vpcOfOrphanedNetwork, subnet);
  if (vpc === '' || world.ask(isEmitted, vpc) || world.ask(firstWithRows, vpc) !== undefined) return [];
  // As the Vpc sees it, which would wait for these if it were being deleted.
  const first = world.ask(orphanedNetworks, vpc).find((name) => world.ask(isLeft, name) && blockersOf(world, 'subnets', name).count > 0);
  return first === subnet ? routerLeft(world, vpc) : [];
}

/** Also false where a Vpc was made again under the name and cannot carry the router on: refused, or the router is another program's. */
const isEmitted: Query<boolean> = defineQuery('vpc-emitted', (world, vpc) => emittedVpc(world, vpc) !== undefined);

/** One Subnet speaks for all. A query, so that a Subnet which comes or goes does not run the rules of all others of its Vpc. */
const firstWithRows: Query<string | undefined> = defineQuery('vpc-first-with-rows', (world, vpc) =>
  [...world.subnetVpcs.in(vpc)]
    .toSorted()
    .find((name) => world.ask(subnetBasics, name)?.isOvn === true && world.ask(subnetRows, name) !== 'none'),
);
