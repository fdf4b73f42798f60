/**
 * Between rounds of compile: wishes in, reservations out. The only code that gives addresses away.
 */
import type { Reason } from '../api/reasons.ts';
import type { Desired } from '../compile/desired.ts';
import { Ledger } from '../ipam/ledger.ts';
import type { Allocation, AllocationFailure, AllocationRequest } from '../ipam/allocation.ts';
import type { Holder } from '../ipam/holder.ts';
import { parseSubnetFields } from '../ipam/subnet-spec.ts';
import { formatAddress } from '../net/address.ts';
import type { Address } from '../net/address.ts';
import type { Dual } from '../net/dual.ts';
import { parseDualAddress } from '../net/dual.ts';
import type { Mac } from '../net/mac.ts';
import { macFromBytes, parseMac } from '../net/mac.ts';
import { hash32 } from '../nb/row-id.ts';
import type { AddressWish, Reservation } from '../world/reservations.ts';
import type { World } from '../world/world.ts';
import { Holders } from './holders.ts';
import { UsagePublisher } from './usage-publisher.ts';
import { WaitingList } from './waiting-list.ts';

/** Why a wish cannot be met. */
export interface WishRefusal {
  readonly code: Reason;
  readonly message: string;
  /** Who has what was asked for. */
  readonly holders: readonly Holder[];
}

const PROTOCOL = { v4: 'IPv4', v6: 'IPv6', dual: 'Dual' } as const;

export class AllocationStep {
  readonly ledger: Ledger;
  readonly usage: UsagePublisher;
  readonly #world: World;
  readonly #desired: Desired;
  readonly #waiting = new WaitingList();
  readonly #holders: Holders;
  /** Subnets where something can be had that could not be before. */
  readonly #freed = new Set<string>();

  constructor(world: World, desired: Desired) {
    this.#world = world;
    this.#desired = desired;
    this.ledger = new Ledger({ onFreed: ({ subnet }) => this.#noteFreed(subnet), onVacated: (subnet) => this.#noteFreed(subnet) });
    this.#holders = new Holders(world, this.ledger);
    this.usage = new UsagePublisher(world, this.ledger);
  }

  /** True when there is nothing to answer. */
  get quiet(): boolean {
    return !this.#holders.due && this.#desired.dirtyPools.size === 0 && this.#desired.dirtyWishes.size === 0 && this.#freed.size === 0;
  }

  /** Answers what changed since the last call. @param enough says when to yield, and be called again for the rest */
  run(enough?: () => boolean): void {
    if (!this.#holders.settle(enough)) return;
    this.#takePools();
    const asked = new Set<string>();
    for (const claimant of this.#desired.dirtyWishes) {
      if (this.#desired.wish(claimant) === undefined) this.#drop(claimant);
      else asked.add(claimant);
    }
    this.#desired.dirtyWishes.clear();
    const due = new Set(asked);
    for (const subnet of this.#freed) for (const claimant of this.#waiting.of(subnet)) due.add(claimant);
    this.#freed.clear();
    const wishes = [...due].flatMap((claimant) => this.#desired.wish(claimant) ?? []);
    wishes.sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : a.claimant < b.claimant ? -1 : 1));
    const hopeless = new Set<string>();
    for (const wish of wishes) {
      // Where one who waits was refused, so is the next who asks for the same; a freed address costs no look at all of them.
      const kind = asked.has(wish.claimant) || isStatic(wish) ? undefined : kindOf(wish);
      if (kind !== undefined && hopeless.has(kind) && !this.#holdsSome(wish)) continue;
      if (!this.#answer(wish) && kind !== undefined) hopeless.add(kind);
    }
  }

  #takePools(): void {
    for (const name of this.#desired.dirtyPools) {
      const pool = this.#desired.pool(name);
      this.usage.mark(name);
      if (pool === undefined) {
        this.ledger.removeSubnet(name);
        // Who was given an address of it is answered as a fresh process would answer.
        for (const wish of this.#desired.wishes.values()) if (wish.subnets.includes(name)) this.#desired.dirtyWishes.add(wish.claimant);
        continue;
      }
      const parsed = parseSubnetFields({
        cidrBlock: [pool.v4, pool.v6].filter((cidr) => cidr !== undefined).join(','),
        gateway: pool.gateways.join(','),
        excludeIps: pool.excludeIps,
        pools: Object.entries(pool.named).map(([poolName, ips]) => ({ name: poolName, ips })),
      });
      if (!parsed.ok)
        throw new Error(`rules gave Subnet ${name} a pool that cannot be read: ${parsed.field} "${parsed.value}" ${parsed.problem}`);
      this.ledger.upsertSubnet(name, parsed.spec);
      this.#freed.add(name);
    }
    this.#desired.dirtyPools.clear();
  }

  #drop(claimant: string): void {
    this.ledger.release('reservation', claimant);
    this.#world.reservations.delete(claimant);
    this.#waiting.remove(claimant);
  }

  #noteFreed(subnet: string): void {
    this.#freed.add(subnet);
    this.usage.mark(subnet);
  }

  #holdsSome(wish: AddressWish): boolean {
    return wish.subnets.some((subnet) => this.ledger.occupant(subnet, wish.claimant) !== undefined);
  }

  /** @returns whether the wish was granted */
  #answer(wish: AddressWish): boolean {
    const answer = this.#reserve(wish);
    if (answer.kind === 'granted') {
      this.#waiting.remove(wish.claimant);
      this.ledger.releaseElsewhere('reservation', wish.claimant, answer.subnet);
      this.usage.mark(answer.subnet);
    } else {
      this.ledger.release('reservation', wish.claimant);
      this.#waiting.put(wish.claimant, wish.subnets);
    }
    const before = this.#world.reservations.peek(wish.claimant);
    if (before === undefined || !sameReservation(before, answer)) this.#world.reservations.set(wish.claimant, answer);
    return answer.kind === 'granted';
  }

  /**
   * Why a wish for addresses by name would be refused now, in the words of its answer, and who has them; undefined where it would not be,
   * and for a wish for any address. Nothing is taken.
   */
  refusal(wish: AddressWish): WishRefusal | undefined {
    if (!isStatic(wish)) return undefined;
    this.#holders.settle();
    const refusals: AllocationFailure[] = [];
    for (const place of this.#places(wish)) {
      for (const asked of choices(wish)) {
        const failure: AllocationFailure | undefined =
          typeof asked === 'string'
            ? { ok: false, code: 'AddressOutOfRange', subject: 'subnet', message: asked, holders: [] }
            : this.ledger.refusal(place.subnet, request(place, wish, asked));
        if (failure === undefined) return undefined;
        refusals.push(failure);
      }
    }
    const [first] = refusals;
    return first === undefined
      ? undefined
      : { code: first.code, message: said(refusals), holders: refusals.flatMap(({ holders }) => holders) };
  }

  #reserve(wish: AddressWish): Reservation {
    const refusals: { readonly code: Reason; readonly message: string }[] = [];
    for (const place of this.#places(wish)) {
      const { subnet } = place;
      for (const asked of choices(wish)) {
        if (typeof asked === 'string') {
          refusals.push({ code: 'AddressOutOfRange', message: asked });
          continue;
        }
        const given = this.#allocate(subnet, wish, request(place, wish, asked));
        if (given.ok) {
          return {
            kind: 'granted',
            claimant: wish.claimant,
            subnet,
            v4: given.v4 === undefined ? '' : formatAddress(given.v4),
            v6: given.v6 === undefined ? '' : formatAddress(given.v6),
            mac: given.mac ?? '',
          };
        }
        refusals.push(given);
      }
    }
    const first = refusals[0] ?? { code: 'NoSubnet', message: 'no Subnet to take an address from' };
    return { kind: 'refused', claimant: wish.claimant, code: first.code, message: said(refusals.length === 0 ? [first] : refusals) };
  }

  /** Exactly what is asked for; for a wish that yields, another one of each that somebody has who goes first. */
  #allocate(subnet: string, wish: AddressWish, asked: AllocationRequest): Allocation {
    let given = this.ledger.allocate(subnet, asked);
    let instead = asked;
    for (let attempt = 1; attempt <= 4 && wish.yields === true && !given.ok && given.code === 'AddressConflict'; attempt++) {
      instead = without(instead, given.subject, derivedMac(wish.claimant, attempt));
      given = this.ledger.allocate(subnet, instead);
    }
    return given;
  }

  /** Where a wish may be met, in order. What the claimant holds decides before the order of Subnets and pools does. */
  #places(wish: AddressWish): readonly Place[] {
    const { subnets, pools } = wish;
    const holds = subnets.map((subnet) => this.ledger.occupant(subnet, wish.claimant) !== undefined);
    const held = subnets.filter((_, i) => holds[i]).map((subnet): Place => ({ subnet, ...(pools !== undefined && { pools }) }));
    if (pools === undefined) return [...held, ...subnets.filter((_, i) => !holds[i]).map((subnet) => ({ subnet }))];
    const inOrder: { readonly subnet: string; readonly pools: string[] }[] = [];
    for (const pool of pools) {
      const subnet = subnets.find((one) => this.#desired.pool(one)?.named[pool] !== undefined);
      const last = inOrder.at(-1);
      if (subnet === undefined) continue;
      if (last?.subnet === subnet) last.pools.push(pool);
      else inOrder.push({ subnet, pools: [pool] });
    }
    // Pools that are not in effect anywhere: the ledger says so by name.
    return inOrder.length > 0 ? [...held, ...inOrder] : subnets.map((subnet) => ({ subnet, pools }));
  }
}

function request({ pools }: Place, wish: AddressWish, asked: Dual<Address>): AllocationRequest {
  const mac = wish.mac === undefined ? undefined : parseMac(wish.mac);
  return {
    holder: {
      kind: 'reservation',
      key: wish.claimant,
      claimant: wish.claimant,
      rank: Date.parse(wish.since),
      ...(wish.share !== undefined && { share: wish.share }),
    },
    ...(wish.families === 'subnet' ? {} : { families: PROTOCOL[wish.families] }),
    ...(asked.v4 === undefined && asked.v6 === undefined ? {} : { static: asked }),
    ...(pools === undefined ? {} : { pools }),
    ...(mac === undefined ? {} : { mac }),
    ...(wish.withoutMac === true ? {} : { generateMac: (attempt: number) => derivedMac(wish.claimant, attempt) }),
  };
}

/** The request without the address or the MAC that could not be had by name. */
function without(asked: AllocationRequest, subject: AllocationFailure['subject'], mac: Mac): AllocationRequest {
  if (subject === 'mac') return { ...asked, mac };
  const { v4, v6 } = asked.static ?? {};
  const [taken, kept] = subject === 4 ? [v4, v6 === undefined ? {} : { v6 }] : [v6, v4 === undefined ? {} : { v4 }];
  return { ...asked, static: kept, skip: [...(asked.skip ?? []), ...(taken === undefined ? [] : [taken])] };
}

/** The first few of them, as one text. */
function said(refusals: readonly { readonly message: string }[]): string {
  return refusals
    .map(({ message }) => withoutIncarnations(message))
    .slice(0, 5)
    .join('; ');
}

/** A Subnet, or only some pools of it, the first with room first. */
interface Place {
  readonly subnet: string;
  readonly pools?: readonly string[];
}

/** The addresses to try by name, in order; one empty choice where any will do. Text that is no address is passed on as it is. */
function choices(wish: AddressWish): readonly (Dual<Address> | string)[] {
  if (wish.anyOf !== undefined && wish.anyOf.length > 0) return wish.anyOf.map((text) => dualOf(text));
  return [dualOf([wish.v4, wish.v6].filter((text) => text !== undefined && text !== '').join(','))];
}

function dualOf(text: string): Dual<Address> | string {
  if (text === '') return {};
  const parsed = parseDualAddress(text);
  if (!parsed.ok) return `the address "${text}" cannot be given: it ${parsed.problem}`;
  return { ...(parsed.v4 === undefined ? {} : { v4: parsed.v4 }), ...(parsed.v6 === undefined ? {} : { v6: parsed.v6 }) };
}

function isStatic(wish: AddressWish): boolean {
  return (wish.v4 ?? '') !== '' || (wish.v6 ?? '') !== '' || (wish.anyOf ?? []).length > 0 || wish.mac !== undefined;
}

/** Wishes of one kind can be carried out, or not, whoever asks. */
function kindOf({ subnets, pools = [], families }: AddressWish): string {
  return [families, pools.join(','), ...subnets].join(' ');
}

/** A MAC that the claimant alone decides: the same after a restart, without anything remembered. */
export function derivedMac(claimant: string, attempt: number): Mac {
  const text = attempt === 0 ? claimant : `${claimant}/${attempt}`;
  const bytes = new Uint8Array(6);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, hash32(text, 0x6b696c6e));
  view.setUint16(4, hash32(text, 0x6d616320) & 0xffff);
  return macFromBytes(bytes);
}

function sameReservation(a: Reservation, b: Reservation): boolean {
  if (a.kind === 'granted' && b.kind === 'granted') return a.subnet === b.subnet && a.v4 === b.v4 && a.v6 === b.v6 && a.mac === b.mac;
  return a.kind === 'refused' && b.kind === 'refused' && a.code === b.code && a.message === b.message;
}

/** A message to people names ports, not the pod uids behind them. */
export function withoutIncarnations(text: string): string {
  return text.replaceAll(/#[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '');
}
