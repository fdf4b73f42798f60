/**
 * BFD sessions of a Vpc's router (`spec.enableBfd`): with the gateway of each external Subnet, with the next hops of its static routes with an
 * `ecmpMode`, and with the gateway nodes over which its Subnets with `enableEcmp` share their traffic. OVN leaves a next hop out while its
 * session is down.
 */
import { routerToSwitchPort } from '../../api/names.ts';
import { wrongFields } from '../../api/validation/finding.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import { outOfNetwork } from '../../kinds/ovn-eip/dependencies/out-of-network.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { connectedExternals } from '../nat/external-status.ts';
import type { RowOutput } from '../output.ts';
import { subnetSpec } from '../subnet/validity/spec-in-effect.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vpcFindings } from './vpc-state.ts';
import { isOursOnceAdopted, vpcOwner, vpcSpec } from './vpc-view.ts';
import type { VpcView } from './vpc-view.ts';

export interface BfdSession {
  /** Router port. */
  readonly port: string;
  /** Address of the other side. */
  readonly peer: string;
}

export function sessionId({ port, peer }: BfdSession): RowId {
  return rowId('BFD', port, peer);
}

/** The columns of a route that a session watches. */
export function watchedBy(session: BfdSession): RowOutput['columns'] {
  return { bfd: { ref: sessionId(session) }, options: { ecmp_symmetric_reply: 'true' } };
}

/** All sessions of a Vpc; empty without `enableBfd`, and until its external ports exist. */
export const bfdSessions: Query<readonly BfdSession[]> = defineQuery('vpc-bfd-sessions', (world, vpc) => {
  if (world.ask(vpcSpec, vpc)?.enableBfd !== true) return [];
  const gateways = world.ask(connectedExternals, vpc).flatMap((subnet): readonly BfdSession[] => {
    const view = world.ask(subnetView, subnet);
    const peer = view?.v4?.gateway ?? view?.v6?.gateway ?? '';
    return peer === '' ? [] : [{ port: routerToSwitchPort(vpc, subnet), peer }];
  });
  const ofRoutes = Object.values(world.ask(routeSessions, vpc));
  const ofNodes = world.ask(hasEcmpSubnet, vpc) ? ecmpSessions(world, vpc) : [];
  const sessions = new Map([...gateways, ...ofRoutes, ...ofNodes].map((session) => [sessionId(session), session]));
  return [...sessions.values()];
});

/** Of the static routes with an `ecmpMode`, by index in the spec: a next hop that is in an external Subnet of the Vpc. */
export const routeSessions: Query<Readonly<Record<number, BfdSession>>> = defineQuery('vpc-route-sessions', (world, vpc) => {
  const spec = world.ask(vpcSpec, vpc);
  if (spec?.enableBfd !== true) return {};
  const wrong = wrongFields(world.ask(vpcFindings, vpc));
  return Object.fromEntries(
    (spec.staticRoutes ?? []).flatMap(({ ecmpMode = '', nextHopIP = '' }, index) => {
      const hop = parseAddress(nextHopIP);
      if (ecmpMode === '' || hop === undefined || wrong.has(`spec.staticRoutes[${index}]`)) return [];
      const subnet = world.ask(connectedExternals, vpc).find((external) => {
        const view = world.ask(subnetView, external);
        const network = parseCidr((hop.family === 4 ? view?.v4?.cidr : view?.v6?.cidr) ?? '');
        return network !== undefined && cidrContains(network, hop);
      });
      return subnet === undefined ? [] : [[index, { port: routerToSwitchPort(vpc, subnet), peer: formatAddress(hop) }]];
    }),
  );
});

/** Fewer gateway nodes share nothing. */
const FEWEST_PEERS = 2;

/**
 * The sessions over which the Subnets with `enableEcmp` of a custom Vpc share their traffic: with the addresses of all OvnEips of type `lsp`
 * in its external Subnets that are ready. None of a family of which there are fewer than two.
 */
export const ecmpPeers: Query<readonly BfdSession[]> = defineQuery('vpc-ecmp-peers', (world, vpc) => {
  if (vpc === world.settings.defaultVpc || world.ask(vpcSpec, vpc)?.enableBfd !== true) return [];
  const peers = world
    .ask(connectedExternals, vpc)
    .flatMap((subnet) =>
      [...world.addressObjectsIn('ovn-eips', subnet)]
        .toSorted()
        .flatMap((eip) => world.ask(nodeAddresses, eip).map((peer) => ({ port: routerToSwitchPort(vpc, subnet), peer }))),
    );
  const isShared = (family: 4 | 6): boolean => peers.filter(({ peer }) => parseAddress(peer)?.family === family).length >= FEWEST_PEERS;
  const shared = { 4: isShared(4), 6: isShared(6) };
  return peers.filter(({ peer }) => shared[parseAddress(peer)?.family ?? 4]);
});

function ecmpSessions(world: World, vpc: string): readonly BfdSession[] {
  return world.ask(ecmpPeers, vpc);
}

/** Addresses of an OvnEip of a gateway node that its agent reports as ready. */
const nodeAddresses: Query<readonly string[]> = defineQuery('gateway-node-addresses', (world, name) => {
  const eip = world.addressObject('ovn-eips', name);
  if (eip === undefined || eip.terminating || (eip.typeInEffect ?? eip.type) !== 'lsp') return [];
  // What the agent reported before the Subnet came back with another network is not so any more.
  if (world.ovnEips.get(name)?.status?.ready !== true || world.ask(outOfNetwork, name) !== '') return [];
  return [eip.held?.v4 ?? '', eip.held?.v6 ?? ''].filter((address) => address !== '');
});

export const hasEcmpSubnet: Query<boolean> = defineQuery('vpc-has-ecmp-subnet', (world, vpc) =>
  vpc === world.settings.defaultVpc
    ? false
    : [...world.subnetVpcs.in(vpc)].some((name) => world.ask(subnetSpec, name)?.enableEcmp === true),
);

/** Whether all sessions of a Vpc are in OVN, and there is one. */
export function hasSessions(world: World, view: VpcView): boolean {
  const sessions = world.ask(bfdSessions, view.name);
  return sessions.length > 0 && sessions.every((session) => isOursOnceAdopted(world, sessionId(session), vpcOwner(view)));
}

export type BfdStates = Readonly<Record<'up' | 'down', readonly BfdSession[]>>;

/** The sessions of a Vpc that OVN reports as up and as down. One that no route uses is never started, and is neither. */
export const bfdStates: Query<BfdStates> = defineQuery('vpc-bfd-states', (world, vpc) => {
  const sessions = world.ask(bfdSessions, vpc);
  const are = (state: string): readonly BfdSession[] =>
    sessions.filter((session) => world.rows.column(sessionId(session), 'status') === state);
  return { up: are('up'), down: are('down') };
});
