/**
 * Values of one or both families, and Kube-OVN's comma lists of them: `10.16.0.5,fd00:10:16::5`.
 * Written lists have IPv4 first; read lists may have any order.
 */

import { addressProblem, formatAddress, parseAddress } from './address.ts';
import type { Address, Family } from './address.ts';
import { cidrProblem, formatCidr, parseCidr } from './cidr.ts';
import type { Cidr } from './cidr.ts';

/** At most one value of each family. */
export interface Dual<T> {
  readonly v4?: T;
  readonly v6?: T;
}

export type DualResult<T> = ({ readonly ok: true } & Dual<T>) | { readonly ok: false; readonly problem: string };

/** Subnet.spec.protocol, which follows from the CIDR. */
export type Protocol = 'IPv4' | 'IPv6' | 'Dual';

/** The items of a comma list, blanks around them removed; the empty text has none. */
export function splitList(text: string): string[] {
  return text.trim() === '' ? [] : text.split(',').map((item) => item.trim());
}

/** One address, or one of each family. The problem reads after the quoted value: `"x" <problem>`. */
export function parseDualAddress(text: string): DualResult<Address> {
  return parseDual(text, parseAddress, addressProblem);
}

/** One CIDR, or one of each family; host bits cleared. */
export function parseDualCidr(text: string): DualResult<Cidr> {
  return parseDual(text, parseCidr, cidrProblem);
}

/** IPv4 first, comma, no blank; the empty text for neither. */
export function joinDual(dual: Dual<string>): string {
  return [dual.v4, dual.v6].filter((item) => item !== undefined && item !== '').join(',');
}

export function formatDualAddress(dual: Dual<Address>): string {
  return joinDual(mapDual(dual, formatAddress));
}

export function formatDualCidr(dual: Dual<Cidr>): string {
  return joinDual(mapDual(dual, formatCidr));
}

/** Applies `change` to each present value. */
export function mapDual<T, U>(dual: Dual<T>, change: (value: T, family: Family) => U): Dual<U> {
  return {
    ...(dual.v4 === undefined ? {} : { v4: change(dual.v4, 4) }),
    ...(dual.v6 === undefined ? {} : { v6: change(dual.v6, 6) }),
  };
}

/** The value of one family. */
export function ofFamily<T>(dual: Dual<T>, family: Family): T | undefined {
  return family === 4 ? dual.v4 : dual.v6;
}

/** The families present, IPv4 first. */
export function familiesOf(dual: Dual<unknown>): Family[] {
  const families: Family[] = [];
  if (dual.v4 !== undefined) families.push(4);
  if (dual.v6 !== undefined) families.push(6);
  return families;
}

/** Undefined for neither family. */
export function protocolOf(dual: Dual<unknown>): Protocol | undefined {
  if (dual.v4 !== undefined) return dual.v6 === undefined ? 'IPv4' : 'Dual';
  return dual.v6 === undefined ? undefined : 'IPv6';
}

function parseDual<T extends { readonly family: Family }>(
  text: string,
  parse: (item: string) => T | undefined,
  problemOf: (item: string) => string | undefined,
): DualResult<T> {
  let v4: T | undefined;
  let v6: T | undefined;
  const items = splitList(text);
  if (items.length === 0) return { ok: false, problem: 'is empty' };
  for (const item of items) {
    const value = parse(item);
    if (value === undefined)
      return { ok: false, problem: items.length === 1 ? `${problemOf(item)}` : `holds "${item}", which ${problemOf(item)}` };
    if ((value.family === 4 ? v4 : v6) !== undefined)
      return { ok: false, problem: `holds two values of family IPv${value.family}; one of each family at most` };
    if (value.family === 4) v4 = value;
    else v6 = value;
  }
  return { ok: true, ...(v4 === undefined ? {} : { v4 }), ...(v6 === undefined ? {} : { v6 }) };
}
