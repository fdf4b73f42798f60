/**
 * Routes and policies of a Subnet in its Vpc's router: traffic to the Subnet is routed whatever policies of lower priority match it (policy
 * 31000). In a custom Vpc, traffic from the Subnet without another route goes to its gateway, in its route table.
 *
 * Kube-OVN builds its OVN so that source routes come last. In OVN as released, the longest prefix wins, source or destination: the source
 * route of a /24 hides the default route, and the route to a Subnet that is a /16. So it is emitted only if it hides no other route.
 */
import { familiesOf, ofFamily } from '../../../net/dual.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import type { RowOutput } from '../../output.ts';
import { prefixOf } from './subnet-acls.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetOwner } from '../validity/subnet-view.ts';
import { watchedBy } from '../../vpc/bfd-sessions.ts';
import { policyRow } from '../../vpc/vpc-policy-routes.ts';
import { routeRow } from '../../vpc/vpc-static-routes.ts';
import type { Route } from '../../vpc/requested-route.ts';
import { largestNetworks, lengthOf, shortestPrefixes } from './hidden-prefixes.ts';
import { sharedRoutes } from './shared-subnet-routes.ts';

const RULE = 'subnet-routes';
export const SUBNET_PRIORITY = 31000;

export const subnetRoutes: Rule = {
  name: RULE,
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    if (view === undefined) return [];
    const shared = world.ask(sharedRoutes, name).map(({ route, session }): RowOutput => {
      const row = routeRow(view.vpc, route, subnetOwner(view), RULE);
      return { ...row, columns: { ...row.columns, ...watchedBy(session) } };
    });
    return [...subnetRouteRows(view, world.ask(sourceRoutes, name)), ...shared];
  },
};

/** @param routes what `sourceRoutes` has */
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

/** The source routes by way of its gateway of a Subnet with emitted rows; none of a family that is shared over gateway nodes instead. */
export const sourceRoutes: Query<readonly Route[]> = defineQuery('subnet-source-routes', (world, name) => {
  const view = emittedSubnet(world, name);
  if (view === undefined) return [];
  const shared = new Set(world.ask(sharedRoutes, name).map(({ route }) => route.prefix));
  return sourceRoutesOf(world, view).filter(({ prefix }) => !shared.has(prefix));
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
