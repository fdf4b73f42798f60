/**
 * Devices of the agent that are not for the node itself: its ends of pods' pairs, and the port of the mirror. The node is no host on them: what a
 * pod sends there (a router's advertisement, a request for an address) must not give the node a route, or an answer. Pure.
 */
import type { LinkJson } from './host-network.ts';
import { sysctlName } from './neighbours.ts';

/** Of these devices, those where the node listens or may answer. */
export function loudEnds(links: readonly LinkJson[], names: ReadonlySet<string>): readonly string[] {
  return links.flatMap(({ ifname = '', flags = [], addr_info: addresses = [] }) => {
    const hasV6 = addresses.some(({ local = '' }) => local.includes(':'));
    return names.has(ifname) && (hasV6 || !flags.includes('NOARP')) ? [ifname] : [];
  });
}

/** For `sysctl`: without IPv6 no advertisement is heard, and what came of one goes. */
export function quietKey(device: string): string {
  return `net.ipv6.conf.${sysctlName(device)}.disable_ipv6=1`;
}

/** For `ip -batch`. */
export function quietLine(device: string): string {
  return `link set dev ${device} arp off`;
}
