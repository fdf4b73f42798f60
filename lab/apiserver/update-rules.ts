/** The effect of an update: a status update changes only the status, and only a changed spec increments the generation. */
import { equal } from './json.ts';
import type { KubeObject } from './object.ts';
import type { ResourceDefinition } from './resource.ts';

/** @param current has all other fields */
export function statusUpdate(definition: ResourceDefinition, object: KubeObject, current: KubeObject): KubeObject {
  // At the same position among the fields, if there was one.
  const next: KubeObject = { ...current, metadata: { ...current.metadata }, status: null };
  if (!definition.custom)
    for (const key of ['labels', 'annotations', 'finalizers', 'ownerReferences'])
      if (object.metadata[key] !== undefined) next.metadata[key] = object.metadata[key];
  if (object['status'] === undefined) delete next['status'];
  else next['status'] = object['status'];
  return next;
}

export function specChanged(definition: ResourceDefinition, next: KubeObject, current: KubeObject): boolean {
  for (const key of new Set([...Object.keys(next), ...Object.keys(current)])) {
    if (key === 'metadata' || (key === 'status' && definition.hasStatus)) continue;
    if (!equal(next[key], current[key])) return true;
  }
  return false;
}
