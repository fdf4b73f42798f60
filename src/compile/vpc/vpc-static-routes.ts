/**
 * Static routes of a Vpc: those of its spec, and in the default Vpc the default routes through the join Subnet's gateway, one
 * for each route table in use. Each next hop is a row of its own: several for one prefix share the traffic (ECMP).
 */
import { familiesOf, ofFamily } from '../../net/dual.ts';
import { ALONE_KEY } from '../../nb/ownership.ts';
import { staticRouteId } from '../../nb/tables.ts';
import type { RowId } from '../../nb/row-id.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { RowOwner, Output, RowOutput } from '../output.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { subnetRows } from '../subnet/validity/subnet-state.ts';
import type { BfdSession } from './bfd-sessions.ts';
import { routeSessions, watchedBy } from './bfd-sessions.ts';
import { requestedRoute } from './requested-route.ts';
import type { Route } from './requested-route.ts';
import { isAlone, routesLeftOut } from './routes-left-out.ts';
import { vpcRowsRule } from './vpc-rows-rule.ts';
import { vpcOwner, routerId } from './vpc-view.ts';

const RULE = 'vpc-static-routes';

export const vpcStaticRoutes: Rule = vpcRowsRule(RULE, ({ world, name, view, spec, isFaulty }) => {
  const leftOut = world.ask(routesLeftOut, name);
  const replaced = new Set(leftOut.map(({ index }) => index));
  const alone = new Set(leftOut.flatMap(({ route, why }) => (why === 'alone' ? [destinationOf(route)] : [])));
  const sessions = world.ask(routeSessions, name);
  const routes: (Route & { readonly session?: BfdSession | 'as it is' | undefined })[] = (spec.staticRoutes ?? []).flatMap((route, i) =>
    isFaulty(`spec.staticRoutes[${i}]`) || replaced.has(i)
      ? []
      : requestedRoute(route).map((requested) => ({
          ...requested,
          session: sessions[i] ?? ((route.bfdId ?? '') === '' ? undefined : 'as it is'),
        })),
  );
  if (view.isDefault) routes.push(...defaultRoutes(world, new Set(['', ...routes.map(({ table }) => table)])));
  const rows = new Map<RowId, Output>();
  for (const { session, ...route } of routes) {
    const row = routeRow(view.router, route, vpcOwner(view), RULE);
    const watch = session === undefined ? {} : session === 'as it is' ? sessionOf(world, row.id) : watchedBy(session);
    const marks = alone.has(destinationOf(route)) && isAlone(world, view.router, route) ? { externalIds: { [ALONE_KEY]: 'true' } } : {};
    rows.set(row.id, { ...row, columns: { ...row.columns, ...watch }, ...marks });
  }
  return [...rows.values()];
});

function destinationOf({ table, policy, prefix }: Route): string {
  return `${table} ${policy} ${prefix}`;
}

/**
 * The BFD session that `bfdId` of a route names, and its options, as they are, where Kiln makes none: without them a next hop that has failed
 * would keep its share of the traffic.
 */
function sessionOf(world: World, id: RowId): RowOutput['columns'] {
  const bfd = world.rows.column(id, 'bfd');
  const options = world.rows.column(id, 'options');
  return {
    ...(typeof bfd === 'string' && { bfd }),
    ...(options instanceof Map && { options: Object.fromEntries([...options].map(([key, value]) => [String(key), String(value)])) }),
  };
}

/** A static route of a router, for Vpcs and Subnets. */
export function routeRow(router: string, { table, policy, prefix, nexthop }: Route, owner: RowOwner, rule: string): RowOutput {
  return {
    kind: 'row',
    id: staticRouteId(router, table, policy, prefix, nexthop),
    owner,
    rule,
    parent: { id: routerId(router), column: 'static_routes' },
    columns: { route_table: table, ip_prefix: prefix, policy, nexthop },
  };
}

/** Default routes to the nodes, through the join Subnet's gateway; none without a join Subnet. */
export function defaultRoutes(world: World, tables: ReadonlySet<string>): Route[] {
  const join = world.ask(subnetView, world.settings.joinSubnet);
  if (join === undefined || world.ask(subnetRows, join.name) === 'none') return [];
  return [...tables].flatMap((table) =>
    familiesOf(join).flatMap((family) => {
      const gateway = ofFamily(join, family)?.gateway;
      return gateway === undefined
        ? []
        : [{ table, policy: 'dst-ip' as const, prefix: family === 4 ? '0.0.0.0/0' : '::/0', nexthop: gateway }];
    }),
  );
}
