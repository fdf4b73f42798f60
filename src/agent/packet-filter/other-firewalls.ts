/**
 * Chains of other programs that may drop what pods send: an `accept` in our own table does not overrule a `drop` in another one. iptables in
 * nftables mode, whose policy Docker sets to drop, and firewalld, which rejects what its zones do not allow.
 */
export interface FilterChain {
  /** `ip filter` */
  readonly table: string;
  readonly chain: string;
  readonly hook: 'forward' | 'input';
}

/** Of our rules in chains of others: `iptables -S` shows it as well. */
export const COMMENT = 'kiln';

const IPTABLES = [
  { chain: 'FORWARD', hook: 'forward' },
  { chain: 'INPUT', hook: 'input' },
] as const;

export const FILTER_CHAINS: readonly FilterChain[] = [
  ...IPTABLES.map((one) => ({ table: 'ip filter', ...one })),
  ...IPTABLES.map((one) => ({ table: 'ip6 filter', ...one })),
  { table: 'inet firewalld', chain: 'filter_FORWARD', hook: 'forward' },
  { table: 'inet firewalld', chain: 'filter_INPUT', hook: 'input' },
];

/** The rules for a device, as `nft` takes and lists them; iptables understands them. */
export function acceptingRules({ hook }: FilterChain, device: string): readonly string[] {
  return hook === 'input' ? [`iifname "${device}"`] : [`iifname "${device}"`, `oifname "${device}"`];
}

/** A rule of ours in a listing with handles. */
export interface ListedRule {
  readonly match: string;
  readonly handle: string;
}

/** @param listing of `nft --stateless --handle list chain` */
export function ourRules(listing: string): readonly ListedRule[] {
  return listing.split('\n').flatMap((line) => {
    const found = new RegExp(`^\\s*(.+?) counter(?: packets \\d+ bytes \\d+)? accept comment "${COMMENT}" # handle (\\d+)$`).exec(line);
    return found === null ? [] : [{ match: found[1] ?? '', handle: found[2] ?? '' }];
  });
}

/** Lines for `nft -f`: what is missing first in the chain, what is no longer wanted removed. */
export function chainLines(one: FilterChain, device: string | undefined, present: readonly ListedRule[]): readonly string[] {
  const wanted = device === undefined ? [] : acceptingRules(one, device);
  const place = `${one.table} ${one.chain}`;
  return [
    ...wanted
      .filter((match) => !present.some((rule) => rule.match === match))
      .map((match) => `insert rule ${place} ${match} counter accept comment "${COMMENT}"`),
    ...present
      .filter(({ match }, at) => !wanted.includes(match) || present.findIndex((rule) => rule.match === match) !== at)
      .map(({ handle }) => `delete rule ${place} handle ${handle}`),
  ];
}
