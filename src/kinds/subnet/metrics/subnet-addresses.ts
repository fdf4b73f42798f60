/**
 * The metric of addresses of every Subnet by family and state, from the counts that the allocation step publishes: updated for a Subnet
 * when its counts or networks change, never at a scrape.
 */
import { cidrSize } from '../../../net/cidr.ts';
import { ofFamily, parseDualCidr } from '../../../net/dual.ts';
import type { MetricSink } from '../../../runtime/metrics.ts';
import type { World } from '../../../world/world.ts';

/** Addresses by state, by family. */
type Counts = ReadonlyMap<string, Readonly<Record<string, bigint>>>;

const FAMILIES = [
  [4, 'v4', 'IPv4'],
  [6, 'v6', 'IPv6'],
] as const;
const NONE: Counts = new Map();

/** @param named false: the sum over all Subnets, under an empty name */
export function exposeSubnetAddresses(metrics: MetricSink, world: World, named: boolean): void {
  const counted = new Map<string, Counts>();
  let totals = NONE;
  const show = (subnet: string, counts: Counts): void => metrics.keep('kiln_subnet_addresses', subnet, samplesOf(subnet, counts));
  const count = (subnet: string): void => {
    const counts = countsOf(world, subnet);
    if (named) return show(subnet, counts);
    totals = plus(plus(totals, counts, 1n), counted.get(subnet) ?? NONE, -1n);
    if (counts.size === 0) counted.delete(subnet);
    else counted.set(subnet, counts);
    show('', counted.size === 0 ? NONE : totals);
  };
  for (const [subnet] of world.usage.entries()) count(subnet);
  world.usage.onChange(count);
  world.subnets.onChange((subnet, after, before) => {
    if (after?.spec.cidrBlock !== before?.spec.cidrBlock) count(subnet);
  });
}

/** Reserved addresses are neither used nor available: gateways, excluded ranges, network and broadcast address. */
function countsOf(world: World, subnet: string): Counts {
  const usage = world.usage.peek(subnet);
  const networks = parseDualCidr(world.subnets.peek(subnet)?.spec.cidrBlock ?? '');
  if (usage === undefined || !networks.ok) return NONE;
  const counts = new Map<string, Readonly<Record<string, bigint>>>();
  for (const [number, key, family] of FAMILIES) {
    const network = ofFamily(networks, number);
    if (network === undefined) continue;
    const { available, using } = usage[key];
    const capacity = cidrSize(network);
    const left = capacity - available - using;
    counts.set(family, { capacity, used: using, reserved: left > 0n ? left : 0n, available });
  }
  return counts;
}

function plus(totals: Counts, counts: Counts, sign: 1n | -1n): Counts {
  const sum = new Map(totals);
  for (const [family, states] of counts) {
    const before = sum.get(family) ?? {};
    const after = Object.entries(states).map(([state, addresses]) => [state, (before[state] ?? 0n) + sign * addresses] as const);
    sum.set(family, Object.fromEntries(after));
  }
  return sum;
}

function samplesOf(subnet: string, counts: Counts) {
  return [...counts].flatMap(([family, states]) =>
    Object.entries(states).map(([state, addresses]) => ({ labels: { subnet, family, state }, value: Number(addresses) })),
  );
}
