/** What of an update counts: a status update changes nothing else, and only a changed spec makes a new generation. */
import { equal } from './json.ts';
import type { KubeObject } from './object.ts';
import type { ResourceDefinition } from './resource.ts';

/** @param current gives what it has */
export function statusUpdate(definition: ResourceDefinition, object: KubeObject, current: KubeObject): KubeObject {
  // In the place that it had, if it had one.
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
