/**
 * Chains of other programs that may drop what pods send: an `accept` in our own table does not overrule a `drop` in another one. iptables in
 * nftables mode, whose policy Docker sets to drop, and firewalld, which rejects what its zones do not allow.
 *
 * The chains of iptables are shared: kube-proxy refuses there what has no endpoint, and drops what a source may not reach, or belongs to no
 * connection. So our rules come behind all others there, and accept only what nobody judged: before a last rule that drops whatever is left.
 * Those of firewalld are its own, and ours stand for the zone of the device.
 */
export interface FilterChain {
  /** `ip filter` */
  readonly table: string;
  readonly chain: string;
  readonly hook: 'forward' | 'input';
  readonly place: 'first' | 'last';
}

/** Of our rules in chains of others: `iptables -S` shows it as well. */
export const COMMENT = 'kiln';

const IPTABLES = [
  { chain: 'FORWARD', hook: 'forward', place: 'last' },
  { chain: 'INPUT', hook: 'input', place: 'last' },
] as const;

export const FILTER_CHAINS: readonly FilterChain[] = [
  ...IPTABLES.map((one) => ({ table: 'ip filter', ...one })),
  ...IPTABLES.map((one) => ({ table: 'ip6 filter', ...one })),
  { table: 'inet firewalld', chain: 'filter_FORWARD', hook: 'forward', place: 'first' },
  { table: 'inet firewalld', chain: 'filter_INPUT', hook: 'input', place: 'first' },
];

/** The rules for a device, as `nft` takes and lists them; iptables understands them. */
export function acceptingRules({ hook }: FilterChain, device: string): readonly string[] {
  return hook === 'input' ? [`iifname "${device}"`] : [`iifname "${device}"`, `oifname "${device}"`];
}

/** A rule in a listing with handles. */
export interface ListedRule {
  readonly text: string;
  /** Of a rule of ours. */
  readonly match?: string;
  readonly handle: string;
}

const COUNTER = String.raw`counter(?: packets \d+ bytes \d+)?`;
const OURS = new RegExp(`^(.+?) ${COUNTER} accept comment "${COMMENT}"$`);
/** A rule without a condition, behind which no other one is reached. */
const DROPS_THE_REST = new RegExp(`^(?:${COUNTER} )?(?:drop\\b|reject\\b|xt target "(?:DROP|REJECT)")`);
/** Rules that belong to the drop behind them: they log it; and the last ones of ufw, which do both. */
const OF_THE_DROP = new RegExp(`^(?:limit rate .+ )?(?:${COUNTER} )?(?:log\\b|jump ufw-(?:after-logging|reject|track)-)`);

/** The rules of a chain. @param listing of `nft --stateless --handle list chain` */
export function rulesOf(listing: string): readonly ListedRule[] {
  return listing.split('\n').flatMap((line) => {
    const [, text = '', handle = ''] = /^\s*(.*[^{\s]) # handle (\d+)$/.exec(line) ?? [];
    const match = OURS.exec(text)?.[1];
    return text === '' ? [] : [{ text, handle, ...(match !== undefined && { match }) }];
  });
}

/** Lines for `nft -f`: what is missing in its place in the chain, what is no longer wanted, or not in its place, removed. */
export function chainLines(one: FilterChain, device: string | undefined, present: readonly ListedRule[]): readonly string[] {
  const wanted = device === undefined ? [] : acceptingRules(one, device);
  const place = `${one.table} ${one.chain}`;
  const [from, to] = one.place === 'first' ? [0, present.length] : lastPlace(present);
  const kept = wanted.map((match) => present.findIndex((rule, at) => rule.match === match && at >= from && at < to));
  const next = one.place === 'first' ? undefined : present[from];
  const verb =
    one.place === 'first'
      ? `insert rule ${place}`
      : next === undefined
        ? `add rule ${place}`
        : `insert rule ${place} position ${next.handle}`;
  return [
    ...wanted.filter((_, at) => kept[at] === -1).map((match) => `${verb} ${match} counter accept comment "${COMMENT}"`),
    ...present
      .filter(({ match }, at) => match !== undefined && !kept.includes(at))
      .map(({ handle }) => `delete rule ${place} handle ${handle}`),
  ];
}

/** Where rules of ours are behind all that judge, and before what drops the rest. */
function lastPlace(rules: readonly ListedRule[]): readonly [from: number, to: number] {
  const drop = rules.findIndex(({ text }) => DROPS_THE_REST.test(text));
  const to = drop === -1 ? rules.length : drop;
  const from = rules.slice(0, to).findLastIndex(({ match, text }) => match === undefined && !OF_THE_DROP.test(text)) + 1;
  return [from, to];
}
