/**
 * Publishes the address usage of Subnets and pools in tables of the World, each at most once a second under load, since the text of a
 * fragmented Subnet is long.
 */
import { formatAddress } from '../net/address.ts';
import type { Dual } from '../net/dual.ts';
import type { Ledger } from '../ipam/ledger.ts';
import type { FamilyUsage as LedgerUsage } from '../ipam/usage.ts';
import type { FamilyUsage, ForeignPortAddresses, SubnetUsage } from '../world/reservations.ts';
import { equal } from '../engine/equal.ts';
import { portOfClaimant } from '../world/claimants.ts';
import type { World } from '../world/world.ts';

const EMPTY: FamilyUsage = { available: 0n, using: 0n, availableRange: '', usingRange: '' };

export class UsagePublisher {
  readonly #world: World;
  readonly #ledger: Ledger;
  /** Time of the last publication of each Subnet, in monotonic milliseconds. */
  readonly #published = new Map<string, number>();
  readonly #marked = new Set<string>();
  readonly #pools = new Map<string, readonly string[]>();
  /** By pool: the Subnet under which it was last published. A pool may move to another Subnet. */
  readonly #poolHomes = new Map<string, string>();
  /** By Subnet, by claimant: the other claimants of its addresses. */
  readonly #conflicts = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();

  constructor(world: World, ledger: Ledger) {
    this.#world = world;
    this.#ledger = ledger;
  }

  /**
   * Publishes the changed Subnets.
   * @param now monotonic milliseconds
   * @returns milliseconds until the next Subnet is due; undefined if none is
   */
  publish(now: number, intervalMs: number): number | undefined {
    for (const subnet of this.#ledger.takeChanged()) this.#marked.add(subnet);
    let next: number | undefined;
    for (const subnet of this.#marked) {
      const last = this.#published.get(subnet);
      const wait = last === undefined ? 0 : last + intervalMs - now;
      if (wait > 0) {
        next = Math.min(next ?? wait, wait);
        continue;
      }
      this.#marked.delete(subnet);
      this.#publishOne(subnet, now);
    }
    return next;
  }

  #publishOne(subnet: string, now: number): void {
    const usage = this.#ledger.usage(subnet);
    this.#publishConflicts(subnet);
    if (usage === undefined) {
      this.#published.delete(subnet);
      this.#world.usage.delete(subnet);
      this.#publishPools(subnet, new Map());
      return;
    }
    this.#published.set(subnet, now);
    const kept = ([4, 6] as const).flatMap((family) => {
      const found = this.#ledger.keptBack(subnet, family);
      return found === undefined ? [] : [{ family, ...found }];
    });
    const foreignPorts = kept.flatMap(({ family, foreignPorts: found }): readonly ForeignPortAddresses[] =>
      found === undefined ? [] : [{ family, ...found }],
    );
    const nodeAddresses = kept.flatMap((one) => one.nodeAddresses);
    const shown = {
      ...subnetUsage(usage),
      ...(foreignPorts.length > 0 && { foreignPorts }),
      ...(nodeAddresses.length > 0 && { nodeAddresses }),
    };
    if (!equal(this.#world.usage.peek(subnet), shown)) this.#world.usage.set(subnet, shown);
    this.#publishPools(subnet, usage.pools);
  }

  #publishPools(subnet: string, pools: ReadonlyMap<string, Dual<LedgerUsage>>): void {
    for (const name of this.#pools.get(subnet) ?? []) {
      if (pools.has(name) || this.#poolHomes.get(name) !== subnet) continue;
      this.#poolHomes.delete(name);
      this.#world.poolUsage.delete(name);
    }
    for (const [name, usage] of pools) {
      const shown = subnetUsage(usage);
      this.#poolHomes.set(name, subnet);
      if (!equal(this.#world.poolUsage.peek(name), shown)) this.#world.poolUsage.set(name, shown);
    }
    if (pools.size > 0) this.#pools.set(subnet, [...pools.keys()]);
    else this.#pools.delete(subnet);
  }

  /** For each claimant in conflict: the other claimants and what they have, in any Subnet. */
  #publishConflicts(subnet: string): void {
    const before = this.#conflicts.get(subnet);
    const rivals = new Map<string, Set<string>>();
    if (this.#ledger.hasConflicts(subnet)) {
      for (const conflict of this.#ledger.conflicts(subnet)) {
        const claimants = new Set(conflict.holders.map((holder) => holder.claimant));
        const what = conflict.subject.kind === 'address' ? formatAddress(conflict.subject.address) : conflict.subject.mac;
        for (const claimant of claimants) {
          const others = rivals.get(claimant) ?? new Set();
          for (const other of claimants) if (other !== claimant) others.add(`${portOfClaimant(other)} (${what} of Subnet ${subnet})`);
          if (conflict.gateway) others.add(`the gateway (${what} of Subnet ${subnet})`);
          rivals.set(claimant, others);
        }
      }
    }
    if (rivals.size > 0) this.#conflicts.set(subnet, rivals);
    else this.#conflicts.delete(subnet);
    for (const claimant of new Set([...(before?.keys() ?? []), ...rivals.keys()])) this.#publishRivals(claimant);
  }

  #publishRivals(claimant: string): void {
    const { addressConflicts } = this.#world;
    const found = [...this.#conflicts.values()].flatMap((rivals) => rivals.get(claimant) ?? []);
    if (found.length === 0) {
      addressConflicts.delete(claimant);
      return;
    }
    const list = [...new Set(found.flatMap((others) => [...others]))].toSorted();
    if (!equal(addressConflicts.peek(claimant), list)) addressConflicts.set(claimant, list);
  }
}

function subnetUsage(usage: Dual<LedgerUsage>): SubnetUsage {
  return { v4: usage.v4 ?? EMPTY, v6: usage.v6 ?? EMPTY };
}
