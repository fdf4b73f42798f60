/** A network that is written as one of its addresses: taken as the network, as by Kube-OVN, but not without a word. */
import { formatAddress } from '../net/address.ts';
import { parseInterfaceAddress } from '../net/cidr.ts';
import { formatDualCidr, splitList } from '../net/dual.ts';
import type { Finding } from './finding.ts';
import { findingOf } from './finding.ts';
import type { NamedSubnet } from './subnet-defaults.ts';
import { subnetCidrs } from './subnet-defaults.ts';

/** Undefined where no bit is set beyond the prefix, or the text is no network at all. */
export function hostBitsFinding({ name, spec }: NamedSubnet): Finding | undefined {
  const value = spec.cidrBlock ?? '';
  const written = splitList(value).map(parseInterfaceAddress);
  if (!written.some((one) => one !== undefined && one.address.value !== one.cidr.base)) return undefined;
  const networks = formatDualCidr(subnetCidrs(spec));
  if (networks === '') return undefined;
  return findingOf(
    { kind: 'Subnet', name },
    {
      code: 'HostBitsCleared',
      field: 'spec.cidrBlock',
      value,
      problem: `has bits set beyond the prefix: ${written.flatMap((one) => (one === undefined ? [] : [formatAddress(one.address)])).join(',')} is an address`,
      rule: `a Subnet has a network, so it is taken as ${networks}`,
    },
  );
}
