/**
 * What the allocator is to know of a Subnet. One that is being deleted, or whose spec cannot be read, stays known while it runs:
 * its holders keep what they have.
 */
import { formatAddress, parseAddress } from '../../net/address.ts';
import { splitList } from '../../net/dual.ts';
import { parseRange, parseRangeOrCidr } from '../../net/range.ts';
import { keysOf } from '../../world/domain.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../compiler.ts';
import { subnetAcceptance } from './subnet-acceptance.ts';
import { subnetNetworks, subnetSpec, subnetView } from './subnet-view.ts';

export const subnetPool: Rule = {
  name: 'subnet-pool',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = world.ask(subnetView, name);
    const spec = world.ask(subnetSpec, name);
    if (view === undefined || spec === undefined || world.ask(subnetAcceptance, name).kind === 'refused') return [];
    const { pool } = world.ask(subnetNetworks, name);
    const gateways = [...splitList(view.gateway), ...splitList(spec.gateway ?? '')].flatMap((text) => {
      const address = parseAddress(text);
      return address === undefined ? [] : [formatAddress(address)];
    });
    return [
      {
        kind: 'pool',
        subnet: name,
        ...pool,
        gateways: [...new Set(gateways)],
        excludeIps: (spec.excludeIps ?? []).filter((item) => parseRange(item) !== undefined),
        named: world.ask(namedPools, name),
      },
    ];
  },
};

/** Addresses of a Subnet's IPPools, the oldest first: of two that overlap it counts. */
const namedPools: Query<Readonly<Record<string, readonly string[]>>> = defineQuery('subnet-named-pools', (world, subnet) => {
  const pools = [...world.ipPools.select('subnet', subnet)].toSorted((a, b) =>
    a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1,
  );
  return Object.fromEntries(
    pools.map(({ metadata, spec }) => [metadata.name, (spec.ips ?? []).filter((item) => parseRangeOrCidr(item) !== undefined)]),
  );
});
