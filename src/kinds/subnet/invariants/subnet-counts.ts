/**
 * I1 and I2: the address counts in a Subnet's status follow from the holders and its spec.
 */
import type { Subnet } from '../../../api/kinds/subnet.ts';
import { parseAddress } from '../../../net/address.ts';
import type { Address, Family } from '../../../net/address.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import { IntervalSet } from '../../../net/interval-set.ts';
import { cidrRange, formatIntervals, parseRange } from '../../../net/range.ts';
import { addressesOfPort, addressesShown, switchOfStray } from '../../../world/foreign-ports.ts';
import { nodeAddressesIn } from '../../node/table/node-addresses.ts';
import { isCutOff } from '../../../compile/subnet/validity/underlay.ts';
import type { World } from '../../../world/world.ts';
import type { HoldersBySubnet } from '../../../invariants/address-holders.ts';
import type { Violation } from '../../../invariants/violation.ts';

export function subnetCounts(world: World, holders: HoldersBySubnet): readonly Violation[] {
  const violations: Violation[] = [];
  const others = ofOtherPrograms(world);
  for (const [name, subnet] of world.subnets.entries()) {
    // While a spec is invalid, the status is about the spec in effect.
    const accepted = (subnet.status?.conditions ?? []).some(({ type, status }) => type === 'Accepted' && status === 'True');
    if (!accepted || subnet.status?.v4usingIPs === undefined) continue;
    for (const family of [4, 6] as const)
      violations.push(
        ...familyCounts(
          name,
          subnet,
          family,
          holders,
          [...(others.get(name) ?? []), ...nodeAddressesIn(world, name).map(({ address }) => address)],
          world.glance(() => world.ask(isCutOff, name)),
        ),
      );
  }
  return violations;
}

function familyCounts(
  name: string,
  subnet: Subnet,
  family: Family,
  holders: HoldersBySubnet,
  others: readonly Address[],
  cutOff: boolean,
): readonly Violation[] {
  const { spec, status } = subnet;
  const block = splitList(spec.cidrBlock ?? '')
    .map((text) => parseCidr(text))
    .find((cidr) => cidr?.family === family);
  const field = family === 4 ? 'v4' : 'v6';
  const held = IntervalSet.of(
    [...(holders.get(name)?.values() ?? [])].flatMap(([holder]) =>
      holder !== undefined && holder.address.family === family ? [{ first: holder.address.value, last: holder.address.value }] : [],
    ),
  );
  const usable = block === undefined ? IntervalSet.empty : usableOf(block);
  const reserved = IntervalSet.of([
    ...splitList(spec.gateway ?? '')
      .flatMap((text) => parseAddress(text) ?? [])
      .filter((address) => address.family === family)
      .map(({ value }) => ({ first: value, last: value })),
    ...(spec.excludeIps ?? []).flatMap((text) => parseRange(text) ?? []).filter((range) => range.family === family),
  ]);
  // Includes addresses outside of a CIDR that was narrowed.
  const using = held.subtract(reserved.intersect(usable));
  const available = cutOff ? IntervalSet.empty : usable.subtract(reserved).subtract(held).subtract(singles(others, family));
  const stored = {
    using: status?.[`${field}usingIPs`],
    usingRange: status?.[`${field}usingIPrange`] ?? '',
    available: status?.[`${field}availableIPs`],
    availableRange: status?.[`${field}availableIPrange`] ?? '',
  };
  const is = {
    using: using.count,
    usingRange: formatIntervals(family, using.intervals),
    available: available.count,
    availableRange: formatIntervals(family, available.intervals),
  };
  const wrong = (invariant: 'I1' | 'I2', what: string, actual: unknown, expected: unknown): Violation => ({
    invariant,
    subject: `Subnet ${name}`,
    message: `Subnet ${name}: status.${field}${what} is ${String(actual)}, and the holders of addresses and its spec give ${String(expected)}`,
  });
  return [
    ...(sameCount(stored.using, is.using) ? [] : [wrong('I1', 'usingIPs', stored.using, is.using)]),
    ...(stored.usingRange === is.usingRange ? [] : [wrong('I1', 'usingIPrange', stored.usingRange, is.usingRange)]),
    ...(sameCount(stored.available, is.available) ? [] : [wrong('I2', 'availableIPs', stored.available, is.available)]),
    ...(stored.availableRange === is.availableRange ? [] : [wrong('I2', 'availableIPrange', stored.availableRange, is.availableRange)]),
  ];
}

/** Addresses of stray ports, by switch. */
function ofOtherPrograms(world: World): ReadonlyMap<string, readonly Address[]> {
  const { rows, settings } = world;
  const { enableExternalVpc } = settings;
  const found = new Map<string, Address[]>();
  for (const port of rows.inTable('Logical_Switch_Port')) {
    const home = switchOfStray(world, port, enableExternalVpc);
    if (home === undefined) continue;
    found.set(home, [...(found.get(home) ?? []), ...(enableExternalVpc ? addressesShown(rows, port) : addressesOfPort(port.row))]);
  }
  return found;
}

function singles(addresses: readonly Address[], family: Family): IntervalSet {
  return IntervalSet.of(addresses.flatMap((one) => (one.family === family ? [{ first: one.value, last: one.value }] : [])));
}

/** All addresses except the first and the last; both of a block of two. */
function usableOf(block: NonNullable<ReturnType<typeof parseCidr>>): IntervalSet {
  const { first, last } = cidrRange(block);
  return last - first < 2n ? IntervalSet.between(first, last) : IntervalSet.between(first + 1n, last - 1n);
}

/** An API server stores integers beyond 2^63 as floating point. */
function sameCount(stored: unknown, expected: bigint): boolean {
  if (stored === undefined) return expected === 0n;
  return typeof stored === 'bigint' ? stored === expected || Number(stored) === Number(expected) : Number(stored) === Number(expected);
}
