/**
 * The lines for `ip -batch` that move addresses and routes from one device to another. An address is on both for a moment, and a route is
 * replaced, so that the node has each of them at every moment, wherever the agent dies. Pure.
 */
import { type DeviceNetwork, type HostLink } from '../world/device-network.ts';

/**
 * @param network all that `to` must have
 * @returns nothing if `to` has it, and `from` nothing
 */
export function moveLines(from: string, to: string, network: DeviceNetwork, source: DeviceNetwork, target: HostLink): readonly string[] {
  const lines = [
    ...network.addresses.filter((address) => !target.addresses.includes(address)).map((address) => addLine(address, to)),
    ...network.routes
      .filter((route) => !target.routes.includes(route))
      .toSorted(directFirst)
      .map((route) => `route replace ${route} dev ${to}`),
    ...source.addresses.map((address) => `address delete ${withoutOptions(address)} dev ${from}`),
    // What was not replaced, seen after the first lines: a route of IPv6, or one that another program added again.
    ...source.routes.filter((route) => target.routes.includes(route)).map((route) => `route delete ${route} dev ${from}`),
  ];
  return target.up || lines.length === 0 ? lines : [`link set dev ${to} up`, ...lines];
}

function addLine(address: string, device: string): string {
  // The first device still answers for it: it is no duplicate.
  return `address add ${address} dev ${device}${address.includes(':') ? ' nodad' : ''}`;
}

function withoutOptions(address: string): string {
  return address.split(' ', 1)[0] ?? address;
}

/** A next hop must be reachable before the route over it. */
function directFirst(a: string, b: string): number {
  return Number(a.includes(' via ')) - Number(b.includes(' via ')) || (a < b ? -1 : 1);
}
