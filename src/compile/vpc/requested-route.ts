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

/** None for an invalid route. */
export function requestedRoute({ policy, cidr = '', nextHopIP = '', routeTable = '' }: StaticRoute): Route[] {
  const network = parseCidr(cidr);
  const host = parseAddress(cidr);
  const prefix = network !== undefined ? formatCidr(network) : host !== undefined ? formatAddress(host) : undefined;
  const nexthop = parseAddress(nextHopIP);
  if (prefix === undefined || nexthop === undefined) return [];
  return [{ table: routeTable, policy: policy === 'policySrc' ? 'src-ip' : 'dst-ip', prefix, nexthop: formatAddress(nexthop) }];
}
