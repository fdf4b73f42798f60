/** A static route as a spec requests it, in canonical form. */
import type { StaticRoute } from '../../api/kinds/vpc.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import { formatCidr, parseCidr } from '../../net/cidr.ts';

export interface Route {
  readonly table: string;
  readonly policy: 'src-ip' | 'dst-ip';
  readonly prefix: string;
  readonly nexthop: string;
}

/**
 * None for an invalid route. One by source for every source is one for every destination: OVN ignores the former, and drops what only it
 * would route (priority 0, which its last flow has).
 */
export function requestedRoute({ policy, cidr = '', nextHopIP = '', routeTable = '' }: StaticRoute): Route[] {
  const network = parseCidr(cidr);
  const host = parseAddress(cidr);
  const prefix = network !== undefined ? formatCidr(network) : host !== undefined ? formatAddress(host) : undefined;
  const nexthop = parseAddress(nextHopIP);
  const isBySource = policy === 'policySrc' && network?.prefix !== 0;
  if (prefix === undefined || nexthop === undefined) return [];
  return [{ table: routeTable, policy: isBySource ? 'src-ip' : 'dst-ip', prefix, nexthop: formatAddress(nexthop) }];
}
