/**
 * The ledger: which holder has which address or MAC of which Subnet. Counts, ranges and free addresses of a Subnet follow from it.
 * Long, because it is the one interface of this folder.
 *
 * Guarantees:
 * - An address is in use exactly while it has a holder.
 * - `hold` always succeeds, since it records a fact that was observed. Two claimants of one address are a conflict, which `conflicts`
 *   lists.
 * - `allocate` never gives an address that another claimant has, unless both declare the same group. It allocates everything requested or
 *   nothing.
 * - `allocate` is idempotent by claimant: a claimant that has an address in the Subnet gets this address again.
 * - Deterministic: no call reads a clock or a random number. The same calls have the same results in every process.
 * - Synchronous, without I/O. Nothing is retried here: `onChanged` and `onContested` report which requests may have another answer now.
 *
 * Costs: `hold`, `release`, `allocate` and `counts` are O(1) in the number of addresses (a request for any address is amortised O(1));
 * `usage`, `conflicts` and `addressSets` are O(held addresses) of one Subnet; a changed spec is O(held addresses) once.
 */

import { compareAddresses } from '../net/address.ts';
import type { Address, Family } from '../net/address.ts';
import { macFromNumber, macToNumber } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import { allocateIn, checkIn } from './allocation.ts';
import type { Allocation, AllocationFailure, AllocationRequest } from './allocation.ts';
import { conflictsOf } from './conflicts.ts';
import type { Conflict } from './conflicts.ts';
import type { Holder, HolderKind } from './holder.ts';
import { isPassive } from './holder.ts';
import type { OccupancyOptions } from './occupancy.ts';
import { compareHolders, Occupancy } from './occupancy.ts';
import { none } from './none.ts';
import type { Offset } from './offset.ts';
import { Space } from './space.ts';
import type { SubnetState } from './space.ts';
import { separatePools, sameSpec, zonesOf } from './subnet-spec.ts';
import type { OverlappingPool, SubnetSpec } from './subnet-spec.ts';
import { addressSetsOf, countsOf, keptBackOf, poolCountsOf, usageOf } from './usage.ts';
import type { AddressSets, Counts, KeptBack, Usage } from './usage.ts';
import { Zones } from './zones.ts';

/** The addresses and the MAC of one holder in one Subnet. */
export interface Binding {
  readonly addresses: readonly Address[];
  readonly mac?: Mac;
}

export interface LedgerOptions extends OccupancyOptions {
  /** Number of freed addresses of a pool from which the longest unused comes before never-used ones. Default 1,048,576. */
  readonly rememberFreed?: number;
}

/** One claimant in a Subnet, with its addresses, MACs and holders there. */
export interface Occupant {
  readonly claimant: string;
  /** IPv4 first, ascending. */
  readonly addresses: readonly Address[];
  /** Ascending. */
  readonly macs: readonly Mac[];
  /** Lowest rank first. */
  readonly holders: readonly Holder[];
}

export interface Occupants {
  /** The first occupants, up to the limit. */
  readonly first: readonly Occupant[];
  /** Number of all claimants. */
  readonly count: number;
}

export class Ledger {
  readonly #subnets = new Map<string, SubnetState>();
  readonly #occupancy: Occupancy;
  readonly #remember: number;

  constructor(options: LedgerOptions = {}) {
    this.#remember = options.rememberFreed ?? 1_048_576;
    this.#occupancy = new Occupancy(options);
  }

  /** Names of all Subnets with a spec, in order of their first mention. */
  get subnets(): string[] {
    return [...this.#subnets.values()].filter(({ spec }) => spec !== undefined).map(({ name }) => name);
  }

  /** The spec of a Subnet, or undefined. */
  spec(subnet: string): SubnetSpec | undefined {
    return this.#subnets.get(subnet)?.spec;
  }

  /**
   * Sets the spec of a Subnet. All holds remain, inside or outside of the new CIDR. @returns the named pools that are not in effect because
   * an earlier pool has one of their addresses
   */
  upsertSubnet(name: string, spec: SubnetSpec): readonly OverlappingPool[] {
    const subnet = this.#subnets.get(name) ?? this.#addSubnet(name);
    if (subnet.spec !== undefined && sameSpec(subnet.spec, spec)) return subnet.overlappingPools;
    const { admitted, overlapping } = separatePools(spec.pools);
    subnet.spec = spec;
    subnet.pools = ['', ...admitted.map((pool) => pool.name)];
    subnet.overlappingPools = overlapping;
    subnet.gatewayMacs = new Set(spec.gatewayMacs.map(macToNumber));
    for (const [space, cidr] of [
      [subnet.v4, spec.cidrs.v4],
      [subnet.v6, spec.cidrs.v6],
    ] as const) {
      space.recut(cidr?.base ?? 0n, cidr === undefined ? Zones.empty : zonesOf(cidr, spec, admitted), subnet.pools.length);
    }
    this.#reevaluate(subnet);
    return overlapping;
  }

  /** Removes the spec of a Subnet. Its holds remain until they are released. */
  removeSubnet(name: string): void {
    const subnet = this.#subnets.get(name);
    if (subnet?.spec === undefined) return;
    subnet.spec = undefined;
    subnet.pools = [''];
    subnet.overlappingPools = [];
    subnet.gatewayMacs = new Set();
    for (const space of [subnet.v4, subnet.v6]) space.recut(space.origin, Zones.empty, 1);
    this.#reevaluate(subnet);
    this.#forgetIfEmpty(subnet);
  }

  /**
   * Records that a holder has exactly these addresses in a Subnet, with or without a spec; releases what else it had there. Always
   * succeeds: a conflict is listed by `conflicts`.
   *
   * @param alone also releases what it had in other Subnets
   */
  hold(subnet: string, holder: Holder, binding: Binding, alone = false): void {
    const state = this.#subnets.get(subnet) ?? this.#addSubnet(subnet);
    const bound: [Space, Offset][] = binding.addresses.map((address) => this.#locate(state, address));
    if (binding.mac !== undefined) bound.push([state.mac, macToNumber(binding.mac)]);
    const { holders, holds } = this.#occupancy;
    const id = this.#occupancy.enrol(holder, holders.findName(holder.claimant));
    for (const [space, offset] of bound) this.#occupancy.attach(id, state, space, offset);
    const left = new Set<SubnetState>();
    this.#occupancy.detachWhere(id, (hold) => {
      const space = this.#occupancy.spaceOf(hold);
      const its = this.#occupancy.subnetOf(hold);
      if (its !== state) {
        if (alone) left.add(its);
        return alone;
      }
      const offset = space.held.at(holds.slotOf(hold));
      return !bound.some(([other, at]) => other === space && at === offset);
    });
    for (const other of left) this.#forgetIfEmpty(other);
    this.#forgetIfEmpty(state);
  }

  /** Releases everything of a holder, in all Subnets or in one. @returns false if it had nothing */
  release(kind: HolderKind, key: string, subnet?: string): boolean {
    return this.#releaseWhere(kind, key, ({ name }) => subnet === undefined || name === subnet);
  }

  /** Releases everything of a holder in all other Subnets. @returns false if it had nothing there */
  releaseElsewhere(kind: HolderKind, key: string, subnet: string): boolean {
    return this.#releaseWhere(kind, key, ({ name }) => name !== subnet);
  }

  #releaseWhere(kind: HolderKind, key: string, goes: (subnet: SubnetState) => boolean): boolean {
    const id = this.#occupancy.holders.find(kind, key);
    if (id === none) return false;
    const touched = new Set<SubnetState>();
    this.#occupancy.detachWhere(id, (hold) => {
      const state = this.#occupancy.subnetOf(hold);
      if (!goes(state)) return false;
      touched.add(state);
      return true;
    });
    for (const state of touched) this.#forgetIfEmpty(state);
    return touched.size > 0;
  }

  /**
   * Allocates addresses and a MAC to a holder: what its claimant has in the Subnet already, else the requested ones, else the next free
   * ones. Everything requested, or nothing. Releases what the holder had before in this Subnet.
   */
  allocate(subnet: string, request: AllocationRequest): Allocation {
    const state = this.#subnets.get(subnet);
    if (state?.spec !== undefined) return allocateIn(state, request, this.#occupancy);
    return noSubnet(subnet);
  }

  /** The failure that `allocate` would return now; undefined if it would succeed. Allocates nothing. */
  check(subnet: string, request: AllocationRequest): AllocationFailure | undefined {
    const state = this.#subnets.get(subnet);
    return state?.spec === undefined ? noSubnet(subnet) : checkIn(state, request, this.#occupancy);
  }

  /** Names of the Subnets whose spec or holders changed since the last call. */
  takeChanged(): string[] {
    const { changed } = this.#occupancy;
    const names = Array.from(changed, ({ name }) => name);
    changed.clear();
    return names;
  }

  /** Counts and ranges from one snapshot; undefined without a spec. */
  usage(subnet: string): Usage | undefined {
    const state = this.#subnets.get(subnet);
    return state?.spec === undefined ? undefined : usageOf(state);
  }

  /** Addresses that only passive holders have and that a request for any address would otherwise get; undefined if there are none. */
  keptBack(subnet: string, family: Family): KeptBack | undefined {
    const state = this.#subnets.get(subnet);
    return state?.spec === undefined ? undefined : keptBackOf(family === 4 ? state.v4 : state.v6, family, this.#occupancy);
  }

  /** Counts of the Subnet or of one pool ('' is the default pool), without a visit to single addresses. */
  counts(subnet: string, family: Family, pool?: string): Counts | undefined {
    const state = this.#subnets.get(subnet);
    if (state?.spec === undefined) return undefined;
    const space = family === 4 ? state.v4 : state.v6;
    if (pool === undefined) return countsOf(space);
    const index = state.pools.indexOf(pool);
    return index === none ? undefined : poolCountsOf(space, index);
  }

  /** The sets of addresses behind the counts, of the Subnet or of one pool. For inspection: visits every held address. */
  addressSets(subnet: string, family: Family, pool?: string): AddressSets | undefined {
    const state = this.#subnets.get(subnet);
    if (state?.spec === undefined) return undefined;
    const index = pool === undefined ? undefined : state.pools.indexOf(pool);
    return index === none ? undefined : addressSetsOf(family === 4 ? state.v4 : state.v6, index, state.pools.length);
  }

  /** Addresses and MACs with conflicting claimants, each with its holders in order of rank. */
  conflicts(subnet: string): Conflict[] {
    const state = this.#subnets.get(subnet);
    return state === undefined ? [] : conflictsOf(state, this.#occupancy);
  }

  /** Whether there are conflicts. */
  hasConflicts(subnet: string): boolean {
    const state = this.#subnets.get(subnet);
    return state !== undefined && state.v4.conflicted.size + state.v6.conflicted.size + state.mac.conflicted.size > 0;
  }

  /** The holders of an address, lowest rank first. */
  holdersOf(subnet: string, address: Address): Holder[] {
    const state = this.#subnets.get(subnet);
    if (state === undefined) return [];
    const [space, offset] = this.#locate(state, address);
    return this.#holdersAt(space, space.held.find(offset));
  }

  /** The holders of a MAC, lowest rank first. */
  holdersOfMac(subnet: string, mac: Mac): Holder[] {
    const state = this.#subnets.get(subnet);
    return state === undefined ? [] : this.#holdersAt(state.mac, state.mac.held.find(macToNumber(mac)));
  }

  /** Whether a claimant has an address or MAC in a Subnet, by any holder. */
  has(subnet: string, claimant: string): boolean {
    const state = this.#subnets.get(subnet);
    return state !== undefined && this.#occupancy.hasIn(state, claimant);
  }

  /** Everything a claimant has in a Subnet, by all its holders; undefined if it has nothing. */
  occupant(subnet: string, claimant: string): Occupant | undefined {
    const state = this.#subnets.get(subnet);
    const id = this.#occupancy.holders.findName(claimant);
    return state === undefined || id === none ? undefined : this.#describeOccupant(state, id);
  }

  /**
   * The claimants that block deletion of the Subnet, without passive holders, in order of their first address (IPv4, IPv6, then MACs; on one
   * address lowest rank first). Independent of the order of calls. The count is O(1), the names O(held addresses).
   */
  holdersIn(subnet: string, limit: number): Occupants {
    const state = this.#subnets.get(subnet);
    if (state === undefined) return { first: [], count: 0 };
    const names = new Set<string>();
    for (const space of [state.v4, state.v6, state.mac]) {
      if (names.size >= limit || space.held.size === 0) continue;
      const offsets = space.held.sorted();
      for (let at = 0; at < offsets.length && names.size < limit; at++) {
        for (const { kind, claimant } of this.#occupancy.holdersAt(space, space.held.find(offsets[at] as Offset)))
          if (!isPassive(kind) && names.size < limit) names.add(claimant);
      }
    }
    const first = [...names].map((name) => this.#describeOccupant(state, this.#occupancy.holders.findName(name)));
    return { first: first.filter((occupant) => occupant !== undefined), count: state.claimants };
  }

  /** The addresses and MAC of one holder, by Subnet. */
  bindings(kind: HolderKind, key: string): Map<string, Binding> {
    const { holders, holds } = this.#occupancy;
    const result = new Map<string, { addresses: Address[]; mac?: Mac }>();
    const id = holders.find(kind, key);
    if (id === none) return result;
    for (let hold = holds.firstOf(id); hold !== none; hold = holds.nextOfHolder(hold)) {
      const space = this.#occupancy.spaceOf(hold);
      const { name } = this.#occupancy.subnetOf(hold);
      const binding = result.get(name) ?? { addresses: [] };
      const offset = space.held.at(holds.slotOf(hold));
      if (space.kind === 'mac') binding.mac = macFromNumber(Number(offset));
      else binding.addresses.push({ family: space.kind, value: space.valueAt(offset) });
      result.set(name, binding);
    }
    for (const binding of result.values()) binding.addresses.sort(compareAddresses);
    return result;
  }

  #addSubnet(name: string): SubnetState {
    const space = (kind: Family | 'mac'): Space => new Space(this.#occupancy.reserveSpaceId(), kind, this.#remember);
    const subnet: SubnetState = {
      name,
      spec: undefined,
      pools: [''],
      overlappingPools: [],
      gatewayMacs: new Set(),
      v4: space(4),
      v6: space(6),
      mac: space('mac'),
      claimants: 0,
    };
    for (const each of [subnet.v4, subnet.v6, subnet.mac]) this.#occupancy.register(each, subnet);
    this.#subnets.set(name, subnet);
    return subnet;
  }

  #forgetIfEmpty(subnet: SubnetState): void {
    if (subnet.spec !== undefined || subnet.v4.held.size + subnet.v6.held.size + subnet.mac.held.size > 0) return;
    for (const space of [subnet.v4, subnet.v6, subnet.mac]) this.#occupancy.unregister(space);
    this.#subnets.delete(subnet.name);
  }

  #reevaluate(subnet: SubnetState): void {
    this.#occupancy.specChanged(subnet);
    for (const space of [subnet.v4, subnet.v6, subnet.mac]) {
      for (const slot of space.held.slots()) this.#occupancy.evaluate(subnet, space, slot);
    }
  }

  #locate(subnet: SubnetState, address: Address): [Space, Offset] {
    const space = address.family === 4 ? subnet.v4 : subnet.v6;
    return [space, space.offsetOf(address.value)];
  }

  #holdersAt(space: Space, slot: number): Holder[] {
    return slot === none ? [] : this.#occupancy.holdersAt(space, slot);
  }

  #describeOccupant(subnet: SubnetState, claimant: number): Occupant | undefined {
    const { holders: table, holds } = this.#occupancy;
    const addresses = new Map<string, Address>();
    const macs = new Set<Mac>();
    const holders: Holder[] = [];
    for (let holder = table.firstOfClaimant(claimant); holder !== none; holder = table.nextOfClaimant(holder)) {
      let here = false;
      for (let hold = holds.firstOf(holder); hold !== none; hold = holds.nextOfHolder(hold)) {
        if (this.#occupancy.subnetOf(hold) !== subnet) continue;
        here = true;
        const space = this.#occupancy.spaceOf(hold);
        const offset = space.held.at(holds.slotOf(hold));
        if (space.kind === 'mac') macs.add(macFromNumber(Number(offset)));
        else addresses.set(`${space.kind}/${offset}`, { family: space.kind, value: space.valueAt(offset) });
      }
      if (here) holders.push(table.describe(holder));
    }
    if (holders.length === 0) return undefined;
    return {
      claimant: table.nameText(claimant),
      addresses: [...addresses.values()].sort(compareAddresses),
      macs: [...macs].sort(),
      holders: holders.sort(compareHolders),
    };
  }
}

function noSubnet(subnet: string): AllocationFailure {
  const message = `Subnet "${subnet}" allocates no addresses: it does not exist, or its spec is invalid`;
  return { ok: false, code: 'NoSubnet', subject: 'subnet', message, holders: [] };
}
