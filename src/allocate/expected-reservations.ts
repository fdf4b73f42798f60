/**
 * At a start most interfaces have their addresses already. Before rules run first, each is given the reservation that its request will get,
 * so that the rule of a pod runs once and not twice. The request is answered like any other; a reservation without a request is removed.
 */
import type { Address } from '../net/address.ts';
import { formatAddress } from '../net/address.ts';
import { parseMac } from '../net/mac.ts';
import type { Reservation } from '../world/reservations.ts';
import type { Table } from '../engine/table.ts';

export class ExpectedReservations {
  readonly #reservations: Table<Reservation>;
  /** Claimants without a request so far. */
  readonly #expected = new Set<string>();
  /** `collecting`: rules have not run yet; `ready`: rules run; `ended`: all requests of the start are known. */
  #state: 'collecting' | 'ready' | 'ended' = 'collecting';

  constructor(reservations: Table<Reservation>) {
    this.#reservations = reservations;
  }

  get state(): 'collecting' | 'ready' | 'ended' {
    return this.#state;
  }

  /** An interface has these addresses and this MAC (or an empty text). */
  readonly expect = (claimant: string, subnet: string, addresses: readonly Address[], mac: string): void => {
    const [v4 = '', v6 = ''] = ([4, 6] as const).map((family) => addresses.find((one) => one.family === family)).map(textOf);
    this.#expected.add(claimant);
    this.#reservations.set(claimant, { kind: 'granted', claimant, subnet, v4, v6, mac: parseMac(mac) ?? '' });
  };

  complete(): void {
    this.#state = 'ready';
  }

  /** The claimant has requested its addresses, and is answered like any other. */
  requested(claimant: string): void {
    this.#expected.delete(claimant);
  }

  /** Removes the reservations of claimants without a request. */
  removeUnrequested(): void {
    this.#state = 'ended';
    for (const claimant of this.#expected) this.#reservations.delete(claimant);
    this.#expected.clear();
  }
}

function textOf(address: Address | undefined): string {
  return address === undefined ? '' : formatAddress(address);
}
