/** Items of `spec.excludeIps` outside of the Subnet's networks: they exclude nothing, since they are mistyped or the CIDR was edited. */
import type { Finding } from '../../../api/validation/finding.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import { lastAddress, networkAddress, parseCidr } from '../../../net/cidr.ts';
import { ofFamily } from '../../../net/dual.ts';
import { parseRange } from '../../../net/range.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { subnetSpec } from '../validity/spec-in-effect.ts';
import { requestedNetworks } from '../validity/subnet-networks.ts';

/** A query of its own: the status runs again for every allocated address. */
export const excludesOutside: Query<readonly Finding[]> = defineQuery('subnet-excludes-outside', (world, name) => {
  const excludeIps = world.ask(subnetSpec, name)?.excludeIps ?? [];
  const networks = world.ask(requestedNetworks, name);
  const cidrs = [networks.v4?.cidr, networks.v6?.cidr].filter((one) => one !== undefined);
  if (cidrs.length === 0) return [];
  return excludeIps.flatMap((value, i) => {
    const range = parseRange(value);
    if (range === undefined) return [];
    const cidr = parseCidr(ofFamily(networks, range.family)?.cidr ?? '');
    if (cidr !== undefined && range.first <= lastAddress(cidr).value && range.last >= networkAddress(cidr).value) return [];
    return [
      findingOf(
        { kind: 'Subnet', name },
        {
          code: 'ExcludeOutside',
          field: `spec.excludeIps[${i}]`,
          value,
          problem: `is outside of ${cidrs.join(' and ')}`,
          rule: 'only addresses of the Subnet can be excluded',
        },
      ),
    ];
  });
});
