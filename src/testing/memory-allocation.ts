/**
 * The allocation step for tests of rules: pools and wishes of the rules go to the real ledger, its answers into the World.
 */
import type { Desired } from '../compile/desired.ts';
import { Ledger } from '../ipam/ledger.ts';
import { parseSubnetFields } from '../ipam/subnet-spec.ts';
import type { Usage } from '../ipam/usage.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import type { Address } from '../net/address.ts';
import { joinDual, splitList } from '../net/dual.ts';
import type { Dual } from '../net/dual.ts';
import { macFromBytes, parseMac } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import { hash32 } from '../nb/row-id.ts';
import type { AddressWish, FamilyUsage, Reservation } from '../world/reservations.ts';
import { claimantOfIp } from '../world/claimants.ts';
import { equal } from '../world/equal.ts';
import type { World } from '../world/world.ts';

export class MemoryAllocation {
  readonly ledger = new Ledger();
  readonly #world: World;
  readonly #desired: Desired;
  readonly #pools = new Set<string>();

  constructor(world: World, desired: Desired) {
    this.#world = world;
    this.#desired = desired;
    world.ips.onChange((_name, after, before) => {
      if (before !== undefined && after?.metadata.uid !== before.metadata.uid) this.ledger.release('ip', before.metadata.uid);
      if (after === undefined) return;
      const { v4IpAddress = '', v6IpAddress = '', macAddress = '', subnet = '' } = after.spec;
      const addresses = [v4IpAddress, v6IpAddress].flatMap((text) => parseAddress(text) ?? []);
      const mac = parseMac(macAddress);
      this.ledger.hold(subnet, { kind: 'ip', key: after.metadata.uid, claimant: claimantOfIp(after) }, { addresses, ...(mac !== undefined && { mac }) });
    });
  }

  /** @returns whether the World changed */
  step(): boolean {
    const { usage, reservations } = this.#world;
    let changed = false;
    for (const subnet of this.#desired.dirtyPools) changed = this.#pool(subnet) || changed;
    this.#desired.dirtyPools.clear();
    for (const claimant of [...reservations.entries()].map(([key]) => key)) {
      if (this.#desired.wish(claimant) !== undefined) continue;
      this.ledger.release('reservation', claimant);
      reservations.delete(claimant);
      changed = true;
    }
    for (const wish of [...this.#desired.wishes.values()].toSorted((a, b) => (a.since < b.since ? -1 : 1))) {
      const answer = this.#grant(wish);
      if (equal(reservations.peek(wish.claimant), answer)) continue;
      reservations.set(wish.claimant, answer);
      changed = true;
    }
    this.#desired.dirtyWishes.clear();
    for (const name of this.#pools) {
      const now = this.ledger.usage(name);
      if (now === undefined || equal(usage.peek(name), familiesOf(now))) continue;
      usage.set(name, familiesOf(now));
      changed = true;
    }
    return changed;
  }

  #pool(name: string): boolean {
    const pool = this.#desired.pool(name);
    if (pool === undefined) {
      this.ledger.removeSubnet(name);
      this.#world.usage.delete(name);
      return this.#pools.delete(name);
    }
    this.#pools.add(name);
    const pools = Object.entries(pool.named).map(([each, ips]) => ({ name: each, ips }));
    const fields = parseSubnetFields({
      cidrBlock: joinDual({ ...(pool.v4 !== undefined && { v4: pool.v4 }), ...(pool.v6 !== undefined && { v6: pool.v6 }) }),
      gateway: pool.gateways.join(','),
      excludeIps: pool.excludeIps,
      pools,
    });
    if (!fields.ok) throw new Error(`pool of ${name}: ${fields.field} ${fields.problem}`);
    this.ledger.upsertSubnet(name, fields.spec);
    return true;
  }

  #grant(wish: AddressWish): Reservation {
    const tries = wish.anyOf?.map(dualOf) ?? [dualOf(joinDual({ ...(wish.v4 !== undefined && { v4: wish.v4 }), ...(wish.v6 !== undefined && { v6: wish.v6 }) }))];
    let refused: Reservation = { kind: 'refused', claimant: wish.claimant, code: 'NoSubnet', message: 'no Subnet' };
    const { claimant } = wish;
    for (const subnet of wish.subnets) {
      for (const wanted of tries) {
        const mac = wish.mac === undefined ? undefined : parseMac(wish.mac);
        const answer = this.ledger.allocate(subnet, {
          holder: { kind: 'reservation', key: claimant, claimant },
          ...(wish.families !== 'subnet' && { families: ({ v4: 'IPv4', v6: 'IPv6', dual: 'Dual' } as const)[wish.families] }),
          static: wanted,
          ...(wish.pool !== undefined && { pools: [wish.pool] }),
          ...(mac !== undefined && { mac }),
          generateMac: (attempt) => macOf(claimant, attempt),
        });
        if (answer.ok) {
          const text = (address: Address | undefined): string => (address === undefined ? '' : formatAddress(address));
          return { kind: 'granted', claimant, subnet, v4: text(answer.v4), v6: text(answer.v6), mac: answer.mac ?? '' };
        }
        refused = { kind: 'refused', claimant, code: answer.code, message: answer.message };
      }
    }
    return refused;
  }
}

function familiesOf(usage: Usage): { v4: FamilyUsage; v6: FamilyUsage } {
  const nothing: FamilyUsage = { available: 0n, using: 0n, availableRange: '', usingRange: '' };
  return { v4: usage.v4 ?? nothing, v6: usage.v6 ?? nothing };
}

function dualOf(text: string): Dual<Address> {
  const addresses = splitList(text).flatMap((item) => parseAddress(item) ?? []);
  const v4 = addresses.find(({ family }) => family === 4);
  const v6 = addresses.find(({ family }) => family === 6);
  return { ...(v4 !== undefined && { v4 }), ...(v6 !== undefined && { v6 }) };
}

function macOf(claimant: string, attempt: number): Mac {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, hash32(`${claimant} ${attempt}`, 1));
  view.setUint32(4, hash32(`${claimant} ${attempt}`, 2));
  return macFromBytes(bytes);
}
