/**
 * The spec fields that a client owns by server-side apply, as GitOps tools do. If another client changes such a field, the next apply ends
 * in a conflict.
 */
import { CONTROLLER_LEASE } from '../well-known.ts';

/** An entry of `metadata.managedFields`, as the API server serves it or reduced for the cache. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: unknown;
}

/** Sorted names of top-level spec fields that a client other than Kiln applied. */
export function appliedFields(managedFields: unknown): readonly string[] {
  if (!Array.isArray(managedFields)) return [];
  const names = (managedFields as readonly ManagedFields[]).flatMap(({ manager, operation, subresource = '', fieldsV1 }) =>
    operation === 'Apply' && manager !== CONTROLLER_LEASE && subresource === '' ? inSpec(fieldsV1) : [],
  );
  return [...new Set(names)].sort();
}

/** The part of `managedFields` that `appliedFields` reads; undefined if there is none. */
export function relevantManagedFields(managedFields: unknown): readonly ManagedFields[] | undefined {
  const names = appliedFields(managedFields);
  if (names.length === 0) return undefined;
  return [{ operation: 'Apply', fieldsV1: { 'f:spec': Object.fromEntries(names.map((name) => [`f:${name}`, {}])) } }];
}

function inSpec(fields: unknown): readonly string[] {
  const spec = isRecord(fields) ? fields['f:spec'] : undefined;
  if (!isRecord(spec)) return [];
  return Object.keys(spec).flatMap((key) => (key.startsWith('f:') ? [key.slice(2)] : []));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
