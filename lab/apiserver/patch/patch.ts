/** The patch types of the API, by media type. */
import type { Json, JsonObject } from '../json.ts';
import { clone, goKindOf, isDeeper, isObject, MOST_LEVELS } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ResourceDefinition } from '../resource.ts';
import { ApiError, badRequest, unsupportedMediaType } from '../status.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMerge } from './strategic-merge.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';

/** @throws ApiError 415 for an unsupported type. */
export function checkPatchType(definition: ResourceDefinition, type: string): void {
  if (type.startsWith('application/apply-patch')) {
    throw unsupportedMediaType(
      'this laboratory API server has no server-side apply: use kubectl apply without --server-side, or a merge patch',
    );
  }
  const accepted = definition.custom ? [JSON_PATCH, MERGE_PATCH] : [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH];
  if (accepted.includes(type)) return;
  if (!definition.custom) throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  throw unsupportedMediaType(`the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`);
}

/**
 * @param current is not changed; the result may share parts with it.
 * @param read returns the patch
 * @throws ApiError 400 for an invalid patch, 422 for one that does not apply
 */
export function applyPatch(definition: ResourceDefinition, type: string, current: KubeObject, read: () => Json): JsonObject {
  const patch = type === STRATEGIC_MERGE_PATCH ? read() : decoded(read);
  const result =
    type === JSON_PATCH
      ? applyJsonPatch(clone(current), patch ?? [])
      : type === MERGE_PATCH
        ? applyMergePatch(current, fieldsOf(patch, 'error decoding patch: '))
        : applyStrategicMerge(definition.schema, clone(current), patch === null ? {} : fieldsOf(patch, ''));
  if (!isObject(result)) throw badRequest('the patched object is not an object');
  // Each patch is within the limit of levels itself, but its operations may nest values deeper.
  if (type === JSON_PATCH && isDeeper(result, MOST_LEVELS))
    throw badRequest(`the patched object exceeds the max depth: this laboratory API server keeps ${MOST_LEVELS} levels`);
  return result;
}

function decoded(read: () => Json): Json {
  try {
    return read();
  } catch (error) {
    throw error instanceof ApiError ? badRequest(`error decoding patch: ${error.message}`) : error;
  }
}

function fieldsOf(patch: Json, introduction: string): JsonObject {
  if (isObject(patch)) return patch;
  if (patch === null) throw badRequest('Invalid JSON Patch');
  throw badRequest(`${introduction}json: cannot unmarshal ${goKindOf(patch)} into Go value of type map[string]interface {}`);
}
