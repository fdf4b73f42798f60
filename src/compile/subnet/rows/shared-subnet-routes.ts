/**
 * Source routes of Subnets with `enableEcmp` in a custom Vpc with BFD: over the gateway nodes. In OVN as released they hide each route with
 * a shorter prefix. The default route is one: Kube-OVN takes the one to the external gateway out of the spec then, and here it stays for the
 * other Subnets, and for the time with fewer than two nodes. Other routes are not hidden: the traffic is not shared then, and that is told.
 */
import type { Finding, Subject } from '../../../api/validation/finding.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import type { Family } from '../../../net/address.ts';
import { parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { familiesOf, ofFamily } from '../../../net/dual.ts';
import { commandText } from '../../../text/command-text.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { connectedExternals } from '../../nat/external-status.ts';
import type { BfdSession } from '../../vpc/bfd-sessions.ts';
import { ecmpPeers } from '../../vpc/bfd-sessions.ts';
import { requestedRoute } from '../../vpc/requested-route.ts';
import type { Route } from '../../vpc/requested-route.ts';
import { vpcSpec } from '../../vpc/vpc-view.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetSpec, subnetView } from '../validity/subnet-view.ts';
import { largestNetworks, lengthOf } from './hidden-prefixes.ts';

export interface SharedRoute {
  readonly route: Route;
  readonly session: BfdSession;
}

/** Empty for a Subnet without emitted rows, and for one that shares nothing. */
export const sharedRoutes: Query<readonly SharedRoute[]> = defineQuery('subnet-shared-routes', (world, name) => {
  const view = emittedSubnet(world, name);
  if (view === undefined) return [];
  return familiesOf(view).flatMap((family): readonly SharedRoute[] => {
    const prefix = ofFamily(view, family)?.cidr;
    if (prefix === undefined || hiddenBy(world, view, family) !== undefined) return [];
    return peersOf(world, view, family).map((session) => ({
      route: { table: view.routeTable, policy: 'src-ip', prefix, nexthop: session.peer },
      session,
    }));
  });
});

/** The gateway nodes over which a Subnet is to share the traffic of a family. */
function peersOf(world: World, view: SubnetView, family: Family): readonly BfdSession[] {
  if (!(view.routed || view.interconnected) || view.inDefaultVpc || world.ask(subnetSpec, view.name)?.enableEcmp !== true) return [];
  return world.ask(ecmpPeers, view.vpc).filter(({ peer }) => parseAddress(peer)?.family === family);
}

/** What the source route of a Subnet would hide, as a phrase, beside a default route; undefined for nothing. */
function hiddenBy(world: World, view: SubnetView, family: Family): string | undefined {
  const length = lengthOf(ofFamily(view, family)?.cidr ?? '');
  const routes = (world.ask(vpcSpec, view.vpc)?.staticRoutes ?? []).flatMap(requestedRoute);
  const route = routes.find(({ table, prefix }) => {
    const network = parseCidr(prefix);
    return table === view.routeTable && network?.family === family && network.prefix > 0 && network.prefix <= length;
  });
  if (route !== undefined) return `the static route ${route.prefix} by way of ${route.nexthop}`;
  return world.ask(largestNetworks, view.vpc)[family] < length ? 'the route to a larger Subnet' : undefined;
}

/** Of a Subnet that does not share its traffic, since other traffic of it would go to the gateway nodes as well. */
export function unsharedTraffic(world: World, subject: Subject): readonly Finding[] {
  const view = world.ask(subnetView, subject.name);
  if (view === undefined) return [];
  return familiesOf(view).flatMap((family) => {
    const hidden = peersOf(world, view, family).length === 0 ? undefined : hiddenBy(world, view, family);
    if (hidden === undefined) return [];
    return [
      findingOf(subject, {
        code: 'RouteHidden',
        field: 'spec.enableEcmp',
        value: 'true',
        problem: `does not share the IPv${family} traffic over the gateway nodes: their routes would hide ${hidden} of Vpc ${view.vpc}`,
        rule: `OVN takes the route with the longest prefix, source or destination; give the Subnet a route table of its own, or remove what would be hidden; ${commandText`kubectl edit vpc ${view.vpc}`}`,
      }),
    ];
  });
}

/** Default routes of a Vpc by way of something else than an external gateway, which its Subnets that share their traffic do not take. */
export function hiddenDefaultRoutes(world: World, vpc: string): readonly Finding[] {
  if (world.ask(ecmpPeers, vpc).length === 0) return [];
  const shares = [...world.subnetVpcs.in(vpc)]
    .toSorted()
    .flatMap((name) => world.ask(sharedRoutes, name).map(({ route }) => ({ name, route })));
  return (world.ask(vpcSpec, vpc)?.staticRoutes ?? []).flatMap((requested, index) =>
    requestedRoute(requested).flatMap(({ table, prefix, nexthop }): readonly Finding[] => {
      const network = parseCidr(prefix);
      if (network?.prefix !== 0 || isOutside(world, vpc, nexthop)) return [];
      const ours = shares.find(({ route }) => route.table === table && parseCidr(route.prefix)?.family === network.family);
      if (ours === undefined) return [];
      return [
        findingOf(
          { kind: 'Vpc', name: vpc },
          {
            code: 'RouteHidden',
            field: `spec.staticRoutes[${index}]`,
            value: prefix,
            problem: `goes by way of ${nexthop}, and Subnet ${ours.name} does not take it: with spec.enableEcmp its traffic goes over the gateway nodes`,
            rule: `OVN takes the route with the longest prefix, source or destination; turn spec.enableEcmp of the Subnet off, or remove the route; ${commandText`kubectl edit vpc ${vpc}`}`,
          },
        ),
      ];
    }),
  );
}

/** Whether a next hop is in an external Subnet of the Vpc: the gateway nodes lead there as well. */
function isOutside(world: World, vpc: string, nexthop: string): boolean {
  const hop = parseAddress(nexthop);
  return world.ask(connectedExternals, vpc).some((subnet) => {
    const network = parseCidr(
      (hop?.family === 4 ? world.ask(subnetView, subnet)?.v4?.cidr : world.ask(subnetView, subnet)?.v6?.cidr) ?? '',
    );
    return hop !== undefined && network !== undefined && cidrContains(network, hop);
  });
}
