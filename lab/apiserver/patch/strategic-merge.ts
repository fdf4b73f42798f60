/**
 * Strategic merge patch of built-in kinds: lists merge by the merge key of their type, with the directives `$patch`, `$setElementOrder`,
 * `$deleteFromPrimitiveList` and `$retainKeys` that `kubectl apply` sends.
 */
import type { Json, JsonObject } from '../json.ts';
import { clone, equal, goPrinted, isObject } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { ApiError, badRequest } from '../status.ts';

const ORDER = '$setElementOrder/';
const DELETE_SCALARS = '$deleteFromPrimitiveList/';
const RETAIN = '$retainKeys';
const DIRECTIVE = '$patch';

/** @throws ApiError 400 */
export function applyStrategicMerge(schema: Schema, target: Json, patch: Json): Json {
  if (!isObject(patch)) throw badRequest('the strategic merge patch is not an object');
  return mergeObject(schema, isObject(target) ? target : {}, patch);
}

function mergeObject(schema: Schema, target: JsonObject, patch: JsonObject): JsonObject {
  const directive = patch[DIRECTIVE];
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge')
    throw badRequest(`Unknown patch type found in the patch: ${JSON.stringify(directive)}`);
  const retained = patch[RETAIN];
  if (Array.isArray(retained)) for (const key of Object.keys(target)) if (!retained.includes(key)) delete target[key];
  const kept = new Map<string, readonly Json[]>();
  for (const [key, value] of Object.entries(target)) if (Array.isArray(value)) kept.set(key, value);
  for (const [key, value] of Object.entries(patch)) {
    if (key === DIRECTIVE || key === RETAIN || key.startsWith(ORDER)) continue;
    if (key.startsWith(DELETE_SCALARS)) {
      const field = key.slice(DELETE_SCALARS.length);
      const current = target[field];
      if (Array.isArray(current) && Array.isArray(value))
        target[field] = current.filter((item) => !value.some((gone) => equal(gone, item)));
      continue;
    }
    if (value === null) delete target[key];
    else target[key] = mergeField(childSchema(schema, key), target[key], value);
  }
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(ORDER)) continue;
    const field = key.slice(ORDER.length);
    const [current, order, former] = [target[field], patch[key], kept.get(field)];
    if (Array.isArray(current) && Array.isArray(order))
      target[field] = ordered(current, order, former ?? [], childSchema(schema, field)?.patchMergeKey ?? '');
  }
  return target;
}

function childSchema(schema: Schema, key: string): Schema | undefined {
  const additional = schema.additionalProperties;
  return schema.properties?.get(key) ?? (additional === true ? undefined : additional);
}

function mergeField(schema: Schema | undefined, current: Json | undefined, value: Json): Json {
  if (isObject(value)) return mergeObject(schema ?? {}, isObject(current) ? current : {}, value);
  if (!Array.isArray(value)) return clone(value);
  const mergeKey = schema?.patchMergeKey;
  if (mergeKey === undefined) return value.map((item) => (isObject(item) ? withoutDirectives(item) : clone(item)));
  const present = Array.isArray(current) ? current : [];
  const merged = mergeKey === '' ? union(present, value) : mergeList(schema?.items ?? {}, present, value, mergeKey);
  return ordered(merged, value, present, mergeKey);
}

function union(present: readonly Json[], added: readonly Json[]): Json[] {
  return [...present, ...added.filter((item) => !present.some((known) => equal(known, item)))];
}

function mergeList(items: Schema, present: readonly Json[], patch: readonly Json[], mergeKey: string): Json[] {
  const replaces = patch.some((item) => isObject(item) && item[DIRECTIVE] === 'replace' && item[mergeKey] === undefined);
  const result = replaces ? [] : [...present];
  for (const item of patch) {
    if (!isObject(item)) throw badRequest(`expected an object in a list merged by ${JSON.stringify(mergeKey)}`);
    const identity = item[mergeKey];
    if (identity === undefined) {
      if (item[DIRECTIVE] !== undefined) continue;
      throw new ApiError(500, '', `map: ${goPrinted(item)} does not contain declared merge key: ${mergeKey}`);
    }
    const index = result.findIndex((known) => isObject(known) && equal(known[mergeKey], identity));
    if (item[DIRECTIVE] === 'delete') {
      for (let here = result.length - 1; here >= 0; here--) {
        const known = result[here];
        if (isObject(known) && equal(known[mergeKey], identity)) result.splice(here, 1);
      }
    } else if (index < 0) result.push(mergeObject(items, {}, item));
    else result[index] = mergeObject(items, result[index] as JsonObject, item);
  }
  return result;
}

/**
 * Elements named in the order come in that order. The other elements of the server, in their order, are merged in: each before the first
 * element that it preceded, and after all elements that the server did not have.
 */
function ordered(merged: readonly Json[], order: readonly Json[], kept: readonly Json[], mergeKey: string): Json[] {
  const identity = (item: Json): string => JSON.stringify(mergeKey === '' ? item : isObject(item) ? (item[mergeKey] ?? null) : item);
  const placeIn = (items: readonly Json[]): ((item: Json) => number) => {
    const places = new Map(items.map((item, index): [string, number] => [identity(item), index]).toReversed());
    return (item) => places.get(identity(item)) ?? -1;
  };
  const [inOrder, inKept] = [placeIn(order), placeIn(kept)];
  const named = merged.filter((item) => inOrder(item) >= 0).toSorted((a, b) => inOrder(a) - inOrder(b));
  const others = merged.filter((item) => inOrder(item) < 0).toSorted((a, b) => inKept(a) - inKept(b));
  const result: Json[] = [];
  for (const item of named) {
    const place = inKept(item);
    while (others.length > 0 && inKept(others[0] as Json) < place) result.push(others.shift() as Json);
    result.push(item);
  }
  return [...result, ...others];
}

function withoutDirectives(value: JsonObject): JsonObject {
  const copy = clone(value);
  delete copy[DIRECTIVE];
  return copy;
}
