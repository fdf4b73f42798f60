/**
 * Candidates for the last written rows of a frozen Subnet: as the spec gives them, with the networks in effect, with the requested ones,
 * and with those in its router policies. The seal of each row shows which candidate was written (`RowOutput.sealed`): changes by other
 * programs are repaired to that one. If the seal matches none, the row stays as it is.
 */
import { formatAddress, parseAddress } from '../../../net/address.ts';
import { cidrContains, firstUsable, formatCidr, parseCidr } from '../../../net/cidr.ts';
import type { Dual } from '../../../net/dual.ts';
import { splitList } from '../../../net/dual.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { tableOf } from '../../../nb/row-id.ts';
import { ownerText } from '../../../nb/ownership.ts';
import type { World } from '../../../world/world.ts';
import type { RowOutput } from '../../output.ts';
import { aclRows } from '../rows/subnet-acls.ts';
import type { SubnetBasics } from '../validity/subnet-basics.ts';
import { subnetBasics } from '../validity/subnet-basics.ts';
import { dhcpRows } from '../rows/subnet-dhcp.ts';
import { subnetFindings } from '../validity/subnet-findings.ts';
import { centralizedGatewayOf, centralizedRows, distributedRows, isDistributed } from '../rows/subnet-gateway.ts';
import type { Network } from '../validity/subnet-networks.ts';
import { requestedNetworks, routerPortNetworks } from '../validity/subnet-networks.ts';
import { sourceRoutesOf, subnetRouteRows } from '../rows/subnet-routes.ts';
import { hasRouterPort, routerPortRow, switchRow } from '../rows/subnet-switch.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetOwner, subnetSpec, viewWith } from '../validity/subnet-view.ts';

/** Candidates by row. */
export type LastWritten = ReadonlyMap<RowId, readonly RowOutput[]>;

export function lastWritten(world: World, name: string): LastWritten {
  const found = new Map<RowId, RowOutput[]>();
  const basics = world.ask(subnetBasics, name);
  if (basics === undefined) return found;
  for (const view of viewsOf(world, basics))
    for (const row of rowsWith(world, view)) found.set(row.id, [...(found.get(row.id) ?? []), row]);
  return found;
}

function viewsOf(world: World, basics: SubnetBasics): readonly SubnetView[] {
  const { name } = basics;
  const networks = [world.ask(routerPortNetworks, name), world.ask(requestedNetworks, name), routedNetworks(world, basics)];
  const views = networks.map((one) => viewWith(basics, one));
  return views.filter(({ cidr, gateway }, at) => views.findIndex((other) => other.cidr === cidr && other.gateway === gateway) === at);
}

/** The networks in its router policies, each with the gateway that the spec names there, or the default one. */
function routedNetworks(world: World, basics: SubnetBasics): Dual<Network> {
  const named = splitList(world.ask(subnetSpec, basics.name)?.gateway ?? '').flatMap((text) => parseAddress(text) ?? []);
  const networks: { v4?: Network; v6?: Network } = {};
  for (const id of [...world.rows.ownedBy(ownerText(subnetOwner(basics)))].toSorted()) {
    if (tableOf(id) !== 'Logical_Router_Policy') continue;
    const cidr = parseCidr(/^ip[46]\.dst == (\S+)$/.exec(String(world.rows.column(id, 'match')))?.[1] ?? '');
    if (cidr === undefined) continue;
    const gateway = named.find((address) => cidrContains(cidr, address)) ?? firstUsable(cidr);
    networks[cidr.family === 4 ? 'v4' : 'v6'] = { cidr: formatCidr(cidr), gateway: formatAddress(gateway) };
  }
  return networks;
}

function rowsWith(world: World, view: SubnetView): readonly RowOutput[] {
  const wrong = world.ask(subnetFindings, view.name).map(({ field }) => field);
  // An invalid field does not show its earlier value, and may have any shape.
  const isSound = (...fields: readonly string[]): boolean => !fields.some((field) => wrong.some((one) => one.startsWith(`spec.${field}`)));
  return [
    switchRow(world, view),
    ...(hasRouterPort(view) && isSound('enableIPv6RA', 'ipv6RAConfigs', 'routeTable') ? [routerPortRow(world, view)] : []),
    ...(isSound('acls', 'private', 'allowSubnets', 'allowEWTraffic') ? aclRows(world, view) : []),
    ...(isSound('enableDHCP', 'dhcp', 'mtu') ? dhcpRows(world, view) : []),
    ...subnetRouteRows(view, sourceRoutesOf(world, view)),
    ...(isSound('gatewayType', 'gatewayNode', 'enableEcmp') ? gatewayRows(world, view) : []),
  ];
}

function gatewayRows(world: World, view: SubnetView): readonly RowOutput[] {
  if (isDistributed(view)) return [...world.nodes.keys()].flatMap((node) => distributedRows(world, view, node));
  const gateway = centralizedGatewayOf(world, view);
  return gateway === undefined ? [] : centralizedRows(world, view, gateway);
}
