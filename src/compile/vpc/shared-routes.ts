/**
 * Routes with a foreign route in their ECMP group: OVN takes routes of one prefix, policy and route table in one router as one, and sends
 * each connection by one of them. Kiln does not change the foreign route, so it reports that its own carries only a part of the traffic.
 */
import type { Finding, Subject } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { identityOf } from '../../nb/row-id.ts';
import { staticRouteId } from '../../nb/tables.ts';
import type { World } from '../../world/world.ts';
import type { Route } from './requested-route.ts';
import { commandText } from '../../text/command-text.ts';

/** @param field of the subject that requests the route */
export function sharedRoute(world: World, subject: Subject, field: string, router: string, route: Route): readonly Finding[] {
  const { table, policy, prefix, nexthop } = route;
  const foreign = [...world.rows.ecmpRoutes(staticRouteId(router, table, policy, prefix, nexthop))].filter(
    (id) => world.rows.state(id)?.ownership.kind === 'foreign',
  );
  if (foreign.length === 0) return [];
  const hops = foreign.map((id) => identityOf(id).slice(identityOf(id).lastIndexOf('|') + 1)).toSorted();
  // With the same next hop as ours it is a row conflict, which is reported as such.
  const others = hops.filter((hop) => hop !== nexthop);
  if (others.length === 0) return [];
  return [
    findingOf(subject, {
      code: 'RouteShared',
      field,
      value: prefix,
      problem: `goes by way of ${nexthop}, and by way of ${others.join(', ')} as well: another program has such a route in router ${router}`,
      rule: `OVN takes both as one route and sends a part of the traffic by each; ${commandText`ovn-nbctl lr-route-list ${router} shows them`}`,
    }),
  ];
}
