/**
 * The spec of a Subnet as it was last accepted, from its annotation `kiln.io/accepted-spec`: while a later spec is refused, it stays in
 * effect. It has the uid of its object, so a copy or a restored object does not claim the spec of the first one.
 */
import type { SubnetSpec } from '../kinds/subnet.ts';
import { subnetKind } from '../kinds/subnet.ts';
import type { Labels } from '../kubernetes/meta.ts';
import { fitsSchema } from '../schema/fits-schema.ts';
import { kilnAnnotation } from '../well-known.ts';

/** All annotations of an object have 256 KiB together, and `kubectl apply` keeps the spec in one as well. */
const LONGEST = 100_000;

/** Undefined without the annotation, if it is no spec, or if it has the uid of another object. */
export function acceptedSpecIn(annotations: Labels, uid: string): SubnetSpec | undefined {
  const text = annotations[kilnAnnotation.acceptedSpec];
  const read = text === undefined ? undefined : parsed(text);
  if (read?.['uid'] !== uid || !fitsSchema(read['spec'], subnetKind.spec.node)) return undefined;
  return read['spec'] as SubnetSpec;
}

/** The same text in every process; undefined for a spec that is too long, or has what its schema does not know. */
export function acceptedSpecText(uid: string, spec: SubnetSpec): string | undefined {
  const text = fitsSchema(spec, subnetKind.spec.node) ? JSON.stringify({ uid, spec }, inOrder) : '';
  return text === '' || text.length > LONGEST ? undefined : text;
}

/** The order of fields may differ from answer to answer of the API server. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
