/**
 * The rows of the BFD sessions of a Vpc. A session outlives the routes that name it: OVN refers to it weakly, so that without it a next hop that
 * is down is in use again until its route is gone.
 */
import { staticRouteId } from '../../nb/tables.ts';
import type { RowId } from '../../nb/row-id.ts';
import { tableOf } from '../../nb/row-id.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { RowOutput } from '../output.ts';
import { sharedRoutes } from '../subnet/rows/shared-subnet-routes.ts';
import type { BfdSession } from './bfd-sessions.ts';
import { bfdSessions, sessionId } from './bfd-sessions.ts';
import type { Route } from './requested-route.ts';
import { requestedRoute } from './requested-route.ts';
import { vpcRowsRule } from './vpc-rows-rule.ts';
import { routerId, vpcOwner, vpcSpec } from './vpc-view.ts';

const RULE = 'vpc-bfd';

export const vpcBfd: Rule = vpcRowsRule(RULE, ({ world, name, view }) => {
  const sessions = world.ask(bfdSessions, name);
  return [...sessions, ...endingSessions(world, name, new Set(sessions.map(sessionId)))].map(({ port, peer }): RowOutput => {
    const { bfdMinRx, bfdMinTx, bfdDetectMult } = world.settings;
    return {
      kind: 'row',
      id: sessionId({ port, peer }),
      owner: vpcOwner(view),
      rule: RULE,
      // Its port shows that a session without keys, as Kube-OVN makes it, is that of the Vpc.
      named: true,
      columns: { logical_port: port, dst_ip: peer, min_rx: bfdMinRx, min_tx: bfdMinTx, detect_mult: bfdDetectMult },
    };
  });
});

/** Sessions of the Vpc that it needs no longer, and that a route names which is about to go. */
function endingSessions(world: World, vpc: string, needed: ReadonlySet<RowId>): readonly BfdSession[] {
  const left = [...world.rows.ownedBy(`vpc//${vpc}`)].filter((id) => tableOf(id) === 'BFD' && !needed.has(id)).toSorted();
  if (left.length === 0) return [];
  const watched = watchedByGoingRoutes(world, vpc);
  return left.flatMap((id) => {
    const uuid = world.rows.state(id)?.uuid;
    const [port, peer] = [world.rows.column(id, 'logical_port'), world.rows.column(id, 'dst_ip')];
    return uuid !== undefined && watched.has(uuid) && typeof port === 'string' && typeof peer === 'string' ? [{ port, peer }] : [];
  });
}

/** UUIDs of the sessions that routes name which no rule emits any longer. */
function watchedByGoingRoutes(world: World, vpc: string): ReadonlySet<string> {
  const staying = new Set(
    [...requestedRoutes(world, vpc)].map(({ table, policy, prefix, nexthop }) => staticRouteId(vpc, table, policy, prefix, nexthop)),
  );
  const routes = world.rows.column(routerId(vpc), 'static_routes');
  return new Set(
    [...(routes instanceof Set ? routes : [])].flatMap((uuid) => {
      const id = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0])?.id;
      if (id === undefined || staying.has(id) || world.rows.state(id)?.ownership.kind !== 'ours') return [];
      const session: unknown = world.rows.column(id, 'bfd');
      return session instanceof Set ? [...session].map(String) : typeof session === 'string' ? [session] : [];
    }),
  );
}

function requestedRoutes(world: World, vpc: string): readonly Route[] {
  const own = (world.ask(vpcSpec, vpc)?.staticRoutes ?? []).flatMap(requestedRoute);
  return [...own, ...[...world.subnetVpcs.in(vpc)].flatMap((subnet) => world.ask(sharedRoutes, subnet).map(({ route }) => route))];
}
