/** A network with host bits, such as `10.0.0.1/24`: Kiln accepts it as the network, as Kube-OVN does, and reports it. */
import { formatAddress } from '../../net/address.ts';
import { formatCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { formatDualCidr, splitList } from '../../net/dual.ts';
import type { Finding, Subject } from './finding.ts';
import { findingOf } from './finding.ts';
import { networksInMatch } from '../values/match-text.ts';
import type { NamedIPPool } from './ip-pool-validation.ts';
import type { NamedSubnet } from '../defaults/subnet-defaults.ts';
import { subnetCidrs } from '../defaults/subnet-defaults.ts';
import type { NamedVpc } from './vpc-validation.ts';

/** The finding for a Subnet's own networks; undefined if no host bit is set, or the text is not a network. */
export function hostBitsFinding({ name, spec }: NamedSubnet): Finding | undefined {
  const value = spec.cidrBlock ?? '';
  const networks = formatDualCidr(subnetCidrs(spec));
  if (networks === '') return undefined;
  return breach({ kind: 'Subnet', name }, 'spec.cidrBlock', value, `a Subnet has a network, so it is taken as ${networks}`);
}

/** The findings for list items, each with the path of its field. Items that are not networks are skipped. */
function itemsWithHostBits(subject: Subject, items: readonly (readonly [field: string, value: string])[]): readonly Finding[] {
  return items.flatMap(([field, value]) => {
    const network = parseInterfaceAddress(value)?.cidr;
    if (network === undefined) return [];
    return breach(subject, field, value, `a network has none, so it is taken as ${formatCidr(network)}`) ?? [];
  });
}

/** `spec.allowSubnets` of a Subnet. */
export function allowedHostBits({ name, spec }: NamedSubnet): readonly Finding[] {
  const items = (spec.allowSubnets ?? []).map((value, i) => [`spec.allowSubnets[${i}]`, value] as const);
  return itemsWithHostBits({ kind: 'Subnet', name }, items);
}

/** In a match: OVN clears the host bits too. */
export function matchHostBits(subject: Subject, field: string, match: string): readonly Finding[] {
  return itemsWithHostBits(
    subject,
    networksInMatch(match).map((network) => [field, network] as const),
  );
}

/** `spec.staticRoutes` of a Vpc. */
export function routeHostBits({ name, spec }: NamedVpc): readonly Finding[] {
  const items = (spec.staticRoutes ?? []).map(({ cidr = '' }, i) => [`spec.staticRoutes[${i}].cidr`, cidr] as const);
  return itemsWithHostBits({ kind: 'Vpc', name }, items);
}

/** `spec.ips` of an IPPool. */
export function poolHostBits({ name, spec }: NamedIPPool): readonly Finding[] {
  return itemsWithHostBits(
    { kind: 'IPPool', name },
    spec.ips.map((value, i) => [`spec.ips[${i}]`, value] as const),
  );
}

function breach(subject: Subject, field: string, value: string, rule: string): Finding | undefined {
  const written = splitList(value).map(parseInterfaceAddress);
  if (!written.some((one) => one !== undefined && one.address.value !== one.cidr.base)) return undefined;
  const addresses = written.flatMap((one) => (one === undefined ? [] : [formatAddress(one.address)])).join(',');
  return findingOf(subject, {
    code: 'HostBitsCleared',
    field,
    value,
    problem: `has bits set beyond the prefix: ${addresses} is an address`,
    rule,
  });
}
