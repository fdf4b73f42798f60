import type { Dependency } from '../../blockers/dependency.ts';
import { subnetIntent } from '../../world/intent.ts';
import { defineSet } from '../../world/world.ts';

export const dependencies: readonly Dependency[] = [
  {
    on: 'subnets',
    dependent: 'namespaces',
    blocks: false,
    dependents: defineSet('namespaces-of-subnet', (world, subnet) => [
      { kind: 'keys', keys: world.ask(subnetIntent, subnet)?.spec.namespaces ?? [] },
    ]),
    dependsOn: (world, namespace) => world.subnets.bucket('namespace', namespace),
  },
];
