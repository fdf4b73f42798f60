/** A network with host bits, such as `10.0.0.1/24`: Kiln accepts it as the network, as Kube-OVN does, and reports it. */
import { formatAddress } from '../../net/address.ts';
import { formatCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { splitList } from '../../net/dual.ts';
import type { Finding, Subject } from './finding.ts';
import { findingOf } from './finding.ts';
import { networksInMatch } from '../values/match-text.ts';

/** The findings for list items, each with the path of its field. Items that are not networks are skipped. */
export function itemsWithHostBits(subject: Subject, items: readonly (readonly [field: string, value: string])[]): readonly Finding[] {
  return items.flatMap(([field, value]) => {
    const network = parseInterfaceAddress(value)?.cidr;
    if (network === undefined) return [];
    return hostBitsBreach(subject, field, value, `a network has none, so it is taken as ${formatCidr(network)}`) ?? [];
  });
}

/** In a match: OVN clears the host bits too. */
export function matchHostBits(subject: Subject, field: string, match: string): readonly Finding[] {
  return itemsWithHostBits(
    subject,
    networksInMatch(match).map((network) => [field, network] as const),
  );
}

/** The finding about a list of networks; undefined if no host bit is set. @param rule what the text is taken as */
export function hostBitsBreach(subject: Subject, field: string, value: string, rule: string): Finding | undefined {
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
