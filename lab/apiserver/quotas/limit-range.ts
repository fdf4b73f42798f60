/** LimitRanges: default requests and limits of containers, and the bounds of pods, containers and claims. */
import { defaultPodSpec, requestLimits } from '../builtin/pod.ts';
import type { Json, JsonObject } from '../json.ts';
import { at, isObject, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Guard } from '../operation-options.ts';
import { forbidden } from '../status.ts';
import type { ObjectStore } from '../store.ts';
import { podAmounts } from './pod-amounts.ts';
import { formatQuantity, quantityOf } from './quantity.ts';

const TABLE = 'limitranges';
const NOTE = 'kubernetes.io/limit-ranger';

interface Asked {
  readonly requests: JsonObject;
  readonly limits: JsonObject;
}

function rulesOf(store: ObjectStore, namespace: string): Json[] {
  if (store.count(TABLE) === 0) return [];
  return store.list(TABLE, namespace).flatMap((range) => list(at(range, 'spec', 'limits')));
}

/** Before defaults and validation: sets missing requests and limits. */
export function limitRangeDefaults(store: ObjectStore): Guard {
  return ({ verb, definition, namespace, object: pod }) => {
    if (verb !== 'create' || definition.table !== 'pods' || pod === undefined) return;
    const rules = rulesOf(store, namespace).filter((rule) => at(rule, 'type') === 'Container');
    if (rules.length === 0) return;
    const spec = object(pod['spec']);
    pod['spec'] = spec;
    defaultPodSpec(spec);
    requestLimits(spec);
    const merged = (field: string): JsonObject => Object.fromEntries(rules.flatMap((rule) => Object.entries(object(at(rule, field)))));
    const [limits, requests] = [merged('default'), merged('defaultRequest')];
    const defaulted = ['containers', 'initContainers'].flatMap((field) =>
      list(spec[field]).flatMap((container) => (isObject(container) ? fill(container, field, limits, requests) : [])),
    );
    if (defaulted.length > 0)
      pod.metadata.annotations = { ...pod.metadata.annotations, [NOTE]: `LimitRanger plugin set: ${defaulted.join('; ')}` };
  };
}

function fill(container: JsonObject, field: string, limits: JsonObject, requests: JsonObject): string[] {
  const resources = object(container['resources']);
  container['resources'] = resources;
  const defaulted: string[] = [];
  for (const [kind, defaults] of [
    ['requests', requests],
    ['limits', limits],
  ] as const) {
    const given = object(resources[kind]);
    const missing = Object.keys(defaults)
      .filter((name) => given[name] === undefined)
      .sort();
    if (missing.length === 0) continue;
    resources[kind] = { ...defaults, ...given };
    const what = field === 'containers' ? 'container' : 'init container';
    defaulted.push(`${missing.join(', ')} ${kind.slice(0, -1)} for ${what} ${text(container['name'])}`);
  }
  return defaulted;
}

/** After validation: rejects an object that exceeds the bounds. */
export function limitRangeBounds(store: ObjectStore): Guard {
  return ({ verb, definition, namespace, name, object: item }) => {
    if (item === undefined || verb === 'delete') return;
    const isPod = definition.table === 'pods' && verb === 'create';
    if (!isPod && definition.table !== 'persistentvolumeclaims') return;
    const problems = rulesOf(store, namespace).flatMap((rule) => (isPod ? podProblems(item, rule) : claimProblems(item, rule)));
    if (problems.length > 0) throw forbidden(definition, name, problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`);
  };
}

function podProblems(pod: KubeObject, rule: Json): string[] {
  switch (at(rule, 'type')) {
    case 'Container':
      return ['containers', 'initContainers']
        .flatMap((field) => list(at(pod, 'spec', field)))
        .flatMap((container) => bounds(rule, 'Container', asked(container)));
    case 'Pod':
      return bounds(rule, 'Pod', { requests: printedAmounts(pod, 'requests'), limits: printedAmounts(pod, 'limits') });
    default:
      return [];
  }
}

function asked(container: Json): Asked {
  return { requests: object(at(container, 'resources', 'requests')), limits: object(at(container, 'resources', 'limits')) };
}

function printedAmounts(pod: KubeObject, kind: 'requests' | 'limits'): JsonObject {
  return Object.fromEntries([...podAmounts(pod, kind)].map(([name, sum]) => [name, formatQuantity(sum)]));
}

function claimProblems(claim: KubeObject, rule: Json): string[] {
  if (at(rule, 'type') !== 'PersistentVolumeClaim') return [];
  const requests = object(at(claim, 'spec', 'resources', 'requests'));
  return (['min', 'max'] as const).flatMap((side) =>
    Object.entries(object(at(rule, side))).flatMap(([name, bound]) => {
      const value = requests[name];
      const beyond = `${side === 'min' ? 'minimum' : 'maximum'} ${name} usage per PersistentVolumeClaim is ${printed(bound)}`;
      if (value === undefined) return [`${beyond}.  No request is specified`];
      return isBeyond(side, value, bound) ? [`${beyond}, but request is ${printed(value)}`] : [];
    }),
  );
}

function bounds(rule: Json, type: string, { requests, limits }: Asked): string[] {
  const problems: string[] = [];
  for (const [name, bound] of Object.entries(object(at(rule, 'min')))) {
    const rest = `minimum ${name} usage per ${type} is ${printed(bound)}`;
    if (requests[name] === undefined) problems.push(`${rest}.  No request is specified`);
    else if (isBeyond('min', requests[name], bound)) problems.push(`${rest}, but request is ${printed(requests[name])}`);
    else if (limits[name] !== undefined && isBeyond('min', limits[name], bound))
      problems.push(`${rest}, but limit is ${printed(limits[name])}`);
  }
  for (const [name, bound] of Object.entries(object(at(rule, 'max')))) {
    const rest = `maximum ${name} usage per ${type} is ${printed(bound)}`;
    if (limits[name] === undefined) problems.push(`${rest}.  No limit is specified`);
    else if (isBeyond('max', limits[name], bound)) problems.push(`${rest}, but limit is ${printed(limits[name])}`);
    else if (requests[name] !== undefined && isBeyond('max', requests[name], bound))
      problems.push(`${rest}, but request is ${printed(requests[name])}`);
  }
  for (const [name, bound] of Object.entries(object(at(rule, 'maxLimitRequestRatio')))) {
    const rest = `${name} max limit to request ratio per ${type} is ${printed(bound)}`;
    const [request, limit] = [quantityOf(requests[name]).nano, quantityOf(limits[name]).nano];
    if (request === 0n) problems.push(`${rest}, but no request is specified or request is 0`);
    else if (limit === 0n) problems.push(`${rest}, but no limit is specified or limit is 0`);
    else if (limit * 1_000_000_000n > request * quantityOf(bound).nano)
      problems.push(`${rest}, but provided ratio is ${(Number(limit) / Number(request)).toFixed(6)}`);
  }
  return problems;
}

function isBeyond(side: 'min' | 'max', value: Json, bound: Json): boolean {
  const [given, allowed] = [quantityOf(value).nano, quantityOf(bound).nano];
  return side === 'min' ? given < allowed : given > allowed;
}

function printed(value: Json): string {
  return formatQuantity(quantityOf(value));
}
