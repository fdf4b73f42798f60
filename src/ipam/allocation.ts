/** Chooses addresses and a MAC for a request, and takes all of them or none. */

import { formatAddress } from '../net/address.ts';
import type { Address, Family } from '../net/address.ts';
import { cidrContains, unusableAre } from '../net/cidr.ts';
import { formatDualCidr, ofFamily, protocolOf } from '../net/dual.ts';
import type { Dual, Protocol } from '../net/dual.ts';
import { macFromNumber, macToNumber } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import type { Holder } from './holder.ts';
import { isPassive } from './holder.ts';
import type { Occupancy } from './occupancy.ts';
import { none } from './none.ts';
import type { Offset } from './offset.ts';
import type { Space, SubnetState } from './space.ts';

export interface AllocationRequest {
  readonly holder: Holder;
  /** The requested families; by default all families of the Subnet. */
  readonly families?: Protocol;
  /** Requested addresses. For a requested family without an address here, the allocator chooses one. */
  readonly static?: Dual<Address>;
  /** Pools to choose from, in order; '' is the default pool. By default, the default pool. Static addresses may be in any pool. */
  readonly pools?: readonly string[];
  /** Addresses that must not be chosen, even if the claimant has one of them. */
  readonly skip?: readonly Address[];
  /** The requested MAC. */
  readonly mac?: Mac;
  /** Returns a MAC candidate for an attempt (0, 1, …); deterministic. Called if the claimant has no MAC and requests none. */
  readonly generateMac?: (attempt: number) => Mac;
}

/** Kube-OVN's codes where Kube-OVN has one. */
export type AllocationCode = 'NoSubnet' | 'InvalidIPFamily' | 'AddressOutOfRange' | 'AddressConflict' | 'NoAvailableAddress';

export interface AllocationFailure {
  readonly ok: false;
  readonly code: AllocationCode;
  /** What could not be allocated. */
  readonly subject: 'subnet' | Family | 'mac';
  readonly message: string;
  /** For a conflict: the holders; empty if the gateway has the address. */
  readonly holders: readonly Holder[];
}

export type Allocation = { readonly ok: true; readonly v4?: Address; readonly v6?: Address; readonly mac?: Mac } | AllocationFailure;

/** Number of MAC candidates to try. With 46 random bits a second attempt is already rare. */
const macAttempts = 64;

const familiesOf: Readonly<Record<Protocol | 'none', readonly Family[]>> = { IPv4: [4], IPv6: [6], Dual: [4, 6], none: [] };
const defaultPool: readonly string[] = [''];

type Choice = Offset | AllocationFailure;

/** Allocates in a Subnet that has a spec. */
export function allocateIn(subnet: SubnetState, request: AllocationRequest, occupancy: Occupancy): Allocation {
  const chooser = new Chooser(subnet, request, occupancy);
  const chosen = choose(chooser);
  if ('ok' in chosen) return chosen;
  const { v4, v6, mac } = chosen;
  take(subnet, request.holder, chooser.claimant, v4, v6, mac, occupancy);

  const result: { ok: true; v4?: Address; v6?: Address; mac?: Mac } = { ok: true };
  if (v4 !== undefined) result.v4 = { family: 4, value: subnet.v4.valueAt(v4) };
  if (v6 !== undefined) result.v6 = { family: 6, value: subnet.v6.valueAt(v6) };
  if (mac !== undefined) result.mac = request.mac ?? macFromNumber(Number(mac));
  return result;
}

/** The failure that `allocateIn` would return now; undefined if it would succeed. Allocates nothing. */
export function checkIn(subnet: SubnetState, request: AllocationRequest, occupancy: Occupancy): AllocationFailure | undefined {
  const chosen = choose(new Chooser(subnet, request, occupancy));
  return 'ok' in chosen ? chosen : undefined;
}

interface Chosen {
  readonly v4: Offset | undefined;
  readonly v6: Offset | undefined;
  readonly mac: Offset | undefined;
}

function choose(chooser: Chooser): Chosen | AllocationFailure {
  const families = chooser.families();
  if ('ok' in families) return families;
  let v4: Offset | undefined;
  let v6: Offset | undefined;
  for (const family of families) {
    const never = chooser.never(family);
    if (never !== undefined) return never;
  }
  for (const family of families) {
    const choice = chooser.address(family);
    if (typeof choice === 'object') return choice;
    if (family === 4) v4 = choice;
    else v6 = choice;
  }
  const mac = chooser.mac();
  return typeof mac === 'object' ? mac : { v4, v6, mac };
}

/**
 * Attaches the holder to the choice, then detaches it from all else that it had in this Subnet: also from a family that it requested before
 * and does not request now.
 */
function take(
  subnet: SubnetState,
  holder: Holder,
  claimant: number,
  v4: Offset | undefined,
  v6: Offset | undefined,
  mac: Offset | undefined,
  occupancy: Occupancy,
): void {
  const { holds } = occupancy;
  const id = occupancy.enrol(holder, claimant);
  const had = holds.firstOf(id) !== none;
  if (v4 !== undefined) occupancy.attach(id, subnet, subnet.v4, v4);
  if (v6 !== undefined) occupancy.attach(id, subnet, subnet.v6, v6);
  if (mac !== undefined) occupancy.attach(id, subnet, subnet.mac, mac);
  // A new holder has nothing to detach. A holder without any hold is removed.
  if (!had && holds.firstOf(id) !== none) return;
  occupancy.detachWhere(id, (hold) => {
    if (occupancy.subnetOf(hold) !== subnet) return false;
    const space = occupancy.spaceOf(hold);
    const offset = space === subnet.v4 ? v4 : space === subnet.v6 ? v6 : mac;
    return occupancy.offsetOf(hold) !== offset;
  });
}

class Chooser {
  readonly #subnet: SubnetState;
  readonly #request: AllocationRequest;
  readonly #occupancy: Occupancy;
  /** -1: the claimant has no holds. */
  readonly claimant: number;

  constructor(subnet: SubnetState, request: AllocationRequest, occupancy: Occupancy) {
    this.#subnet = subnet;
    this.#request = request;
    this.#occupancy = occupancy;
    this.claimant = occupancy.holders.findName(request.holder.claimant);
  }

  /** The families to allocate, after checking that the Subnet has them. */
  families(): readonly Family[] | AllocationFailure {
    const { name, spec } = this.#subnet;
    const { families: requestedFamilies, static: named } = this.#request;
    const present = protocolOf(spec?.cidrs ?? {});
    if (requestedFamilies !== undefined && requestedFamilies !== present && present !== 'Dual') {
      return failure(
        'InvalidIPFamily',
        'subnet',
        `Subnet "${name}" is ${present ?? 'without addresses'}, but the request is for ${requestedFamilies}`,
      );
    }
    const result = familiesOf[requestedFamilies ?? present ?? 'none'];
    if (named === undefined) return result;
    for (const family of familiesOf.Dual) {
      const address = ofFamily(named, family);
      if (address === undefined || result.includes(family)) continue;
      const what = `the address ${formatAddress(address)} is IPv${family}`;
      return requestedFamilies === undefined
        ? failure('AddressOutOfRange', family, `${what}, and Subnet "${name}" is ${present ?? 'without addresses'}`)
        : failure('InvalidIPFamily', family, `${what}, but the request is for ${requestedFamilies}`);
    }
    return result;
  }

  address(family: Family): Choice {
    const space = family === 4 ? this.#subnet.v4 : this.#subnet.v6;
    const named = ofFamily(this.#request.static ?? {}, family);
    if (named === undefined) return this.#anyAddress(space, family);
    return this.#unlessTaken(space, space.offsetOf(named.value), family, () => `the address ${formatAddress(named)}`);
  }

  /** The failure if the requested address can never be allocated: it is outside of the usable addresses, or the gateway. */
  never(family: Family): AllocationFailure | undefined {
    const address = ofFamily(this.#request.static ?? {}, family);
    if (address === undefined) return undefined;
    const space = family === 4 ? this.#subnet.v4 : this.#subnet.v6;
    const zone = space.zones.zoneAt(space.offsetOf(address.value));
    if (zone === undefined) return failure('AddressOutOfRange', family, this.#outside(address));
    if (zone.standing !== 'gateway') return undefined;
    return failure('AddressConflict', family, `the address ${formatAddress(address)} is the gateway of Subnet "${this.#subnet.name}"`);
  }

  mac(): Choice | undefined {
    const { mac, generateMac, holder } = this.#request;
    const space = this.#subnet.mac;
    if (mac !== undefined) {
      const offset = macToNumber(mac);
      if (this.#subnet.gatewayMacs.has(offset))
        return failure(
          'AddressConflict',
          'mac',
          `the MAC ${mac} is the gateway's or the DHCP server's of Subnet "${this.#subnet.name}", and no other port may have it`,
        );
      return this.#unlessTaken(space, offset, 'mac', () => `the MAC ${mac}`);
    }
    const current = this.#current(space, undefined);
    if (current !== undefined) return current;
    if (generateMac === undefined) return undefined;
    for (let attempt = 0; attempt < macAttempts; attempt++) {
      const offset = macToNumber(generateMac(attempt));
      if (space.held.find(offset) === none && !this.#subnet.gatewayMacs.has(offset)) return offset;
    }
    return failure(
      'NoAvailableAddress',
      'mac',
      `all ${macAttempts} MAC candidates for ${holder.claimant} are in use in Subnet "${this.#subnet.name}"`,
    );
  }

  #outside(address: Address): string {
    const { name, spec } = this.#subnet;
    const text = `the address ${formatAddress(address)} cannot be allocated in Subnet "${name}"`;
    const network = spec === undefined ? '' : formatDualCidr(spec.cidrs);
    if (network === '') return text;
    const own = ofFamily(spec?.cidrs ?? {}, address.family);
    return own !== undefined && cidrContains(own, address)
      ? `${text}: ${unusableAre(own)} never allocated`
      : `${text}: its CIDR is ${network}`;
  }

  #anyAddress(space: Space, family: Family): Choice {
    const { name, pools: known } = this.#subnet;
    const skip = this.#skipped(space, family);
    const current = this.#current(space, skip);
    if (current !== undefined) return current;

    const pools = this.#request.pools ?? defaultPool;
    let skippedSome = false;
    for (const pool of pools) {
      const index = pool === '' ? 0 : known.indexOf(pool);
      if (index === none) continue;
      const offset = space.free.next(index, space.held, skip);
      if (offset !== undefined) return offset;
      skippedSome ||= skip !== undefined && space.free.next(index, space.held, undefined) !== undefined;
    }
    const where = pools.every((pool) => pool === '')
      ? `Subnet "${name}"`
      : `${pools.map((pool) => (pool === '' ? 'the default pool' : `IPPool "${pool}"`)).join(', ')} of Subnet "${name}"`;
    if (skippedSome) return failure('AddressConflict', family, `every free IPv${family} address in ${where} is excluded by the request`);
    const unknown = pools.filter((pool) => !known.includes(pool));
    const reason =
      unknown.length === 0 ? this.#keptForPools(space, pools) : ` (not in effect there: ${unknown.map((pool) => `"${pool}"`).join(', ')})`;
    return failure('NoAvailableAddress', family, `no free IPv${family} address in ${where}${reason}`);
  }

  /** The free addresses that the counts of the Subnet include, and that the request may not have. */
  #keptForPools(space: Space, pools: readonly string[]): string {
    const others = this.#subnet.pools.filter(
      (pool, index) => pool !== '' && !pools.includes(pool) && space.free.next(index, space.held, undefined) !== undefined,
    );
    if (others.length === 0) return '';
    const shown = others.slice(0, 3).map((pool) => `"${pool}"`);
    return `; the free ones are kept for IPPool ${shown.join(', ')}${others.length > shown.length ? ` and ${others.length - shown.length} more` : ''}`;
  }

  #unlessTaken(space: Space, offset: Offset, subject: Family | 'mac', what: () => string): Choice {
    const slot = space.held.find(offset);
    if (slot === none) return offset;
    const claims = this.#claims(space, slot);
    if (claims && this.#goesFirst(space, slot)) return offset;
    if (!claims && this.#occupancy.admits(space, slot, this.claimant, this.#request.holder.sharingGroup)) return offset;
    const holders = this.#occupancy.holdersAt(space, slot);
    const own = this.#request.holder.claimant;
    // Sorted, so that the message does not depend on the order of observation.
    const others = new Set(holders.map(({ claimant }) => claimant).filter((claimant) => claimant !== own));
    const claimants = [...others].toSorted().join(', ');
    return { ...failure('AddressConflict', subject, `${what()} in Subnet "${this.#subnet.name}" is held by ${claimants}`), holders };
  }

  /**
   * Whether the request's claimant has precedence among conflicting claimants of a slot. A claimant in use has precedence, else the one
   * with the oldest durable holder. A passive holder never has precedence over a claimant that has the address.
   */
  #goesFirst(space: Space, slot: number): boolean {
    if (!space.conflicted.has(slot)) return true;
    const own = this.#request.holder.claimant;
    const all = this.#occupancy.holdersAt(space, slot);
    const lasting = all.filter(({ kind }) => !isPassive(kind));
    const holders = lasting.length > 0 ? lasting : all;
    const inUse = holders.filter(({ kind }) => kind === 'row' || kind === 'pod' || kind === 'node');
    if (inUse.length > 0) return inUse.some(({ claimant }) => claimant === own);
    const first = holders.find(({ kind }) => kind !== 'reservation') ?? holders[0];
    return first?.claimant === own;
  }

  /**
   * Whether the claimant has to choose again: it has only a reservation, not yet reported to any pod, and another claimant has precedence.
   */
  #yields(space: Space, slot: number): boolean {
    if (!space.conflicted.has(slot)) return false;
    const { claimant } = this.#request.holder;
    const own = this.#occupancy.holdersAt(space, slot).filter((holder) => holder.claimant === claimant);
    return own.every(({ kind }) => kind === 'reservation') && !this.#goesFirst(space, slot);
  }

  /** Whether the claimant already has the slot. */
  #claims(space: Space, slot: number): boolean {
    const { holders, holds } = this.#occupancy;
    for (let hold = space.firstHold(slot); hold !== none; hold = holds.nextOfSlot(hold)) {
      if (holders.claimantOf(holds.holderOf(hold)) === this.claimant) return true;
    }
    return false;
  }

  /** What the claimant has in a space and may keep: first what this holder has, else the lowest offset. */
  #current(space: Space, skip: ReadonlySet<Offset> | undefined): Offset | undefined {
    if (this.claimant === none) return undefined;
    const { holders, holds } = this.#occupancy;
    const { kind, key } = this.#request.holder;
    const own = holders.find(kind, key);
    let found: Offset | undefined;
    let foundOwn = false;
    for (let holder = holders.firstOfClaimant(this.claimant); holder !== none; holder = holders.nextOfClaimant(holder)) {
      for (let hold = holds.firstOf(holder); hold !== none; hold = holds.nextOfHolder(hold)) {
        if (holds.spaceOf(hold) !== space.id) continue;
        const offset = space.held.at(holds.slotOf(hold));
        if (!mayKeep(space, offset, skip) || this.#yields(space, holds.slotOf(hold))) continue;
        const better = found === undefined || (holder === own && !foundOwn) || ((holder === own) === foundOwn && offset < found);
        if (!better) continue;
        found = offset;
        foundOwn = holder === own;
      }
    }
    return found;
  }

  #skipped(space: Space, family: Family): ReadonlySet<Offset> | undefined {
    if (this.#request.skip === undefined) return undefined;
    const addresses = this.#request.skip.filter((address) => address.family === family);
    return addresses.length === 0 ? undefined : new Set(addresses.map(({ value }) => space.offsetOf(value)));
  }
}

/** Whether it is a MAC, or a usable address that is not the gateway's; and not one to skip. */
function mayKeep(space: Space, offset: Offset, skip: ReadonlySet<Offset> | undefined): boolean {
  if (space.kind !== 'mac') {
    const zone = space.zones.zoneAt(offset);
    if (zone === undefined || zone.standing === 'gateway') return false;
  }
  return skip === undefined || !skip.has(offset);
}

function failure(code: AllocationCode, subject: 'subnet' | Family | 'mac', message: string): AllocationFailure {
  return { ok: false, code, subject, message, holders: [] };
}
