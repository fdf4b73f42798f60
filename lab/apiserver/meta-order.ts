/** The order of the metadata fields in answers. */
import type { JsonObject } from './json.ts';
import type { ObjectMeta } from './object.ts';

const META_ORDER = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
];

/** Empty maps and lists are omitted, as by a typed server. */
export function orderMeta(meta: ObjectMeta): ObjectMeta {
  const ordered: JsonObject = {};
  for (const key of META_ORDER) {
    const value = meta[key];
    if (value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)) continue;
    ordered[key] = value;
  }
  return ordered as ObjectMeta;
}
