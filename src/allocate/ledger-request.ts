/**
 * Translates an address request into requests to the ledger.
 */
import type { AllocationFailure, AllocationRequest } from '../ipam/allocation.ts';
import type { Address } from '../net/address.ts';
import type { Dual } from '../net/dual.ts';
import { parseAddress } from '../net/address.ts';
import { parseDualAddress } from '../net/dual.ts';
import type { Mac } from '../net/mac.ts';
import { macFromBytes, parseMac } from '../net/mac.ts';
import { hash32 } from '../nb/row-id.ts';
import type { AddressRequest } from '../world/reservations.ts';

const PROTOCOL = { v4: 'IPv4', v6: 'IPv6', dual: 'Dual' } as const;

/** A Subnet, or some pools of it, in order of preference. */
export interface AllocationTarget {
  readonly subnet: string;
  readonly pools?: readonly string[];
}

export function ledgerRequest({ pools }: AllocationTarget, request: AddressRequest, choice: Dual<Address>): AllocationRequest {
  const mac = request.mac === undefined ? undefined : parseMac(request.mac);
  return {
    holder: {
      kind: 'reservation',
      key: request.claimant,
      claimant: request.claimant,
      rank: Date.parse(request.since),
      ...(request.sharingGroup !== undefined && { sharingGroup: request.sharingGroup }),
    },
    ...(request.families === 'subnet' ? {} : { families: PROTOCOL[request.families] }),
    ...(choice.v4 === undefined && choice.v6 === undefined ? {} : { static: choice }),
    ...(pools === undefined ? {} : { pools }),
    ...(request.avoid === undefined ? {} : { skip: request.avoid.flatMap((text) => parseAddress(text) ?? []) }),
    ...(mac === undefined ? {} : { mac }),
    ...(request.withoutMac === true ? {} : { generateMac: (attempt: number) => derivedMac(request.claimant, attempt) }),
  };
}

/** The request without the address or MAC that failed. */
export function without(choice: AllocationRequest, subject: AllocationFailure['subject'], mac: Mac): AllocationRequest {
  if (subject === 'mac') return { ...choice, mac };
  const { v4, v6 } = choice.static ?? {};
  const [taken, kept] = subject === 4 ? [v4, v6 === undefined ? {} : { v6 }] : [v6, v4 === undefined ? {} : { v4 }];
  return { ...choice, static: kept, skip: [...(choice.skip ?? []), ...(taken === undefined ? [] : [taken])] };
}

/**
 * The requested addresses to try, in order; one empty choice if any address will do. Text that is no address is returned as an error
 * message.
 */
export function choices(request: AddressRequest): readonly (Dual<Address> | string)[] {
  if (request.anyOf !== undefined && request.anyOf.length > 0) return request.anyOf.map((text) => dualOf(text));
  return [dualOf([request.v4, request.v6].filter((text) => text !== undefined && text !== '').join(','))];
}

function dualOf(text: string): Dual<Address> | string {
  if (text === '') return {};
  const parsed = parseDualAddress(text);
  if (!parsed.ok) return `the address "${text}" cannot be allocated: it ${parsed.problem}`;
  return { ...(parsed.v4 === undefined ? {} : { v4: parsed.v4 }), ...(parsed.v6 === undefined ? {} : { v6: parsed.v6 }) };
}

export function isStatic(request: AddressRequest): boolean {
  return (request.v4 ?? '') !== '' || (request.v6 ?? '') !== '' || (request.anyOf ?? []).length > 0 || request.mac !== undefined;
}

/** Requests of one kind succeed or fail alike, whichever claimant has them. */
export function kindOf({ subnets, pools = [], families, ofNode, avoid = [] }: AddressRequest): string {
  return [families, avoid.join(','), pools.join(','), ofNode === true ? 'node' : '', ...subnets].join(' ');
}

/** A MAC derived from the claimant's name: the same after a restart, without any state. */
export function derivedMac(claimant: string, attempt: number): Mac {
  const text = attempt === 0 ? claimant : `${claimant}/${attempt}`;
  const bytes = new Uint8Array(6);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, hash32(text, 0x6b696c6e));
  view.setUint16(4, hash32(text, 0x6d616320) & 0xffff);
  return macFromBytes(bytes);
}
