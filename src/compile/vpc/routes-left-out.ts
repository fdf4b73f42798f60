/**
 * Static routes of a spec that are not in effect, since another one for the same destination is. In OVN two next hops for one destination
 * share the traffic, also where nobody asked for that:
 *
 * - Kube-OVN before 1.13 had one of them in OVN, whatever the spec says. The take-over keeps what is in effect, and a key in its row says so
 *   until the spec has no second one.
 * - Kube-OVN 1.12 wrote a default route into the spec of each Vpc with `enableExternal`, beside a user's own. Without a row that shows which one
 *   is in effect it is the last.
 * - A route for every source is one for every destination, and comes after the others: Kube-OVN builds its OVN so that source routes come last.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf, wrongFields } from '../../api/validation/finding.ts';
import type { VpcSpec } from '../../api/kinds/vpc.ts';
import { ALONE_KEY } from '../../nb/ownership.ts';
import { staticRouteId } from '../../nb/tables.ts';
import { commandText } from '../../text/command-text.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vpcFindings } from './vpc-state.ts';
import { requestedRoute } from './requested-route.ts';
import type { Route } from './requested-route.ts';
import { vpcSpec } from './vpc-view.ts';

interface Requested {
  /** In `spec.staticRoutes`. */
  readonly index: number;
  readonly route: Route;
  /** It is for every source. */
  readonly bySource: boolean;
  /** The spec wants the traffic shared. */
  readonly shares: boolean;
}

interface LeftOut {
  readonly index: number;
  readonly route: Route;
  /** The next hop that is in effect. */
  readonly by: string;
  readonly why: 'alone' | 'last' | 'every source';
}

const DEFAULT: readonly string[] = ['0.0.0.0/0', '::/0'];

export const routesLeftOut: Query<readonly LeftOut[]> = defineQuery('vpc-routes-left-out', (world, name) => {
  const spec = world.ask(vpcSpec, name);
  if (spec === undefined || (spec.staticRoutes ?? []).length === 0) return [];
  const wrong = wrongFields(world.ask(vpcFindings, name));
  const requested = (spec.staticRoutes ?? []).flatMap((one, index): readonly Requested[] =>
    wrong.has(`spec.staticRoutes[${index}]`)
      ? []
      : requestedRoute(one).map((route) => ({
          index,
          route,
          bySource: one.policy === 'policySrc' && route.policy === 'dst-ip',
          shares: (one.ecmpMode ?? '') !== '',
        })),
  );
  const groups = Map.groupBy(requested, ({ route: { table, policy, prefix } }) => `${table} ${policy} ${prefix}`);
  return [...groups.values()].flatMap((routes) => leftOutOf(world, name, spec, routes));
});

function leftOutOf(world: World, name: string, spec: VpcSpec, routes: readonly Requested[]): readonly LeftOut[] {
  const [first] = routes;
  const isDefault = first !== undefined && first.route.policy === 'dst-ip' && DEFAULT.includes(first.route.prefix);
  const own = routes.filter(({ bySource }) => !bySource);
  const before = isDefault ? (own.at(-1)?.route.nexthop ?? (name === world.settings.defaultVpc ? 'the join Subnet' : '')) : '';
  const late = before === '' ? [] : routes.filter(({ bySource, route }) => bySource && route.nexthop !== before);
  const rest = routes.filter((route) => !late.includes(route));
  return [
    ...late.map(({ index, route }): LeftOut => ({ index, route, by: before, why: 'every source' })),
    ...notAlone(world, name, spec, rest),
  ];
}

function notAlone(world: World, name: string, spec: VpcSpec, routes: readonly Requested[]): readonly LeftOut[] {
  const hops = new Set(routes.map(({ route }) => route.nexthop));
  if (hops.size < 2 || routes.some(({ shares }) => shares)) return [];
  const alone = routes.filter(({ route }) => isAlone(world, name, route));
  const present = routes.filter(({ route }) => world.rows.state(rowOf(name, route)) !== undefined);
  const [kept] = present;
  if (alone.length > 0 && kept !== undefined)
    return routes
      .filter((one) => !present.includes(one))
      .map(({ index, route }) => ({ index, route, by: kept.route.nexthop, why: 'alone' }));
  return lastOf(world, spec, routes);
}

/** Whether a row is the one next hop that Kube-OVN had for its destination. */
export function isAlone(world: World, router: string, route: Route): boolean {
  const id = rowOf(router, route);
  if (world.rows.state(id)?.ownership.kind === 'legacy') return true;
  const keys = world.rows.column(id, 'external_ids');
  return keys instanceof Map && keys.has(ALONE_KEY);
}

function rowOf(router: string, { table, policy, prefix, nexthop }: Route): ReturnType<typeof staticRouteId> {
  return staticRouteId(router, table, policy, prefix, nexthop);
}

/** Of default routes of which one leads by way of an external Subnet. */
function lastOf(world: World, spec: VpcSpec, routes: readonly Requested[]): readonly LeftOut[] {
  const [first] = routes;
  if (spec.enableExternal !== true || first?.route.policy !== 'dst-ip' || !DEFAULT.includes(first.route.prefix)) return [];
  const by = routes.at(-1)?.route.nexthop ?? '';
  const gateways = externalGateways(world, spec);
  if (!routes.some(({ route }) => gateways.has(route.nexthop))) return [];
  return routes.filter(({ route }) => route.nexthop !== by).map(({ index, route }) => ({ index, route, by, why: 'last' }));
}

function externalGateways(world: World, { extraExternalSubnets = [] }: VpcSpec): ReadonlySet<string> {
  const subnets = [world.settings.externalSubnet, ...extraExternalSubnets].flatMap((name) => world.ask(subnetView, name) ?? []);
  return new Set(subnets.flatMap(({ v4, v6 }) => [v4?.gateway ?? '', v6?.gateway ?? '']).filter((gateway) => gateway !== ''));
}

const WHY: Readonly<Record<LeftOut['why'], readonly [string, string]>> = {
  alone: [
    'that one alone was in OVN at the take-over, and stays alone',
    'remove the wrong one; for both to share the traffic, remove this one and add it again',
  ],
  last: [
    'a later route of the spec: the last one is in effect',
    'of the default routes of a Vpc with spec.enableExternal Kube-OVN 1.12 uses the last, and so does Kiln; remove the wrong one',
  ],
  'every source': [
    'that default route comes before one for every source',
    'a route with policySrc for every source is for every destination as well; remove one of the two',
  ],
};

export function leftOutFindings(world: World, name: string): readonly Finding[] {
  return world.ask(routesLeftOut, name).map(({ index, route, by, why }) =>
    findingOf(
      { kind: 'Vpc', name },
      {
        code: 'RouteReplaced',
        field: `spec.staticRoutes[${index}]`,
        value: route.prefix,
        problem: `by way of ${route.nexthop} is not in effect, and the one by way of ${by} is: ${WHY[why][0]}`,
        rule: `${WHY[why][1]}: ${commandText`kubectl edit vpc ${name}`}`,
      },
    ),
  );
}
