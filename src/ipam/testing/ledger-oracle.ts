/**
 * The ledger's rules in their plainest form, for tests only: a list of facts, from which every answer is computed again. Shares no code
 * with the ledger except the types of the spec and the interval sets of `net`.
 */

import { formatAddress } from '../../net/address.ts';
import type { Address, Family } from '../../net/address.ts';
import { firstUsable, lastUsable } from '../../net/cidr.ts';
import { IntervalSet } from '../../net/interval-set.ts';
import type { Mac } from '../../net/mac.ts';
import { formatIntervals } from '../../net/range.ts';
import type { AllocationRequest } from '../allocation.ts';
import type { Holder } from '../holder.ts';
import { isPassive } from '../holder.ts';
import type { SubnetSpec } from '../subnet-spec.ts';

/** An address or a MAC as text, for comparison. */
type Item = string;

interface Fact {
  readonly subnet: string;
  holder: Holder;
  readonly item: Item;
  readonly address: Address | undefined;
}

export interface OracleUsage {
  readonly available: bigint;
  readonly using: bigint;
  readonly availableRange: string;
  readonly usingRange: string;
}

export class Oracle {
  #facts: Fact[] = [];
  readonly specs = new Map<string, SubnetSpec>();
  /** Freed addresses by Subnet, longest unused first. */
  readonly #freed = new Map<string, Address[]>();
  readonly #remember: number;

  constructor(remember: number) {
    this.#remember = remember;
  }

  upsert(name: string, spec: SubnetSpec): void {
    this.specs.set(name, spec);
    this.#pruneFreed(name);
  }

  remove(name: string): void {
    this.specs.delete(name);
    this.#pruneFreed(name);
  }

  hold(subnet: string, holder: Holder, addresses: readonly Address[], mac: Mac | undefined): void {
    const added = addresses.map((address) => ({
      subnet,
      holder,
      item: formatAddress(address) as Item,
      address: address as Address | undefined,
    }));
    if (mac !== undefined) added.push({ subnet, holder, item: mac, address: undefined });
    this.#change(() => {
      const others = this.#facts.filter((fact) => !sameHolder(fact.holder, holder) || fact.subnet !== subnet);
      for (const fact of others) if (sameHolder(fact.holder, holder)) fact.holder = holder;
      const unique = added.filter((fact, index) => added.findIndex(({ item }) => item === fact.item) === index);
      this.#facts = [...others, ...unique];
    });
  }

  release(holder: Holder, subnet: string | undefined): boolean {
    return this.#forget((fact) => sameHolder(fact.holder, holder) && (subnet === undefined || fact.subnet === subnet));
  }

  releaseElsewhere(holder: Holder, subnet: string): boolean {
    return this.#forget((fact) => sameHolder(fact.holder, holder) && fact.subnet !== subnet);
  }

  #forget(goes: (fact: Fact) => boolean): boolean {
    const before = this.#facts.length;
    this.#change(() => {
      this.#facts = this.#facts.filter((fact) => !goes(fact));
    });
    return this.#facts.length < before;
  }

  allocate(subnet: string, request: AllocationRequest): { ok: true; v4: string; v6: string; mac: string } | { ok: false; code: string } {
    const spec = this.specs.get(subnet);
    if (spec === undefined) return { ok: false, code: 'NoSubnet' };
    const present = ([4, 6] as const).filter((family) => cidrOf(spec, family) !== undefined);
    const wanted =
      request.families === undefined
        ? present
        : ([4, 6] as const).filter((family) => request.families === 'Dual' || request.families === `IPv${family}`);
    if (request.families !== undefined && present.length < 2 && wanted.join() !== present.join())
      return { ok: false, code: 'InvalidIPFamily' };
    for (const family of [4, 6] as const) {
      if (request.static?.[field(family)] !== undefined && !wanted.includes(family)) {
        return { ok: false, code: request.families === undefined ? 'AddressOutOfRange' : 'InvalidIPFamily' };
      }
    }
    for (const family of wanted) {
      const named = request.static?.[field(family)];
      if (named !== undefined && !universe(spec, family).contains(named.value)) return { ok: false, code: 'AddressOutOfRange' };
      if (named !== undefined && gatewaySet(spec, family).contains(named.value)) return { ok: false, code: 'AddressConflict' };
    }
    const chosen: Address[] = [];
    for (const family of wanted) {
      const named = request.static?.[field(family)];
      const result = named === undefined ? this.#choose(subnet, spec, family, request) : this.#checkNamed(subnet, named, request);
      if (typeof result === 'string') return { ok: false, code: result };
      chosen.push(result);
    }
    const mac = this.#chooseMac(subnet, spec, request);
    if (mac === 'AddressConflict') return { ok: false, code: mac };

    this.hold(subnet, request.holder, chosen, mac);
    const text = (family: Family): string =>
      chosen
        .filter((address) => address.family === family)
        .map(formatAddress)
        .join();
    return { ok: true, v4: text(4), v6: text(6), mac: mac ?? '' };
  }

  usage(subnet: string, family: Family, pool?: string): OracleUsage | undefined {
    const spec = this.specs.get(subnet);
    if (spec === undefined) return undefined;
    const hasFamily = cidrOf(spec, family) !== undefined;
    if (!hasFamily && pool !== undefined) return undefined;
    const scope = pool === undefined ? universe(spec, family) : poolSet(spec, family, pool);
    const open = scope.intersect(openSet(spec, family));
    const held = setOf(this.#facts.filter((fact) => fact.subnet === subnet && fact.address?.family === family));
    const counted = setOf(
      this.#facts.filter((fact) => fact.subnet === subnet && fact.address?.family === family && !isPassive(fact.holder.kind)),
    );
    const using = pool === undefined ? counted.subtract(scope.subtract(open)) : counted.intersect(scope.subtract(gatewaySet(spec, family)));
    const available = open.subtract(held);
    if (!hasFamily && using.count === 0n) return undefined;
    return {
      available: available.count,
      using: using.count,
      availableRange: formatIntervals(family, available.intervals),
      usingRange: formatIntervals(family, using.intervals),
    };
  }

  available(subnet: string, family: Family): IntervalSet {
    const spec = this.specs.get(subnet);
    if (spec === undefined) return IntervalSet.empty;
    return openSet(spec, family).subtract(setOf(this.#facts.filter((fact) => fact.subnet === subnet && fact.address?.family === family)));
  }

  /** Items in conflict, sorted as text. */
  conflicts(subnet: string): Item[] {
    const spec = this.specs.get(subnet);
    const items = new Set(this.#facts.filter((fact) => fact.subnet === subnet).map(({ item }) => item));
    return [...items]
      .filter((item) => {
        const facts = this.#facts.filter((fact) => fact.subnet === subnet && fact.item === item);
        const address = facts[0]?.address;
        const isGateway =
          address === undefined
            ? (spec?.gatewayMacs.includes(item as Mac) ?? false)
            : spec !== undefined && gatewaySet(spec, address.family).contains(address.value);
        if (isGateway && facts.some(({ holder }) => !isPassive(holder.kind))) return true;
        const claimants = [...new Set(facts.map(({ holder }) => holder.claimant))];
        if (claimants.length < 2) return false;
        const groups = new Set(facts.flatMap(({ holder }) => holder.sharingGroup ?? []));
        return ![...groups].some((group) =>
          claimants.every((claimant) => facts.some(({ holder }) => holder.claimant === claimant && holder.sharingGroup === group)),
        );
      })
      .toSorted(asText);
  }

  /**
   * Claimants that block deletion of the Subnet, by their first address: IPv4, IPv6, then MACs; on one address lowest rank first, then by
   * name.
   */
  claimants(subnet: string): string[] {
    const facts = this.#facts.filter((fact) => fact.subnet === subnet && !isPassive(fact.holder.kind));
    const place = ({ address }: Fact): bigint =>
      address === undefined ? 1n << 200n : address.value + (address.family === 6 ? 1n << 128n : 0n);
    const rank = ({ holder }: Fact): number => holder.rank ?? Number.MAX_VALUE;
    facts.sort(
      (a, b) =>
        Number(place(a) > place(b)) - Number(place(a) < place(b)) ||
        (a.address === undefined ? asText(a.item, b.item) : 0) ||
        rank(a) - rank(b) ||
        asText(a.holder.claimant, b.holder.claimant),
    );
    return [...new Set(facts.map(({ holder }) => holder.claimant))];
  }

  #choose(subnet: string, spec: SubnetSpec, family: Family, request: AllocationRequest): Address | string {
    const skip = setOf((request.skip ?? []).filter((address) => address.family === family).map((address) => ({ address })));
    const usable = universe(spec, family).subtract(gatewaySet(spec, family)).subtract(skip);
    const has = (own: boolean): bigint | undefined =>
      setOf(
        this.#facts.filter(
          (fact) =>
            (own ? sameHolder(fact.holder, request.holder) : true) &&
            fact.subnet === subnet &&
            fact.holder.claimant === request.holder.claimant &&
            fact.address?.family === family &&
            !this.#yields(subnet, fact.item, request.holder),
        ),
      ).intersect(usable).first;
    const current = has(true) ?? has(false);
    if (current !== undefined) return { family, value: current };
    let onlySkipped = false;
    for (const pool of request.pools ?? ['']) {
      const available = this.available(subnet, family).intersect(poolSet(spec, family, pool));
      const remembered = (this.#freed.get(subnet) ?? []).filter(
        (address) => address.family === family && available.contains(address.value),
      );
      const freed = remembered.find(({ value }) => !skip.contains(value))?.value;
      const fresh = available.subtract(setOf(remembered.map((address) => ({ address })))).subtract(skip).first;
      const value = remembered.length > this.#remember ? (freed ?? fresh) : (fresh ?? freed);
      if (value !== undefined) return { family, value };
      onlySkipped ||= !available.isEmpty;
    }
    return onlySkipped ? 'AddressConflict' : 'NoAvailableAddress';
  }

  #checkNamed(subnet: string, address: Address, { holder }: AllocationRequest): Address | string {
    return this.#mayHave(subnet, formatAddress(address), holder) ? address : 'AddressConflict';
  }

  #chooseMac(subnet: string, spec: SubnetSpec, { holder, mac, generateMac }: AllocationRequest): Mac | 'AddressConflict' | undefined {
    if (mac !== undefined) return !spec.gatewayMacs.includes(mac) && this.#mayHave(subnet, mac, holder) ? mac : 'AddressConflict';
    const has = (own: boolean): Item[] =>
      this.#facts
        .filter(
          (fact) =>
            fact.subnet === subnet &&
            fact.address === undefined &&
            (own ? sameHolder(fact.holder, holder) : fact.holder.claimant === holder.claimant) &&
            fact.holder.claimant === holder.claimant &&
            !this.#yields(subnet, fact.item, holder),
        )
        .map(({ item }) => item)
        .toSorted(asText);
    const current = has(true)[0] ?? has(false)[0];
    if (current !== undefined || generateMac === undefined) return current as Mac | undefined;
    for (let attempt = 0; ; attempt++) {
      const candidate = generateMac(attempt);
      if (!spec.gatewayMacs.includes(candidate) && !this.#facts.some((fact) => fact.subnet === subnet && fact.item === candidate))
        return candidate;
    }
  }

  /** The claimant has only a reservation, and another claimant has precedence. */
  #yields(subnet: string, item: Item, holder: Holder): boolean {
    const own = this.#facts.filter((fact) => fact.subnet === subnet && fact.item === item && fact.holder.claimant === holder.claimant);
    return own.every((fact) => fact.holder.kind === 'reservation') && !this.#mayHave(subnet, item, holder);
  }

  #mayHave(subnet: string, item: Item, holder: Holder): boolean {
    const facts = this.#facts.filter((fact) => fact.subnet === subnet && fact.item === item);
    if (facts.some((fact) => fact.holder.claimant === holder.claimant)) {
      if (!this.conflicts(subnet).includes(item)) return true;
      const all = facts.map((fact) => fact.holder);
      const rivals = all.some(({ kind }) => !isPassive(kind)) ? all.filter(({ kind }) => !isPassive(kind)) : all;
      const using = rivals.filter(({ kind }) => ['row', 'pod', 'node'].includes(kind));
      if (using.length > 0) return using.some(({ claimant }) => claimant === holder.claimant);
      const durable = rivals.filter(({ kind }) => kind !== 'reservation');
      return (durable.length > 0 ? durable : rivals).toSorted(byRank)[0]?.claimant === holder.claimant;
    }
    const others = [...new Set(facts.map((fact) => fact.holder.claimant))];
    return others.every(
      (claimant) =>
        holder.sharingGroup !== undefined &&
        facts.some((fact) => fact.holder.claimant === claimant && fact.holder.sharingGroup === holder.sharingGroup),
    );
  }

  /** Changes facts and records the addresses that became free; those of one change are recorded in ascending order. */
  #change(change: () => void): void {
    const before = this.#facts;
    change();
    const after = new Set(this.#facts.map(({ subnet, item }) => `${subnet}/${item}`));
    const ascending = before.toSorted((a, b) => Number((a.address?.value ?? 0n) - (b.address?.value ?? 0n)));
    for (const { subnet, item, address } of ascending) {
      if (address === undefined || after.has(`${subnet}/${item}`)) continue;
      const list = this.#freed.get(subnet) ?? [];
      if (!list.some((other) => formatAddress(other) === item)) this.#freed.set(subnet, [...list, address]);
    }
    for (const name of this.#freed.keys()) this.#pruneFreed(name);
  }

  #pruneFreed(name: string): void {
    const list = this.#freed.get(name) ?? [];
    if (list.length === 0) return;
    const available = { 4: this.available(name, 4), 6: this.available(name, 6) };
    this.#freed.set(
      name,
      list.filter((address) => available[address.family].contains(address.value)),
    );
  }
}

function field(family: Family): 'v4' | 'v6' {
  return family === 4 ? 'v4' : 'v6';
}

function cidrOf(spec: SubnetSpec, family: Family): SubnetSpec['cidrs']['v4'] {
  return spec.cidrs[field(family)];
}

function universe(spec: SubnetSpec, family: Family): IntervalSet {
  const cidr = cidrOf(spec, family);
  return cidr === undefined ? IntervalSet.empty : IntervalSet.between(firstUsable(cidr).value, lastUsable(cidr).value);
}

function gatewaySet(spec: SubnetSpec, family: Family): IntervalSet {
  return setOf(spec.gateways.filter((address) => address.family === family).map((address) => ({ address }))).intersect(
    universe(spec, family),
  );
}

function openSet(spec: SubnetSpec, family: Family): IntervalSet {
  const excluded = IntervalSet.of(spec.excluded.filter((range) => range.family === family));
  const unasked = poolSet(spec, family, '').intersect(lastOfIpv6(spec, family));
  return universe(spec, family).subtract(gatewaySet(spec, family)).subtract(excluded).subtract(unasked);
}

/** IPv6 has no broadcast address, but the last one is given only to who names it, or a pool with it. */
function lastOfIpv6(spec: SubnetSpec, family: Family): IntervalSet {
  const cidr = cidrOf(spec, family);
  if (family === 4 || cidr === undefined || cidr.prefix > 126) return IntervalSet.empty;
  const last = cidr.base + (1n << BigInt(128 - cidr.prefix)) - 1n;
  return IntervalSet.between(last, last);
}

function poolSet(spec: SubnetSpec, family: Family, name: string): IntervalSet {
  const taken: IntervalSet[] = [];
  let all = universe(spec, family);
  let found = IntervalSet.empty;
  for (const pool of spec.pools) {
    const sets = ([4, 6] as const).map((each) => IntervalSet.of(pool.ranges.filter((range) => range.family === each)));
    // IPv4 and IPv6 addresses are different numbers in these tests, so one set finds overlaps of either family.
    const whole = (sets[0] ?? IntervalSet.empty).union(sets[1] ?? IntervalSet.empty);
    if (taken.some((other) => !other.intersect(whole).isEmpty)) continue;
    taken.push(whole);
    const own = (family === 4 ? sets[0] : sets[1]) ?? IntervalSet.empty;
    if (pool.name === name) found = own.intersect(universe(spec, family));
    all = all.subtract(own);
  }
  return name === '' ? all : found;
}

function setOf(items: readonly { readonly address?: Address | undefined }[]): IntervalSet {
  return IntervalSet.of(items.flatMap(({ address }) => (address === undefined ? [] : [{ first: address.value, last: address.value }])));
}

function sameHolder(a: Holder, b: Holder): boolean {
  return a.kind === b.kind && a.key === b.key;
}

/** The order of a conflict. */
function byRank(a: Holder, b: Holder): number {
  const [first, second] = [a.rank ?? Infinity, b.rank ?? Infinity];
  if (first !== second) return first < second ? -1 : 1;
  return asText(a.claimant, b.claimant) || asText(a.kind, b.kind) || asText(a.key, b.key);
}

function asText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
