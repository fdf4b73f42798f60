/** The two ends of a peering: whether packets can pass between them. */
import { formatAddress } from '../../net/address.ts';
import { formatCidr, parseInterfaceAddress, sameCidr } from '../../net/cidr.ts';
import { splitList } from '../../net/dual.ts';

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
