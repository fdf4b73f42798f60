/** Deployments, ReplicaSets, StatefulSets and DaemonSets: stored with their defaults. `lab/workloads` makes their pods. */
import type { Json, JsonObject } from '../json.ts';
import { at, clone, equal, isObject, object, text } from '../json.ts';
import type { Strategy } from '../resource.ts';
import { selectsLabels } from '../selectors.ts';
import type { FieldError } from '../status.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../status.ts';
import { amountErrors, notNegative, selectorErrors } from './field-rules.ts';
import { defaultPodSpec } from './pod.ts';
import { validatePodSpec } from './pod-rules.ts';

interface WorkloadOptions {
  readonly defaults: JsonObject;
  readonly status: JsonObject;
  readonly more?: (spec: JsonObject) => void;
  readonly rules?: (spec: JsonObject, old: JsonObject | undefined) => readonly FieldError[];
}

function workload({ defaults, status, more, rules }: WorkloadOptions): Strategy {
  return {
    prepareCreate: (item) => void (item['status'] = clone(status)),
    applyDefaults: (item) => {
      const spec = object(item['spec']);
      item['spec'] = spec;
      for (const [key, value] of Object.entries(defaults)) spec[key] ??= clone(value);
      more?.(spec);
      defaultTemplate(spec['template']);
    },
    validate: (item, old) => {
      const spec = object(item['spec']);
      const before = old === undefined ? undefined : object(old['spec']);
      return [...validateWorkload(item.kind, spec, before), ...(rules?.(spec, before) ?? [])];
    },
  };
}

/** Defaults of the update strategy of a StatefulSet or a DaemonSet. */
function fillRollingUpdate(spec: JsonObject, defaults: JsonObject): void {
  const strategy = object(spec['updateStrategy']);
  strategy['type'] ??= 'RollingUpdate';
  if (strategy['type'] === 'RollingUpdate') strategy['rollingUpdate'] = { ...defaults, ...object(strategy['rollingUpdate']) };
  spec['updateStrategy'] = strategy;
}

/** Defaults of a pod template of any kind. */
function defaultTemplate(template: Json | undefined): void {
  if (!isObject(template)) return;
  template['metadata'] ??= {};
  if (isObject(template['metadata'])) template['metadata']['creationTimestamp'] = null;
  if (isObject(template['spec'])) defaultPodSpec(template['spec']);
}

function validateWorkload(kind: string, spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const { selector } = spec;
  const template = object(spec['template']);
  const pod = object(template['spec']);
  const labels = object(object(template['metadata'])['labels']);
  const isDaemonSet = kind === 'DaemonSet';
  const errors = ['replicas', 'minReadySeconds', 'revisionHistoryLimit'].flatMap((field) => notNegative(spec[field], `spec.${field}`));
  const wrong = selectorErrors(selector, 'spec.selector');
  if (selector === undefined && !isDaemonSet) errors.push(required('spec.selector'));
  if (wrong.length > 0) errors.push(...wrong, ...(isDaemonSet ? [] : [invalidValue('spec.selector', selector, 'invalid label selector')]));
  else if (
    selector !== undefined &&
    Object.keys(object(at(selector, 'matchLabels'))).length + (at(selector, 'matchExpressions') === undefined ? 0 : 1) === 0
  )
    errors.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${kind.toLowerCase()}`));
  else if (selector === undefined || !selectsLabels(selector, labels as Record<string, string>))
    errors.push(invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  errors.push(...validatePodSpec(pod, 'spec.template.spec'));
  if (['OnFailure', 'Never'].includes(text(pod['restartPolicy'])))
    errors.push(notSupported('spec.template.spec.restartPolicy', pod['restartPolicy'], ['Always']));
  if (pod['activeDeadlineSeconds'] !== undefined)
    errors.push(forbiddenField('spec.template.spec.activeDeadlineSeconds', 'activeDeadlineSeconds in ReplicaSet is not Supported'));
  // A StatefulSet reports this together with its other immutable fields.
  if (old !== undefined && kind !== 'StatefulSet' && !equal(selector, old['selector']))
    errors.push(invalidValue('spec.selector', selector ?? null, 'field is immutable'));
  return errors;
}

function isNone(amount: Json | undefined): boolean {
  return amount === 0 || amount === '0%';
}

function deploymentErrors(spec: JsonObject): FieldError[] {
  const { type, rollingUpdate } = object(spec['strategy']);
  const field = 'spec.strategy.rollingUpdate';
  if (type === 'Recreate')
    return rollingUpdate === undefined ? [] : [forbiddenField(field, "may not be specified when strategy `type` is 'Recreate'")];
  if (type !== 'RollingUpdate') return [notSupported('spec.strategy', spec['strategy'], ['Recreate', 'RollingUpdate'])];
  const { maxUnavailable, maxSurge } = object(rollingUpdate);
  return [
    ...amountErrors(maxUnavailable, `${field}.maxUnavailable`, 100),
    ...amountErrors(maxSurge, `${field}.maxSurge`),
    ...(isNone(maxUnavailable) && isNone(maxSurge)
      ? [invalidValue(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
      : []),
  ];
}

/** The mutable fields of a StatefulSet's spec. */
const CHANGEABLE = ['replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds'];

function fixedErrors(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const fixed = (of: JsonObject): JsonObject => Object.fromEntries(Object.entries(of).filter(([field]) => !CHANGEABLE.includes(field)));
  if (old === undefined || equal(fixed(spec), fixed(old))) return [];
  const named = CHANGEABLE.map((field) => `'${field}'`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1');
  return [forbiddenField('spec', `updates to statefulset spec for fields other than ${named} are forbidden`)];
}

function statefulSetErrors(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const { type, rollingUpdate } = object(spec['updateStrategy']);
  const field = 'spec.updateStrategy';
  const errors = ['OrderedReady', 'Parallel'].includes(text(spec['podManagementPolicy']))
    ? []
    : [invalidValue('spec.podManagementPolicy', spec['podManagementPolicy'], "must be 'OrderedReady' or 'Parallel'")];
  errors.push(...fixedErrors(spec, old));
  if (type === 'RollingUpdate') return [...errors, ...notNegative(at(rollingUpdate, 'partition'), `${field}.rollingUpdate.partition`)];
  if (type !== 'OnDelete') errors.push(invalidValue(field, spec['updateStrategy'], "must be 'RollingUpdate' or 'OnDelete'"));
  else if (rollingUpdate !== undefined)
    errors.push(invalidValue(`${field}.rollingUpdate`, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'"));
  return errors;
}

function daemonSetErrors(spec: JsonObject): FieldError[] {
  const { type, rollingUpdate } = object(spec['updateStrategy']);
  const field = 'spec.updateStrategy';
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') return [notSupported(field, spec['updateStrategy'], ['RollingUpdate', 'OnDelete'])];
  const { maxUnavailable, maxSurge } = object(rollingUpdate);
  return [
    ...amountErrors(maxUnavailable, `${field}.rollingUpdate.maxUnavailable`, 100),
    ...(isNone(maxUnavailable) && (maxSurge === undefined || isNone(maxSurge))
      ? [required(`${field}.rollingUpdate.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]
      : []),
  ];
}

export const deployments = workload({
  defaults: { replicas: 1, strategy: { type: 'RollingUpdate' }, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
  status: {},
  rules: deploymentErrors,
  more: (spec) => {
    const strategy = object(spec['strategy']);
    strategy['type'] ??= 'RollingUpdate';
    if (strategy['type'] === 'RollingUpdate')
      strategy['rollingUpdate'] = { maxUnavailable: '25%', maxSurge: '25%', ...object(strategy['rollingUpdate']) };
  },
});

export const replicaSets = workload({ defaults: { replicas: 1 }, status: { replicas: 0 } });

export const statefulSets = workload({
  defaults: {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate' },
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  },
  status: { replicas: 0, availableReplicas: 0 },
  more: (spec) => fillRollingUpdate(spec, { partition: 0 }),
  rules: statefulSetErrors,
});

export const daemonSets = workload({
  defaults: { updateStrategy: { type: 'RollingUpdate' }, revisionHistoryLimit: 10 },
  status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  more: (spec) => fillRollingUpdate(spec, { maxUnavailable: 1, maxSurge: 0 }),
  rules: daemonSetErrors,
});

/** A former state of a workload: its number may change, its data may not. */
export const controllerRevisions: Strategy = {
  validate: (item, old) => {
    const { revision, data } = item;
    return [
      ...(typeof revision === 'number' && revision < 0 ? [invalidValue('revision', revision, 'must be greater than or equal to 0')] : []),
      ...(old !== undefined && !equal(data, old['data']) ? [invalidValue('data', data, 'field is immutable')] : []),
    ];
  },
};
