import type { Dependency } from '../../blockers/dependency.ts';
import { defineSet } from '../../world/world.ts';
import { vlanProvider } from './resource/vlan-fields.ts';

/** The ports of Subnets on a Vlan lead into its ProviderNetwork. */
export const dependencies: readonly Dependency[] = [
  {
    on: 'provider-networks',
    dependent: 'vlans',
    dependents: defineSet('vlans-of-provider-network', (world, value) => [
      { kind: 'bucket', table: world.vlans, index: 'provider', value },
    ]),
    dependsOn: (world, name) => {
      const vlan = world.vlans.get(name);
      return vlan === undefined ? [] : [vlanProvider(vlan.spec)];
    },
  },
];
