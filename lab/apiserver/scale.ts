/** The `scale` subresource: the replicas of any kind that declares their path, as an `autoscaling/v1` Scale. */
import { define } from './builtin/define.ts';
import { decodeObject } from './decode-object.ts';
import type { Json, JsonObject } from './json.ts';
import { at, clone, isObject, list, object, text } from './json.ts';
import { checkName, checkNamespace, validateMeta } from './object-meta.ts';
import type { KubeObject } from './object.ts';
import type { UpdateOptions } from './operation-options.ts';
import type { Operations } from './operations.ts';
import type { ResourceDefinition, ScaleSubresource } from './resource.ts';
import type { FieldError } from './status.ts';
import { ApiError, badRequest, conflict, invalid, invalidValue, notFound } from './status.ts';
import { storeKey } from './store.ts';

/** Never stored: a Scale is decoded and validated as a kind, and written as a change of the scaled object. */
export const SCALE: ResourceDefinition = define('autoscaling', 'v1', 'scales', 'Scale', true);

const MAX_INT32 = 2 ** 31 - 1;
/** The replicas that a patch starts from if the custom object has none. */
const NONE_BEFORE = -(2 ** 31);

function keys(path: string): string[] {
  return path.split('.').filter((key) => key !== '');
}

/** @throws ApiError 404 */
export function getScaled(operations: Operations, definition: ResourceDefinition, namespace: string, name: string): KubeObject {
  const stored = operations.store.get(definition.table, storeKey(namespace, name));
  if (stored !== undefined) return operations.toView(definition, stored);
  throw notFound(definition, name);
}

/** @throws ApiError 500 for a custom object without the replicas field, as a real server does. */
export function readScale(definition: ResourceDefinition, scale: ScaleSubresource, item: KubeObject): JsonObject {
  if (definition.custom && at(item, ...keys(scale.specReplicasPath)) === undefined) {
    const why = `the spec replicas field ${JSON.stringify(scale.specReplicasPath)} does not exist`;
    throw new ApiError(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });
  }
  return scaleObject(scale, item);
}

export function scaleObject(scale: ScaleSubresource, item: KubeObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = item.metadata;
  const selector = scale.labelSelectorPath === undefined ? undefined : at(item, ...keys(scale.labelSelectorPath));
  const labels = isObject(selector) ? writtenSelector(selector) : text(selector);
  const replicas = at(item, ...keys(scale.specReplicasPath));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: replicas === undefined || replicas === 0 ? {} : { replicas },
    status: { replicas: at(item, ...keys(scale.statusReplicasPath)) ?? 0, ...(labels === '' ? {} : { selector: labels }) },
  };
}

/** `app=web,tier in (a,b)`, sorted by key, as label selectors in a query; also for the plain labels of a ReplicationController. */
function writtenSelector(selector: JsonObject): string {
  const isPlain = !isObject(selector['matchLabels']) && !Array.isArray(selector['matchExpressions']);
  const terms = [
    ...Object.entries(isPlain ? selector : object(selector['matchLabels'])).map(([key, value]) => ({
      key,
      written: `${key}=${text(value)}`,
    })),
    ...list(selector['matchExpressions']).map((term) => {
      const key = text(at(term, 'key'));
      const values = `(${list(at(term, 'values')).map(text).sort().join(',')})`;
      switch (text(at(term, 'operator'))) {
        case 'In':
          return { key, written: `${key} in ${values}` };
        case 'NotIn':
          return { key, written: `${key} notin ${values}` };
        case 'DoesNotExist':
          return { key, written: `!${key}` };
        default:
          return { key, written: key };
      }
    }),
  ];
  terms.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return terms.map((term) => term.written).join(',');
}

/** The Scale that a patch is applied to. */
export function scaleToChange(definition: ResourceDefinition, scale: ScaleSubresource, item: KubeObject): KubeObject {
  const current = scaleObject(scale, item);
  if (definition.custom && at(item, ...keys(scale.specReplicasPath)) === undefined) current['spec'] = { replicas: NONE_BEFORE };
  return current as KubeObject;
}

/**
 * @param body the new Scale, as a client sent it or as a patch made it; is changed.
 * @throws ApiError 400, 409, 422
 */
export function applyScale(
  definition: ResourceDefinition,
  scale: ScaleSubresource,
  item: KubeObject,
  body: JsonObject,
  options: UpdateOptions,
): JsonObject {
  const { name, namespace, uid } = item.metadata;
  const wanted = decodeObject(SCALE, body, options);
  const meta = wanted.metadata;
  checkName(meta.name, name);
  if (namespace !== undefined) {
    checkNamespace(meta.namespace, namespace);
    meta.namespace = namespace;
  }
  const isOther = meta.uid !== undefined && meta.uid !== uid;
  const precondition = `Precondition failed: UID in precondition: ${meta.uid ?? ''}, UID in object meta: ${uid}`;
  if (isOther && options.replace === true) throw conflict(definition, name, precondition);
  const replicas = at(wanted, 'spec', 'replicas') ?? 0;
  if (definition.custom) {
    if (replicas === NONE_BEFORE) throw badRequest(`the spec replicas field ${JSON.stringify(scale.specReplicasPath)} cannot be empty`);
  } else {
    const errors = [...validateMeta(SCALE, wanted), ...replicasProblems('spec.replicas', replicas, 'must be greater than or equal to 0')];
    if (errors.length > 0) throw invalid(SCALE, name, errors);
    if (isOther) throw conflict({ group: definition.group, plural: `${definition.plural}/scale` }, name, precondition);
  }
  const scaled = clone(item);
  if (meta.resourceVersion !== undefined) scaled.metadata.resourceVersion = meta.resourceVersion;
  setAt(scaled, keys(scale.specReplicasPath), replicas);
  return scaled;
}

function setAt(item: JsonObject, path: readonly string[], value: Json): void {
  let here = item;
  for (const key of path.slice(0, -1)) {
    const child = object(here[key]);
    here[key] = child;
    here = child;
  }
  here[path.at(-1) ?? ''] = value;
}

function replicasProblems(field: string, replicas: Json, rule: string): FieldError[] {
  return typeof replicas === 'number' && replicas < 0 ? [invalidValue(field, replicas, rule)] : [];
}

/** The checks of replicas at each write of a custom object with `scale`, in addition to its schema. */
export function validateScaled(scale: ScaleSubresource, item: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const path of [scale.specReplicasPath, scale.statusReplicasPath]) {
    const replicas = at(item, ...keys(path));
    if (replicas === undefined) continue;
    if (typeof replicas !== 'number' || !Number.isInteger(replicas))
      errors.push(invalidValue(path, 0, `${path} accessor error: ${shown(replicas)}, expected int64`));
    else if (replicas > MAX_INT32) errors.push(invalidValue(path, replicas, `should be less than or equal to ${MAX_INT32}`));
    else errors.push(...replicasProblems(path, replicas, 'should be a non-negative integer'));
  }
  return errors;
}

/** The type of a value, in the wording of a server written in Go. */
function shown(value: Json): string {
  if (value === null) return '<nil> is of the type <nil>';
  if (typeof value === 'object')
    return `${JSON.stringify(value)} is of the type ${Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'}`;
  return `${String(value)} is of the type ${typeof value === 'boolean' ? 'bool' : typeof value === 'number' ? 'float64' : typeof value}`;
}
