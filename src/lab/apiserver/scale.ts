/** The `scale` subresource: replicas of any kind that declares where it keeps them. */
import type { Json, JsonObject } from './json.ts';
import { at, isObject, object, text } from './json.ts';
import type { KubeObject } from './object.ts';
import type { ResourceDefinition, ScaleSubresource } from './resource.ts';
import { badRequest, conflict } from './status.ts';

function keys(path: string): string[] {
  return path.split('.').filter((key) => key !== '');
}

export function scaleObject(scale: ScaleSubresource, item: KubeObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = item.metadata;
  const selector = scale.labelSelectorPath === undefined ? undefined : at(item, ...keys(scale.labelSelectorPath));
  const labels = isObject(selector)
    ? Object.entries(object(selector['matchLabels']))
        .map(([key, value]) => `${key}=${text(value)}`)
        .join(',')
    : text(selector);
  const replicas = at(item, ...keys(scale.specReplicasPath));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: replicas === undefined || replicas === 0 ? {} : { replicas },
    status: { replicas: at(item, ...keys(scale.statusReplicasPath)) ?? 0, ...(labels === '' ? {} : { selector: labels }) },
  };
}

/** @throws ApiError 400, 409 */
export function applyScale(definition: ResourceDefinition, scale: ScaleSubresource, item: KubeObject, wanted: JsonObject): JsonObject {
  const replicas: Json | undefined = at(wanted, 'spec', 'replicas') ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0)
    throw badRequest(`spec.replicas: Invalid value: ${JSON.stringify(replicas)}: must be greater than or equal to 0`);
  const version = at(wanted, 'metadata', 'resourceVersion');
  if (typeof version === 'string' && version !== '' && version !== item.metadata.resourceVersion) {
    throw conflict(
      definition,
      item.metadata.name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
  const path = keys(scale.specReplicasPath);
  let here: JsonObject = item;
  for (const key of path.slice(0, -1)) {
    const child = object(here[key]);
    here[key] = child;
    here = child;
  }
  here[path.at(-1) ?? 'replicas'] = replicas;
  return item;
}
