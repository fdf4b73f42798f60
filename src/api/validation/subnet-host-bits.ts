/** Host bits in the networks of a Subnet's spec. */
import { formatDualCidr } from '../../net/dual.ts';
import type { NamedSubnet } from '../defaults/subnet-defaults.ts';
import { subnetCidrs } from '../defaults/subnet-defaults.ts';
import type { Finding } from './finding.ts';
import { hostBitsBreach, itemsWithHostBits } from './host-bits.ts';

/** The finding for a Subnet's own networks; undefined if no host bit is set, or the text is not a network. */
export function hostBitsFinding({ name, spec }: NamedSubnet): Finding | undefined {
  const value = spec.cidrBlock ?? '';
  const networks = formatDualCidr(subnetCidrs(spec));
  if (networks === '') return undefined;
  return hostBitsBreach({ kind: 'Subnet', name }, 'spec.cidrBlock', value, `a Subnet has a network, so it is taken as ${networks}`);
}

/** `spec.allowSubnets` of a Subnet. */
export function allowedHostBits({ name, spec }: NamedSubnet): readonly Finding[] {
  const items = (spec.allowSubnets ?? []).map((value, i) => [`spec.allowSubnets[${i}]`, value] as const);
  return itemsWithHostBits({ kind: 'Subnet', name }, items);
}
