import { isTerminating } from '../../api/meta.ts';
import type { Family } from '../../net/address.ts';
import { IntervalSet } from '../../net/interval-set.ts';
import { parseRangeOrCidr } from '../../net/range.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';

/** The Subnet that an IPPool is of; empty where there is no such pool. */
export const ipPoolSubnet: Query<string> = defineQuery('ippool-subnet', (world, name) => world.ipPools.get(name)?.spec.subnet ?? '');

export const ipPoolTerminates: Query<boolean> = defineQuery('ippool-terminates', (world, name) => {
  const pool = world.ipPools.get(name);
  return pool !== undefined && isTerminating(pool);
});

/** The addresses of an IPPool, by family. */
export const ipPoolAddresses: Query<Readonly<Record<Family, IntervalSet>>> = defineQuery('ippool-addresses', (world, name) => {
  const ranges = (world.ipPools.get(name)?.spec.ips ?? []).flatMap((item) => parseRangeOrCidr(item) ?? []);
  const of = (family: Family): IntervalSet => IntervalSet.of(ranges.filter((range) => range.family === family));
  return { 4: of(4), 6: of(6) };
});
