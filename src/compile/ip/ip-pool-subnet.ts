import { isTerminating } from '../../api/kubernetes/meta.ts';
import type { PoolAddresses } from '../../api/validation/pool-ranges.ts';
import { poolAddresses } from '../../api/validation/pool-ranges.ts';
import { formatRange } from '../../net/range.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';

/** The Subnet of an IPPool; empty if there is no such pool. */
export const ipPoolSubnet: Query<string> = defineQuery('ippool-subnet', (world, name) => world.ipPools.get(name)?.spec.subnet ?? '');

export const ipPoolTerminates: Query<boolean> = defineQuery('ippool-terminates', (world, name) => {
  const pool = world.ipPools.get(name);
  return pool !== undefined && isTerminating(pool);
});

/** The addresses of an IPPool, by family. */
export const ipPoolAddresses: Query<PoolAddresses> = defineQuery('ippool-addresses', (world, name) =>
  poolAddresses(world.ipPools.get(name)?.spec.ips ?? []),
);

/** The same in order, in the format of its status: `a` or `a-b`. */
export const ipPoolRanges: Query<readonly string[]> = defineQuery('ippool-ranges', (world, name) => {
  const addresses = world.ask(ipPoolAddresses, name);
  return ([4, 6] as const).flatMap((family) => addresses[family].intervals.map((interval) => formatRange({ family, ...interval })));
});
