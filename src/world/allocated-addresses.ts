/**
 * The addresses that Kiln allocated to a Vip or an EIP, from its annotation `kiln.io/given`. A user may edit spec and status (a Vip's
 * status with `kubectl edit`): the spec requests, the status reports, and only the annotation decides what the object holds. It has the uid
 * of its object, so a copy or a restored object does not claim the addresses of the first one.
 */
import type { Labels } from '../api/kubernetes/meta.ts';
import { kilnAnnotation } from '../api/well-known.ts';
import type { Family } from '../net/address.ts';
import { parseAddress } from '../net/address.ts';

/** Each text is empty for none. */
export interface AllocatedAddresses {
  readonly subnet: string;
  /** Empty also for kinds without types. */
  readonly type: string;
  readonly v4: string;
  readonly v6: string;
  readonly mac: string;
}

const FIELDS = ['subnet', 'type', 'v4', 'v6', 'mac'] as const;

/** Undefined without the annotation, if it is malformed, or if it has the uid of another object. */
export function allocatedAddressesIn(annotations: Labels, uid: string): AllocatedAddresses | undefined {
  const text = annotations[kilnAnnotation.given];
  const read = text === undefined ? undefined : parsed(text);
  if (read?.['uid'] !== uid || FIELDS.some((field) => typeof read[field] !== 'string')) return undefined;
  const { subnet, type, v4, v6, mac } = read as unknown as AllocatedAddresses;
  return subnet !== '' && areAddresses(v4, v6) ? { subnet, type, v4, v6, mac } : undefined;
}

/** Whether each text is an address of its family or empty, and one is not: of anything else nobody can hold it, nor write it back. */
export function areAddresses(v4: string, v6: string): boolean {
  const isFit = (text: string, family: Family): boolean => text === '' || parseAddress(text)?.family === family;
  return v4 + v6 !== '' && isFit(v4, 4) && isFit(v6, 6);
}

export function allocatedAddressesText(uid: string, { subnet, type, v4, v6, mac }: AllocatedAddresses): string {
  return JSON.stringify({ uid, subnet, type, v4, v6, mac });
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
