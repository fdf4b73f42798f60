/** The addresses of a Subnet for the allocator. A Subnet that is being deleted, or frozen, stays known: existing addresses stay held. */
import { parseSubnetFields } from '../../ipam/subnet-spec.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import { splitList } from '../../net/dual.ts';
import type { AddressRange } from '../../net/range.ts';
import { parseRange, parseRangeOrCidr } from '../../net/range.ts';
import { keysOf } from '../../engine/domain.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { NamedPool, PoolOutput } from '../output.ts';
import { poolsByAge, poolView, validPools } from '../ip/ip-pool-findings.ts';
import { poolFields } from '../pool-fields.ts';
import { rowMac } from '../row-mac.ts';
import { subnetAcceptance } from './validity/subnet-acceptance.ts';
import { dhcpServerMacs } from './rows/subnet-dhcp.ts';
import { hasRouterPort, routerPortId } from './rows/subnet-switch.ts';
import { subnetNetworks, subnetSpec, subnetView } from './validity/subnet-view.ts';

export const subnetPool: Rule = {
  name: 'subnet-pool',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = world.ask(subnetView, name);
    const spec = world.ask(subnetSpec, name);
    if (view === undefined || spec === undefined || world.ask(subnetAcceptance, name).kind === 'invalid') return [];
    const { pool } = world.ask(subnetNetworks, name);
    const named = [pool.v4?.gateway ?? '', pool.v6?.gateway ?? '', view.gateway, spec.gateway ?? ''];
    const gateways = named.flatMap(splitList).flatMap((text) => {
      const address = parseAddress(text);
      return address === undefined ? [] : [formatAddress(address)];
    });
    const output: PoolOutput = {
      kind: 'pool',
      subnet: name,
      ...(pool.v4 !== undefined && { v4: pool.v4.cidr }),
      ...(pool.v6 !== undefined && { v6: pool.v6.cidr }),
      gateways: [...new Set(gateways)],
      gatewayMacs: [...(hasRouterPort(view) ? [rowMac(world, routerPortId(view), 'mac')] : []), ...dhcpServerMacs(world, view)],
      excludeIps: (spec.excludeIps ?? []).filter((item) => parseRange(item) !== undefined),
      named: within(world.ask(namedPools, name), [pool.v4?.cidr, pool.v6?.cidr]),
    };
    // An error here stops this Subnet alone; in the allocator it would stop all.
    const parsed = parseSubnetFields(poolFields(output));
    if (!parsed.ok) throw new Error(`the pool of Subnet ${name} cannot be read: ${parsed.field} "${parsed.value}" ${parsed.problem}`);
    return [output];
  },
};

/** Drops addresses of IPPools outside of the Subnet: such an IPPool is invalid, and must take no address from another one. */
function within(pools: readonly NamedPool[], cidrs: readonly (string | undefined)[]): readonly NamedPool[] {
  const networks = cidrs.flatMap((cidr) => parseRangeOrCidr(cidr ?? '') ?? []);
  const lies = ({ family, first, last }: AddressRange): boolean =>
    networks.some((network) => network.family === family && network.first <= first && last <= network.last);
  const isInside = (item: string): boolean => {
    const range = parseRangeOrCidr(item);
    return range !== undefined && lies(range);
  };
  return pools.map(({ name, ips }) => ({ name, ips: ips.filter(isInside) }));
}

/** The IPPools of a Subnet. Where two overlap, the first has the addresses: valid ones first, then invalid ones, each by age. */
const namedPools: Query<readonly NamedPool[]> = defineQuery('subnet-named-pools', (world, subnet) => {
  const names = new Set([...validPools(world, subnet), ...world.ask(poolsByAge, subnet)]);
  return [...names].map((name) => ({ name, ips: world.ask(poolView, name)?.spec.ips ?? [] }));
});
