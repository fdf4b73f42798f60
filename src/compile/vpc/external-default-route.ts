/**
 * Default routes of a Vpc beside one through its external Subnet. Kube-OVN 1.12 wrote that route into the spec of each Vpc with
 * `enableExternal`, beside a user's own, and only the last of them reached OVN. In OVN two routes would share the traffic, which no spec
 * requests: so only the last one of the spec is in effect.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf, wrongFields } from '../../api/validation/finding.ts';
import type { VpcSpec } from '../../api/kinds/vpc.ts';
import { commandText } from '../../text/command-text.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vpcFindings } from './vpc-state.ts';
import { requestedRoute } from './requested-route.ts';
import type { Route } from './requested-route.ts';
import { vpcSpec } from './vpc-view.ts';

interface Replaced {
  /** In `spec.staticRoutes`. */
  readonly index: number;
  readonly route: Route;
  /** The next hop that is in effect. */
  readonly by: string;
}

const DEFAULT: readonly string[] = ['0.0.0.0/0', '::/0'];

/** Default routes that a later one of the spec replaces. */
export const replacedDefaultRoutes: Query<readonly Replaced[]> = defineQuery('vpc-replaced-default-routes', (world, name) => {
  const spec = world.ask(vpcSpec, name);
  if (spec?.enableExternal !== true) return [];
  const wrong = wrongFields(world.ask(vpcFindings, name));
  const defaults = (spec.staticRoutes ?? []).flatMap((route, index) =>
    wrong.has(`spec.staticRoutes[${index}]`) ? [] : requestedRoute(route).map((one) => ({ index, route: one })),
  );
  const groups = Map.groupBy(
    defaults.filter(({ route: { prefix, policy } }) => policy === 'dst-ip' && DEFAULT.includes(prefix)),
    ({ route: { table, prefix } }) => `${table} ${prefix}`,
  );
  const gateways = externalGateways(world, spec);
  return [...groups.values()].flatMap((routes) => {
    const by = routes.at(-1)?.route.nexthop ?? '';
    if (!routes.some(({ route }) => gateways.has(route.nexthop))) return [];
    return routes.filter(({ route }) => route.nexthop !== by).map((one) => ({ ...one, by }));
  });
});

function externalGateways(world: World, { extraExternalSubnets = [] }: VpcSpec): ReadonlySet<string> {
  const subnets = [world.settings.externalSubnet, ...extraExternalSubnets].flatMap((name) => world.ask(subnetView, name) ?? []);
  return new Set(subnets.flatMap(({ v4, v6 }) => [v4?.gateway ?? '', v6?.gateway ?? '']).filter((gateway) => gateway !== ''));
}

export function replacedRouteFindings(world: World, name: string): readonly Finding[] {
  return world.ask(replacedDefaultRoutes, name).map(({ index, route, by }) =>
    findingOf(
      { kind: 'Vpc', name },
      {
        code: 'RouteReplaced',
        field: `spec.staticRoutes[${index}]`,
        value: route.prefix,
        problem: `goes by way of ${route.nexthop}, and a later route of the spec by way of ${by}: the last one is in effect`,
        rule: `of the default routes of a Vpc with spec.enableExternal Kube-OVN uses the last, and so does Kiln; remove the wrong one: ${commandText`kubectl edit vpc ${name}`}`,
      },
    ),
  );
}
