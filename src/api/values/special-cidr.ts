/** Networks with a special meaning, which no Subnet can have. */

import { cidrsOverlap, parseCidr } from '../../net/cidr.ts';
import type { Cidr } from '../../net/cidr.ts';

/** IANA special-purpose registries (RFC 6890); only those that no Subnet can use, not private or documentation space. */
const special: readonly { readonly cidr: string; readonly meaning: string }[] = [
  { cidr: '0.0.0.0/8', meaning: '"this network"' },
  { cidr: '127.0.0.0/8', meaning: 'loopback' },
  { cidr: '169.254.0.0/16', meaning: 'link-local' },
  { cidr: '224.0.0.0/4', meaning: 'multicast' },
  { cidr: '255.255.255.255/32', meaning: 'the broadcast address' },
  { cidr: '::/128', meaning: 'the unspecified address' },
  { cidr: '::1/128', meaning: 'loopback' },
  { cidr: '::ffff:0:0/96', meaning: 'IPv4-mapped' },
  { cidr: 'fe80::/10', meaning: 'link-local' },
  { cidr: 'ff00::/8', meaning: 'multicast' },
];

const parsed = special.map(({ cidr, meaning }) => ({ text: cidr, meaning, cidr: parseCidr(cidr) }));

/** The meaning of the special network that overlaps with `cidr`; undefined if there is none. */
export const specialNetworkIn = (cidr: Cidr): string | undefined => {
  const hit = parsed.find((entry) => entry.cidr !== undefined && cidrsOverlap(entry.cidr, cidr));
  return hit === undefined ? undefined : `${hit.text} (${hit.meaning})`;
};
