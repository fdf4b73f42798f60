import type { Dependency } from '../../blockers/dependency.ts';
import { defineSet, where } from '../../world/world.ts';
import { usesSubnet } from '../subnet/dependencies/subnet-users.ts';
import { ipHoldsAddress } from './dependencies/ip-holds-address.ts';

// An IP object that only requests an address does not block: the request fails while the Subnet is being deleted.
export const dependencies: readonly Dependency[] = usesSubnet({
  dependent: 'ips',
  dependents: defineSet(
    'ips-of-subnet',
    (world, value) => [{ kind: 'bucket', table: world.ips, index: 'subnet', value }],
    where((world, _, ip) => world.ask(ipHoldsAddress, ip)),
  ),
  dependsOn: (world, ip) => (world.ask(ipHoldsAddress, ip) ? [world.ips.get(ip)?.spec.subnet ?? ''] : []),
});
