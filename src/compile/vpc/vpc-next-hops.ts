/** Next hops of a Vpc's routes that are in no network of its router: ovn-northd finds no port for them and ignores the route. */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf, wrongFields } from '../../api/validation/finding.ts';
import type { Address } from '../../net/address.ts';
import { parseAddress } from '../../net/address.ts';
import type { Cidr, InterfaceAddress } from '../../net/cidr.ts';
import { cidrContains, parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { familiesOf, ofFamily, splitList } from '../../net/dual.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetAcceptance } from '../subnet/validity/subnet-acceptance.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { unconnectedExternal } from './unconnected-external.ts';
import { vpcFindings } from './vpc-state.ts';
import { routerId, vpcSpec } from './vpc-view.ts';
import { commandText } from '../../text/command-text.ts';

/** Each port has such an address, whatever its networks are (RFC 4291 section 2.5.6). */
const LINK_LOCAL = parseCidr('fe80::/10');

/** Findings for routes that are valid otherwise. */
export const unreachableNextHops: Query<readonly Finding[]> = defineQuery('vpc-unreachable-next-hops', (world, name) => {
  const hops = nextHopsOf(world, name);
  if (hops.length === 0) return [];
  const networks = networksOf(world, name);
  return hops.flatMap(({ field, address, value }) => {
    const having = networks.filter(({ cidr }) => cidrContains(cidr, address));
    if (having.some(({ notAccepted }) => notAccepted === undefined)) return [];
    const [only] = having;
    const external = only === undefined ? unconnectedExternal(world, name, address) : undefined;
    if (external !== undefined) return [findingOf({ kind: 'Vpc', name }, { code: 'NextHopUnreachable', field, value, ...external })];
    const problem =
      only?.notAccepted === undefined
        ? 'lies in no network of the Vpc'
        : `lies in no network of the Vpc but that of Subnet ${only.notAccepted}, which is not accepted (${commandText`kubectl describe subnet ${only.notAccepted}`})`;
    const rule = 'OVN ignores the route until a Subnet or a peering of the Vpc has the next hop in its network';
    return [findingOf({ kind: 'Vpc', name }, { code: 'NextHopUnreachable', field, value, problem, rule })];
  });
});

export interface NextHop {
  readonly field: string;
  readonly value: string;
  readonly address: Address;
}

/** The next hops of valid routes, with the path of each. */
export function nextHopsOf(world: World, name: string): readonly NextHop[] {
  const { staticRoutes = [], policyRoutes = [] } = world.ask(vpcSpec, name) ?? {};
  const items = [
    ...staticRoutes.map(({ nextHopIP = '' }, i) => [`spec.staticRoutes[${i}]`, nextHopIP] as const),
    ...policyRoutes.flatMap(({ action, nextHopIP = '' }, i) =>
      action === 'reroute' ? splitList(nextHopIP).map((hop) => [`spec.policyRoutes[${i}]`, hop] as const) : [],
    ),
  ];
  if (items.length === 0) return [];
  const wrong = wrongFields(world.ask(vpcFindings, name));
  return items.flatMap(([item, value]) => {
    const address = parseAddress(value);
    return address === undefined || wrong.has(item) ? [] : [{ field: `${item}.nextHopIP`, value, address }];
  });
}

interface NetworkOf {
  readonly cidr: Cidr;
  /** Name of a Subnet that is not accepted, and so has no router port. */
  readonly notAccepted?: string;
}

/** The networks of its Subnets (their router ports may not exist yet), of its peerings, and of its router ports of any owner. */
function networksOf(world: World, name: string): readonly NetworkOf[] {
  // Sorted, so that the report does not depend on the order of creation.
  const ofSubnets = [...world.subnetVpcs.in(name)].toSorted().flatMap((subnet) => {
    const view = world.ask(subnetView, subnet);
    if (view === undefined || !view.isOvn || !view.routed) return [];
    const isInvalid = world.ask(subnetAcceptance, subnet).kind === 'invalid';
    return familiesOf(view)
      .flatMap((family) => parseCidr(ofFamily(view, family)?.cidr ?? '') ?? [])
      .map((cidr): NetworkOf => ({ cidr, ...(isInvalid && { notAccepted: subnet }) }));
  });
  const ofPeerings = (world.ask(vpcSpec, name)?.vpcPeerings ?? []).flatMap(({ localConnectIP = '' }) =>
    splitList(localConnectIP).flatMap((text) => parseInterfaceAddress(text)?.cidr ?? []),
  );
  const others = [...ofPeerings, ...networksOfPorts(world, name), ...(LINK_LOCAL === undefined ? [] : [LINK_LOCAL])];
  return [...ofSubnets, ...others.map((cidr) => ({ cidr }))];
}

function networksOfPorts(world: World, router: string): readonly Cidr[] {
  return addressesOfPorts(world, router).map(({ cidr }) => cidr);
}

/** The addresses of a router, each with its network. */
export function addressesOfPorts(world: World, router: string): readonly InterfaceAddress[] {
  const ports = world.rows.column(routerId(router), 'ports');
  return [...(ports instanceof Set ? ports : [])].flatMap((uuid) => {
    const id = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0])?.id;
    const networks = id === undefined ? undefined : world.rows.column(id, 'networks');
    return [...(networks instanceof Set ? networks : [])].flatMap((text) => parseInterfaceAddress(String(text)) ?? []);
  });
}
