/** Answers one address request from the ledger: tries its targets in order, and in each the addresses that it names. */
import type { DesiredAddresses } from '../compile/desired-addresses.ts';
import type { Allocation, AllocationRequest } from '../ipam/allocation.ts';
import type { Ledger } from '../ipam/ledger.ts';
import { formatAddress } from '../net/address.ts';
import type { AddressRequest, Reservation } from '../world/reservations.ts';
import type { World } from '../world/world.ts';
import type { Failure } from './allocation-failure.ts';
import { failedReservation, nodesOnly, unreadableAddress } from './allocation-failure.ts';
import type { AllocationTarget } from './ledger-request.ts';
import { choices, derivedMac, ledgerRequest, without } from './ledger-request.ts';

export class SingleAnswer {
  readonly #world: World;
  readonly #desired: DesiredAddresses;
  readonly #ledger: Ledger;

  constructor(world: World, desired: DesiredAddresses, ledger: Ledger) {
    this.#world = world;
    this.#desired = desired;
    this.#ledger = ledger;
  }

  /** The claimant holds an address in one of the Subnets. */
  holdsSome(request: AddressRequest): boolean {
    return request.subnets.some((subnet) => this.#ledger.has(subnet, request.claimant));
  }

  /** All failures of a request, in the order of its targets; undefined if it would be granted. Allocates nothing. */
  failures(request: AddressRequest): readonly Failure[] | undefined {
    const failures: Failure[] = [];
    for (const target of this.#targets(request)) {
      for (const choice of choices(request)) {
        const failure =
          nodesOnly(this.#world.settings.joinSubnet, target, request) ??
          (typeof choice === 'string'
            ? unreadableAddress(choice)
            : this.#ledger.check(target.subnet, ledgerRequest(target, request, choice)));
        if (failure === undefined) return undefined;
        failures.push(failure);
      }
    }
    return failures;
  }

  /** Allocates in the ledger. */
  reserve(request: AddressRequest): Reservation {
    const failures: Failure[] = [];
    for (const target of this.#targets(request)) {
      const { subnet } = target;
      for (const choice of choices(request)) {
        const allocated =
          nodesOnly(this.#world.settings.joinSubnet, target, request) ??
          (typeof choice === 'string'
            ? unreadableAddress(choice)
            : this.#allocate(subnet, request, ledgerRequest(target, request, choice)));
        if (allocated.ok) {
          return {
            kind: 'granted',
            claimant: request.claimant,
            subnet,
            v4: allocated.v4 === undefined ? '' : formatAddress(allocated.v4),
            v6: allocated.v6 === undefined ? '' : formatAddress(allocated.v6),
            mac: allocated.mac ?? '',
          };
        }
        failures.push(allocated);
      }
    }
    return failedReservation(request, failures);
  }

  /**
   * Allocates exactly what is requested. A request that yields gets another address or MAC for each that a claimant with precedence has.
   */
  #allocate(subnet: string, request: AddressRequest, exact: AllocationRequest): Allocation {
    let allocated = this.#ledger.allocate(subnet, exact);
    let instead = exact;
    for (let attempt = 1; attempt <= 4 && request.yields === true && !allocated.ok && allocated.code === 'AddressConflict'; attempt++) {
      instead = without(instead, allocated.subject, derivedMac(request.claimant, attempt));
      allocated = this.#ledger.allocate(subnet, instead);
    }
    return allocated;
  }

  /** Targets of a request, in order. A Subnet in which the claimant holds an address comes first. */
  #targets(request: AddressRequest): readonly AllocationTarget[] {
    const { subnets, pools } = request;
    const holds = subnets.map((subnet) => this.#ledger.has(subnet, request.claimant));
    const held = subnets.filter((_, i) => holds[i]).map((subnet): AllocationTarget => ({ subnet, ...(pools !== undefined && { pools }) }));
    if (pools === undefined) return [...held, ...subnets.filter((_, i) => !holds[i]).map((subnet) => ({ subnet }))];
    const inOrder: { readonly subnet: string; readonly pools: string[] }[] = [];
    for (const pool of pools) {
      const subnet = subnets.find((one) => this.#desired.pool(one)?.named.some(({ name }) => name === pool) === true);
      const last = inOrder.at(-1);
      if (subnet === undefined) continue;
      if (last?.subnet === subnet) last.pools.push(pool);
      else inOrder.push({ subnet, pools: [pool] });
    }
    // None of the pools is in effect: the ledger's failure names them.
    return inOrder.length > 0 ? [...held, ...inOrder] : subnets.map((subnet) => ({ subnet, pools }));
  }
}
