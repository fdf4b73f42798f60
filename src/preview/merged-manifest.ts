/** What `kubectl apply` makes of a manifest and the object that exists: a merge by fields (RFC 7396), without those taken out since. */
import type { ReviewedObject } from '../webhook/protocol/admission-review.ts';

type Fields = Readonly<Record<string, unknown>>;

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export function mergedManifest(live: ReviewedObject, manifest: ReviewedObject): ReviewedObject {
  const before = lastApplied(live);
  const { status: _, ...written } = manifest;
  return merged(
    live as unknown as Fields,
    before === undefined ? written : { ...removals(before, written), ...written },
    before,
  ) as unknown as ReviewedObject;
}

function lastApplied({ metadata: { annotations = {} } }: ReviewedObject): Fields | undefined {
  try {
    const parsed: unknown = JSON.parse(annotations[LAST_APPLIED] ?? '');
    return isFields(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Lists are replaced as a whole. @param applied the same part of what was applied last */
function merged(live: Fields, patch: Fields, applied: Fields | undefined): Fields {
  const result: Record<string, unknown> = { ...live };
  for (const [name, value] of Object.entries(patch)) {
    const [held, last] = [live[name], applied?.[name]];
    if (value === null) delete result[name];
    else if (isFields(value) && isFields(held)) {
      const inner = isFields(last) ? last : undefined;
      result[name] = merged(held, inner === undefined ? value : { ...removals(inner, value), ...value }, inner);
    } else result[name] = value;
  }
  return result;
}

/** A null for each field that was applied and is not in the manifest any more. */
function removals(applied: Fields, manifest: Fields): Fields {
  return Object.fromEntries(Object.keys(applied).flatMap((name) => (name in manifest || name === 'status' ? [] : [[name, null]])));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
