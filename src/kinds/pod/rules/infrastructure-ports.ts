/**
 * Port names of nodes and routers that a pod's port could have too, by Kube-OVN's naming scheme: pod `node-x1` in namespace `example` and
 * node `x1.example`; pod `localnet` in a namespace with the name of an underlay Subnet; pod `x` in namespace `y-red` and Subnet `x.y` of Vpc `red`. Tenants choose the names of pods, so the pod yields. The
 * name of a pod's port has a dot, so only nodes, Subnets and Vpcs with a dot in their names matter: in most clusters none but nodes.
 */
import { localnetPort, nodePortName, peerPort, routerToSwitchPort, subnetVipPort, switchToRouterPort } from '../../../api/names.ts';
import { canonicalAddress } from '../../../net/address.ts';
import { subnetIntent, vpcIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';

const OF_NODE = nodePortName('');
const OF_UNDERLAY = localnetPort('');
const OF_VIP = subnetVipPort('', '');

/** The object, as `Kind name`, with a port of this name; undefined if a pod's port may have it. */
export function infrastructureWithPort(world: World, port: string): string | undefined {
  if (port.startsWith(OF_NODE) && world.nodes.has(port.slice(OF_NODE.length))) return `Node ${port.slice(OF_NODE.length)}`;
  const underlay = port.startsWith(OF_UNDERLAY) ? port.slice(OF_UNDERLAY.length) : '';
  if (underlay !== '' && (world.ask(subnetIntent, underlay)?.spec.vlan ?? '') !== '') return `Subnet ${underlay}`;
  return world.ask(portsWithDots, '')[port] ?? subnetWithVip(world, port);
}

/** The Subnet with a virtual port of this name, as its `spec.vips` says. */
function subnetWithVip(world: World, port: string): string | undefined {
  for (let at = port.indexOf(OF_VIP); at !== -1; at = port.indexOf(OF_VIP, at + 1)) {
    const [subnet, address] = [port.slice(0, at), port.slice(at + OF_VIP.length)];
    const vips = subnet === '' ? [] : (world.ask(subnetIntent, subnet)?.spec.vips ?? []);
    if (vips.some((vip) => canonicalAddress(vip.trim()) === address)) return `Subnet ${subnet}`;
  }
  return undefined;
}

/**
 * A router port and a switch port must not have one name either, and ovn-northd derives the name of a gateway's chassis-redirect port from
 * it.
 */
function both(port: string): readonly string[] {
  return [port, `cr-${port}`];
}

const portsWithDots: Query<Readonly<Record<string, string>>> = defineQuery('infrastructure-ports-with-dots', (world) => {
  const dotted = (names: ReadonlySet<string>): readonly string[] => [...names].filter((name) => name.includes('.')).toSorted();
  const vpcs = dotted(world.vpcs.keys());
  const subnets = new Set([...dotted(world.subnets.keys()), ...vpcs.flatMap((vpc) => [...world.subnetVpcs.in(vpc)].toSorted())]);
  const found: Record<string, string> = {};
  for (const subnet of subnets) {
    const intent = world.ask(subnetIntent, subnet);
    if (intent === undefined) continue;
    const vpc = world.vpcOf(intent);
    for (const port of [switchToRouterPort(subnet, vpc), ...both(routerToSwitchPort(vpc, subnet))])
      found[port] = `Subnet ${subnet} of Vpc ${vpc}`;
  }
  for (const vpc of vpcs) {
    const remotes = (world.ask(vpcIntent, vpc)?.spec.vpcPeerings ?? []).map(({ remoteVpc = '' }) => remoteVpc);
    for (const remote of [...remotes, ...[...world.vpcs.bucket('peer', vpc)].toSorted()])
      for (const port of [...both(peerPort(vpc, remote)), ...both(peerPort(remote, vpc))])
        found[port] = `the peering of Vpcs ${vpc} and ${remote}`;
  }
  return found;
});
