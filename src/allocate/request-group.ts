/** Requests that are answered together, and their answers. */
import type { AddressRequest, Reservation } from '../world/reservations.ts';

/** Requests that are granted together or not at all; mostly one. */
export type Group = readonly AddressRequest[];

/** One answer for each request of a group; undefined for a request that could be granted while another one failed. */
export type Answers = readonly (Reservation | undefined)[];

export function sameReservation(a: Reservation | undefined, b: Reservation | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind === 'granted' && b.kind === 'granted') return a.subnet === b.subnet && a.v4 === b.v4 && a.v6 === b.v6 && a.mac === b.mac;
  return a.kind === 'failed' && b.kind === 'failed' && a.code === b.code && a.message === b.message;
}
