/** Deployments, ReplicaSets, StatefulSets and DaemonSets: kept with their defaults. Who makes their pods is `lab/workloads`. */
import type { Json, JsonObject } from '../json.ts';
import { clone, equal, isObject, object } from '../json.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, required } from '../status.ts';
import { defaultPodSpec, validatePodSpec } from './pod.ts';

function workload(defaults: JsonObject, status: JsonObject, more: (spec: JsonObject) => void = () => undefined): Strategy {
  return {
    prepareCreate: (item) => void (item['status'] = clone(status)),
    applyDefaults: (item) => {
      const spec = object(item['spec']);
      item['spec'] = spec;
      for (const [key, value] of Object.entries(defaults)) spec[key] ??= clone(value);
      more(spec);
      defaultTemplate(spec['template']);
    },
    validate: (item, old) => validateWorkload(object(item['spec']), old === undefined ? undefined : object(old['spec'])),
  };
}

/** Defaults of a pod template, of whatever kind has one. */
export function defaultTemplate(template: Json | undefined): void {
  if (!isObject(template)) return;
  template['metadata'] ??= {};
  if (isObject(template['metadata'])) template['metadata']['creationTimestamp'] = null;
  if (isObject(template['spec'])) defaultPodSpec(template['spec']);
}

function validateWorkload(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['replicas', 'minReadySeconds', 'revisionHistoryLimit'])
    if (typeof spec[field] === 'number' && spec[field] < 0)
      errors.push(invalidValue(`spec.${field}`, spec[field], 'must be greater than or equal to 0'));
  const selector = object(spec['selector']);
  const template = object(spec['template']);
  const labels = object(object(template['metadata'])['labels']);
  if (Object.keys(selector).length === 0) errors.push(required('spec.selector'));
  else if (Object.entries(object(selector['matchLabels'])).some(([key, value]) => labels[key] !== value)) {
    errors.push(invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  errors.push(...validatePodSpec(object(template['spec']), 'spec.template.spec'));
  if (old !== undefined && !equal(spec['selector'], old['selector']))
    errors.push(invalidValue('spec.selector', selector, 'field is immutable'));
  return errors;
}

export const deployments = workload(
  { replicas: 1, strategy: { type: 'RollingUpdate' }, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
  {},
  (spec) => {
    const strategy = object(spec['strategy']);
    strategy['type'] ??= 'RollingUpdate';
    if (strategy['type'] === 'RollingUpdate')
      strategy['rollingUpdate'] = { maxUnavailable: '25%', maxSurge: '25%', ...object(strategy['rollingUpdate']) };
  },
);

export const replicaSets = workload({ replicas: 1 }, { replicas: 0 });

export const statefulSets = workload(
  {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  },
  { replicas: 0, availableReplicas: 0 },
);

export const daemonSets = workload(
  { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } }, revisionHistoryLimit: 10 },
  { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
);

/** What a workload was: it is counted up when it comes again, and never another. */
export const controllerRevisions: Strategy = {
  validate: (item, old) => {
    const { revision, data } = item;
    return [
      ...(typeof revision === 'number' && revision < 0 ? [invalidValue('revision', revision, 'must be greater than or equal to 0')] : []),
      ...(old !== undefined && !equal(data, old['data']) ? [invalidValue('data', data, 'field is immutable')] : []),
    ];
  },
};
