/** MTU of interfaces: what a tunnel leaves of that of the node's own device. */
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';

interface Overhead {
  /** What Kube-OVN takes away by default. */
  readonly usual: number;
  /** Headers of the tunnel over IPv4, with the inner Ethernet header. */
  readonly least: number;
}

const OVERHEADS: Readonly<Record<string, Overhead>> = {
  geneve: { usual: 100, least: 58 },
  vxlan: { usual: 50, least: 50 },
  stt: { usual: 72, least: 72 },
};
/** Of a tunnel over IPv6, beside those. */
const IPV6 = 20;
/** Until the node's device is observed: 1500 less 100. */
const FALLBACK = 1_400;

/** Of interfaces whose Subnet has none. */
export function defaultMtu(world: NodeWorld, settings: NodeSettings): number {
  const tunnel = tunnelOf(world, settings);
  return settings.mtu ?? (tunnel === undefined ? FALLBACK : tunnel.mtu - tunnel.overhead.usual - tunnel.extra);
}

/** Why larger packets of an interface would be lost between nodes; undefined if none would, or if the node's device is not known. */
export function mtuProblem(world: NodeWorld, settings: NodeSettings, mtu: number): string | undefined {
  const tunnel = tunnelOf(world, settings);
  if (tunnel === undefined) return undefined;
  const most = tunnel.mtu - tunnel.overhead.least - tunnel.extra;
  if (mtu <= most) return undefined;
  return `device ${tunnel.device} of node ${settings.node} has MTU ${tunnel.mtu}, which leaves ${most} in a ${settings.tunnel} tunnel`;
}

interface Tunnel {
  readonly device: string;
  readonly mtu: number;
  readonly overhead: Overhead;
  readonly extra: number;
}

function tunnelOf(world: NodeWorld, settings: NodeSettings): Tunnel | undefined {
  const [address] = world.nodes.get(settings.node)?.addresses ?? [];
  const [device] = address === undefined ? [] : [...world.hostLinks.bucket('address', address)].toSorted();
  const mtu = device === undefined ? undefined : world.hostLinks.get(device)?.mtu;
  const overhead = OVERHEADS[settings.tunnel];
  if (address === undefined || device === undefined || mtu === undefined || overhead === undefined) return undefined;
  return { device, mtu, overhead, extra: address.includes(':') ? IPV6 : 0 };
}
