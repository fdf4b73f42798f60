/**
 * What a Vip or an EIP was given, as its annotation says. Spec and status are anybody's to edit, a Vip's status with `kubectl edit`: the one
 * asks, the other tells. The uid keeps a copy, or an object restored under the name, from saying that it has what the first was given.
 */
import type { Labels } from '../api/meta.ts';
import { kilnAnnotation } from '../api/well-known.ts';

/** Empty texts where there is none. */
export interface Given {
  readonly subnet: string;
  /** Empty also of kinds that have no types. */
  readonly type: string;
  readonly v4: string;
  readonly v6: string;
  readonly mac: string;
}

const FIELDS = ['subnet', 'type', 'v4', 'v6', 'mac'] as const;

/** Undefined where there is none, somebody wrote nonsense there, or it is another object's. */
export function givenIn(annotations: Labels, uid: string): Given | undefined {
  const text = annotations[kilnAnnotation.given];
  const read = text === undefined ? undefined : parsed(text);
  if (read?.['uid'] !== uid || FIELDS.some((field) => typeof read[field] !== 'string')) return undefined;
  const { subnet, type, v4, v6, mac } = read as unknown as Given;
  return subnet === '' || (v4 === '' && v6 === '') ? undefined : { subnet, type, v4, v6, mac };
}

export function givenText(uid: string, { subnet, type, v4, v6, mac }: Given): string {
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
