/** Which fields of a spec a client owns by server-side apply: GitOps tools do. The API server refuses its next apply where another wrote them. */
import { CONTROLLER_LEASE } from '../well-known.ts';

/** As the API server serves it, or as little of it as is kept. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: unknown;
}

/** Names of fields directly in the spec that somebody but Kiln applied, sorted. */
export function appliedFields(managedFields: unknown): readonly string[] {
  if (!Array.isArray(managedFields)) return [];
  const names = (managedFields as readonly ManagedFields[]).flatMap(({ manager, operation, subresource = '', fieldsV1 }) =>
    operation === 'Apply' && manager !== CONTROLLER_LEASE && subresource === '' ? inSpec(fieldsV1) : [],
  );
  return [...new Set(names)].sort();
}

/** What `appliedFields` reads of it, and nothing else; undefined where that is nothing. */
export function keptManagedFields(managedFields: unknown): readonly ManagedFields[] | undefined {
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
