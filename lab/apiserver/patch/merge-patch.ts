/** JSON Merge Patch (RFC 7386). */
import type { Json, JsonObject } from '../json.ts';
import { clone, isObject } from '../json.ts';

/** `target` is not changed; the result shares the parts that the patch does not name. */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return clone(patch);
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key] ?? {}, value);
  }
  return result;
}
