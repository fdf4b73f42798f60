/**
 * Routes and policies of a Subnet in its Vpc's router: traffic to the Subnet is routed whatever policies of lower priority match it (policy
 * 31000). In a custom Vpc, traffic from the Subnet without another route goes to its gateway, in its route table.
 *
 * Kube-OVN builds its OVN so that source routes come last. In OVN as released, the longest prefix wins, source or destination: the source
 * route of a /24 hides the default route, and the route to a Subnet that is a /16. So it is emitted only if it hides no other route.
 */
import type { Family } from '../../../net/address.ts';
import { parseAddress } from '../../../net/address.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { familiesOf, ofFamily } from '../../../net/dual.ts';
import { keysOf } from '../../../world/domain.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { Rule } from '../../compiler.ts';
import type { RowOutput } from '../../output.ts';
import { prefixOf } from './subnet-acls.ts';
import { emittedSubnet, subnetRows } from '../validity/subnet-state.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetOwner, subnetSpec, subnetView } from '../validity/subnet-view.ts';
import { ecmpPeers, watchedBy } from '../../vpc/bfd-sessions.ts';
import { policyRow } from '../../vpc/vpc-policy-routes.ts';
import { routeRow } from '../../vpc/vpc-static-routes.ts';
import type { Route } from '../../vpc/requested-route.ts';
import { vpcSpec } from '../../vpc/vpc-view.ts';

const RULE = 'subnet-routes';
const SUBNET_PRIORITY = 31000;

export const subnetRoutes: Rule = {
  name: RULE,
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    if (view === undefined) return [];
    const routes = world.ask(sourceRoutes, name);
    const shared = routes.map((route) => sharedRoutes(world, view, route));
    const alone = routes.filter((_, index) => shared[index]?.length === 0);
    return [...subnetRouteRows(view, alone), ...shared.flat()];
  },
};

/** @param routes what `sourceRoutesOf` has */
export function subnetRouteRows(view: SubnetView, routes: readonly Route[]): readonly RowOutput[] {
  const owner = subnetOwner(view);
  // A Subnet with a physical gateway has policies of its own.
  if (!view.routed) return view.interconnected ? routes.map((route) => routeRow(view.vpc, route, owner, RULE)) : [];
  const policies = familiesOf(view).flatMap((family): RowOutput[] => {
    const cidr = ofFamily(view, family)?.cidr;
    if (cidr === undefined) return [];
    const match = `${prefixOf(family)}.dst == ${cidr}`;
    const policy = { priority: SUBNET_PRIORITY, match, action: 'allow', nexthops: [] };
    return [policyRow(view.vpc, policy, owner, RULE, { subnet: view.name })];
  });
  return [...policies, ...routes.map((route) => routeRow(view.vpc, route, owner, RULE))];
}

/** With `enableEcmp` in a Vpc with BFD the traffic is shared over the gateway nodes instead; empty if it is not. */
function sharedRoutes(world: World, view: SubnetView, route: Route): readonly RowOutput[] {
  if (view.inDefaultVpc || world.ask(subnetSpec, view.name)?.enableEcmp !== true) return [];
  return world.ask(ecmpPeers, view.vpc).flatMap((session): readonly RowOutput[] => {
    if (parseAddress(session.peer)?.family !== parseCidr(route.prefix)?.family) return [];
    const row = routeRow(view.vpc, { ...route, nexthop: session.peer }, subnetOwner(view), RULE);
    return [{ ...row, columns: { ...row.columns, ...watchedBy(session) } }];
  });
}

/** The source routes of a Subnet with emitted rows. */
export const sourceRoutes: Query<readonly Route[]> = defineQuery('subnet-source-routes', (world, name) => {
  const view = emittedSubnet(world, name);
  return view === undefined ? [] : sourceRoutesOf(world, view);
});

export function sourceRoutesOf(world: World, view: SubnetView): readonly Route[] {
  if (!(view.routed || view.interconnected) || view.inDefaultVpc) return [];
  return familiesOf(view).flatMap((family): Route[] => {
    const network = ofFamily(view, family);
    if (network === undefined) return [];
    const { cidr, gateway } = network;
    const shortest = world.ask(shortestPrefixes, view.vpc)[`${view.routeTable} ${family}`] ?? Infinity;
    if (world.ask(largestNetworks, view.vpc)[family] < lengthOf(cidr) || shortest <= lengthOf(cidr)) return [];
    return [{ table: view.routeTable, policy: 'src-ip', prefix: cidr, nexthop: gateway }];
  });
}

/** The shortest prefix length of each family among a Vpc's routed Subnets; a Subnet without rows does not count. */
const largestNetworks: Query<Readonly<Record<Family, number>>> = defineQuery('vpc-largest-networks', (world, vpc) => {
  const shortest = { 4: 32, 6: 128 };
  for (const name of world.subnetVpcs.in(vpc)) {
    const view = world.ask(subnetView, name);
    if (view === undefined || !view.routed || world.ask(subnetRows, name) === 'none') continue;
    for (const family of familiesOf(view)) shortest[family] = Math.min(shortest[family], lengthOf(ofFamily(view, family)?.cidr ?? ''));
  }
  return shortest;
});

/** The shortest prefix length among the static routes of a Vpc's spec, by `<route table> <family>`. */
const shortestPrefixes: Query<Readonly<Record<string, number>>> = defineQuery('vpc-shortest-prefixes', (world, vpc) => {
  const shortest: Record<string, number> = {};
  for (const { cidr = '', routeTable = '' } of world.ask(vpcSpec, vpc)?.staticRoutes ?? []) {
    const network = parseCidr(cidr);
    if (network === undefined) continue;
    const key = `${routeTable} ${network.family}`;
    shortest[key] = Math.min(shortest[key] ?? network.prefix, network.prefix);
  }
  return shortest;
});

function lengthOf(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}
