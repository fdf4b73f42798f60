/** The two ends of a peering: whether packets can pass between them, and routes over it to a network that the remote Vpc does not have. */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf, wrongFields } from '../../api/validation/finding.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import type { Cidr } from '../../net/cidr.ts';
import { cidrContains, cidrsOverlap, formatCidr, parseCidr, parseInterfaceAddress, sameCidr } from '../../net/cidr.ts';
import { familiesOf, ofFamily, splitList } from '../../net/dual.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vpcFindings } from './vpc-state.ts';
import { vpcSpec, vpcView } from './vpc-view.ts';

/**
 * Why no packet passes between two ends with these values of `localConnectIP`, as a clause about the first one; undefined if packets pass
 * in each common family. A router resolves its peer's address in the network of the port, so both addresses must be in one network.
 */
export function linkProblem(local: string, remote: string): string | undefined {
  const here = splitList(local).flatMap((text) => parseInterfaceAddress(text) ?? []);
  const there = splitList(remote).flatMap((text) => parseInterfaceAddress(text) ?? []);
  const pairs = here.flatMap((end) => {
    const other = there.find(({ cidr }) => cidr.family === end.cidr.family);
    return other === undefined ? [] : [[end, other] as const];
  });
  if (pairs.length === 0 && here.length > 0 && there.length > 0) return `has no IP family in common with ${remote} at the other end`;
  for (const [end, other] of pairs) {
    if (!sameCidr(end.cidr, other.cidr)) return `is in network ${formatCidr(end.cidr)}, and the other end in ${formatCidr(other.cidr)}`;
    const address = formatAddress(end.address);
    if (address === formatAddress(other.address)) return `has the address ${address} of the other end`;
  }
  return undefined;
}

/** Static routes with the far end of a peering as next hop, to a network that the remote Vpc neither has nor routes. */
export const ineffectivePeeredRoutes: Query<readonly Finding[]> = defineQuery('vpc-ineffective-peered-routes', (world, name) => {
  const { staticRoutes = [], vpcPeerings = [] } = world.ask(vpcSpec, name) ?? {};
  if (staticRoutes.length === 0 || vpcPeerings.length === 0) return [];
  const wrong = wrongFields(world.ask(vpcFindings, name));
  const links = vpcPeerings.flatMap(({ remoteVpc = '', localConnectIP = '' }, i) =>
    wrong.has(`spec.vpcPeerings[${i}]`)
      ? []
      : splitList(localConnectIP).flatMap((text) => {
          const cidr = parseInterfaceAddress(text)?.cidr;
          return cidr === undefined ? [] : [{ remoteVpc, cidr }];
        }),
  );
  return staticRoutes.flatMap(({ policy = '', cidr = '', nextHopIP = '' }, i) => {
    const field = `spec.staticRoutes[${i}].cidr`;
    const hop = parseAddress(nextHopIP);
    const target = targetOf(cidr);
    if (hop === undefined || target === undefined || policy === 'policySrc' || wrong.has(`spec.staticRoutes[${i}]`)) return [];
    const remote = links.find((link) => cidrContains(link.cidr, hop))?.remoteVpc;
    if (remote === undefined || isServed(world, remote, target)) return [];
    const problem = `lies in no network of Vpc ${remote}, where its next hop ${nextHopIP} is`;
    const rule = `Vpc ${remote} drops what this route sends there until a Subnet or a route of it has the network`;
    return [findingOf({ kind: 'Vpc', name }, { code: 'PeerLacksNetwork', field, value: cidr, problem, rule })];
  });
});

function targetOf(text: string): Cidr | undefined {
  const address = parseAddress(text);
  return address === undefined ? parseCidr(text) : parseCidr(`${formatAddress(address)}/${address.family === 4 ? 32 : 128}`);
}

/** Whether a router has a network or a route for the target. True for a Vpc that does not exist, or has a foreign router. */
function isServed(world: World, vpc: string, target: Cidr): boolean {
  const view = world.ask(vpcView, vpc);
  if (view === undefined || view.external || view.isDefault) return true;
  const { staticRoutes = [], policyRoutes = [], vpcPeerings = [] } = world.ask(vpcSpec, vpc) ?? {};
  if (policyRoutes.some(({ action }) => action === 'reroute')) return true;
  const routed = staticRoutes.flatMap(({ cidr = '' }) => targetOf(cidr) ?? []);
  const linked = vpcPeerings.flatMap(({ localConnectIP = '' }) =>
    splitList(localConnectIP).flatMap((text) => parseInterfaceAddress(text)?.cidr ?? []),
  );
  if ([...routed, ...linked].some((network) => cidrsOverlap(network, target))) return true;
  return [...world.subnetVpcs.in(vpc)].some((subnet) => {
    const networks = world.ask(subnetView, subnet);
    if (networks === undefined || !networks.isOvn || !networks.routed) return false;
    return familiesOf(networks)
      .flatMap((family) => parseCidr(ofFamily(networks, family)?.cidr ?? '') ?? [])
      .some((network) => cidrsOverlap(network, target));
  });
}
