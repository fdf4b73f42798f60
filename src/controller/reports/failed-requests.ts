/** Number of interfaces with an allocation failure, by code, updated with the reservations. */
import type { AllocationCode } from '../../ipam/allocation.ts';
import type { Reservation } from '../../world/reservations.ts';
import type { Table } from '../../engine/table.ts';

const CODES: Readonly<Record<AllocationCode, 0>> = {
  NoSubnet: 0,
  InvalidIPFamily: 0,
  AddressOutOfRange: 0,
  AddressConflict: 0,
  NoAvailableAddress: 0,
};

export class FailedRequests {
  readonly counts = new Map<string, number>(Object.entries(CODES));

  constructor(reservations: Table<Reservation>) {
    for (const [, reservation] of reservations.entries()) this.#count(reservation, 1);
    reservations.onChange((_, after, before) => {
      this.#count(before, -1);
      this.#count(after, 1);
    });
  }

  #count(reservation: Reservation | undefined, by: 1 | -1): void {
    if (reservation?.kind !== 'failed') return;
    this.counts.set(reservation.code, (this.counts.get(reservation.code) ?? 0) + by);
  }
}
