import type { Dependency } from '../../blockers/dependency.ts';
import { defineSet } from '../../world/world.ts';

export const dependencies: readonly Dependency[] = [
  {
    on: 'subnets',
    dependent: 'ippools',
    blocks: false,
    dependents: defineSet('pools-of-subnet', (world, value) => [{ kind: 'bucket', table: world.ipPools, index: 'subnet', value }]),
    dependsOn: (world, pool) => [world.ipPools.get(pool)?.spec.subnet ?? ''],
  },
];
