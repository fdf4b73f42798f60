/**
 * The addresses that Kiln allocated to a Vip or an EIP, from its annotation `kiln.io/given`. A user may edit spec and status (a Vip's
 * status with `kubectl edit`): the spec requests, the status reports, and only the annotation decides what the object holds. It has the uid
 * of its object, so a copy or a restored object does not claim the addresses of the first one.
 */
import type { Labels } from '../api/kubernetes/meta.ts';
import { kilnAnnotation } from '../api/well-known.ts';

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
  return subnet === '' || (v4 === '' && v6 === '') ? undefined : { subnet, type, v4, v6, mac };
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
