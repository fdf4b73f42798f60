import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';

/** The Subnet that an IPPool is of; empty where there is no such pool. */
export const ipPoolSubnet: Query<string> = defineQuery('ippool-subnet', (world, name) => world.ipPools.get(name)?.spec.subnet ?? '');
