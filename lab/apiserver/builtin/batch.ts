/** Jobs and CronJobs: stored with their defaults. No controller here runs them. */
import type { Json, JsonObject } from '../json.ts';
import { at, equal, isObject, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, notSupported, required } from '../status.ts';
import { validatePodSpec } from './pod-rules.ts';
import { defaultTemplate } from './workloads.ts';

/** Shorter than other names: kube-controller-manager appends 11 characters for each Job of a CronJob. */
const CRON_NAME_LENGTH = 52;
const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];

/** A Job selects its own pods by its uid, unless it has `manualSelector`. */
function selectOwnPods(job: KubeObject): void {
  const spec = object(job['spec']);
  const template = spec['template'];
  if (spec['manualSelector'] === true || !isObject(template)) return;
  const uid = job.metadata.uid;
  const metadata = object(template['metadata']);
  metadata['labels'] = {
    ...object(metadata['labels']),
    'controller-uid': uid,
    'batch.kubernetes.io/controller-uid': uid,
    'job-name': job.metadata.name,
    'batch.kubernetes.io/job-name': job.metadata.name,
  };
  template['metadata'] = metadata;
  if (spec['selector'] === undefined) spec['selector'] = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
}

function validateJobSpec(spec: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'])
    if (typeof spec[field] === 'number' && spec[field] < 0)
      errors.push(invalidValue(`${path}.${field}`, spec[field], 'must be greater than or equal to 0'));
  const pod = object(at(spec['template'], 'spec'));
  errors.push(...validatePodSpec(pod, `${path}.template.spec`));
  if (pod['restartPolicy'] === 'Always') errors.push(required(`${path}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"'));
  return errors;
}

export const jobs: Strategy = {
  prepareCreate: (job) => {
    job['status'] = {};
    selectOwnPods(job);
    const labels = at(job, 'spec', 'template', 'metadata', 'labels');
    if (job.metadata.labels === undefined && isObject(labels)) job.metadata.labels = { ...labels } as Record<string, string>;
  },
  applyDefaults: (job) => {
    const spec = object(job['spec']);
    job['spec'] = spec;
    if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1;
    spec['parallelism'] ??= 1;
    spec['backoffLimit'] ??= 6;
    spec['completionMode'] ??= 'NonIndexed';
    spec['suspend'] ??= false;
    spec['manualSelector'] ??= false;
    spec['podReplacementPolicy'] ??= spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed';
    defaultTemplate(spec['template']);
  },
  validate: (job, old) => {
    const spec = object(job['spec']);
    const errors = validateJobSpec(spec, 'spec');
    for (const field of ['completions', 'selector', 'template', 'completionMode'])
      if (old !== undefined && !equal(spec[field], at(old, 'spec', field)))
        errors.push(invalidValue(`spec.${field}`, spec[field], 'field is immutable'));
    return errors;
  },
};

/** Five fields with the characters of cron schedules, or one of the predefined names. */
function scheduleProblem(schedule: string): string | undefined {
  if (/^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly|every .+)$/.test(schedule)) return undefined;
  if (schedule.startsWith('@')) return `unrecognized descriptor: ${schedule}`;
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  const odd = fields.find((field) => !/^[-0-9A-Za-z*/,?]+$/.test(field));
  return odd === undefined ? undefined : `failed to parse int from ${odd}: strconv.Atoi: parsing ${JSON.stringify(odd)}: invalid syntax`;
}

export const cronJobs: Strategy = {
  prepareCreate: (cronJob) => void (cronJob['status'] = {}),
  applyDefaults: (cronJob) => {
    const spec = object(cronJob['spec']);
    cronJob['spec'] = spec;
    spec['concurrencyPolicy'] ??= 'Allow';
    spec['suspend'] ??= false;
    spec['successfulJobsHistoryLimit'] ??= 3;
    spec['failedJobsHistoryLimit'] ??= 1;
    const template: Json | undefined = spec['jobTemplate'];
    if (!isObject(template)) return;
    template['metadata'] = { ...object(template['metadata']), creationTimestamp: null };
    defaultTemplate(at(template, 'spec', 'template'));
  },
  validate: (cronJob) => {
    const spec = object(cronJob['spec']);
    const schedule = text(spec['schedule']);
    const problem = scheduleProblem(schedule);
    return [
      ...(cronJob.metadata.name.length > CRON_NAME_LENGTH
        ? [invalidValue('metadata.name', cronJob.metadata.name, `must be no more than ${CRON_NAME_LENGTH} characters`)]
        : []),
      ...(schedule === '' ? [required('spec.schedule')] : problem === undefined ? [] : [invalidValue('spec.schedule', schedule, problem)]),
      ...(CONCURRENCY.includes(text(spec['concurrencyPolicy']))
        ? []
        : [notSupported('spec.concurrencyPolicy', spec['concurrencyPolicy'], CONCURRENCY)]),
      ...validateJobSpec(object(at(spec['jobTemplate'], 'spec')), 'spec.jobTemplate.spec'),
    ];
  },
};

/** ReplicationControllers, and PodTemplates, which are objects of their own. */
export const replicationControllers: Strategy = {
  prepareCreate: (item) => void (item['status'] = { replicas: 0 }),
  applyDefaults: (item) => {
    const spec = object(item['spec']);
    item['spec'] = spec;
    spec['replicas'] ??= 1;
    const labels = at(spec['template'], 'metadata', 'labels');
    if (isObject(labels)) {
      spec['selector'] ??= { ...labels };
      item.metadata.labels ??= { ...labels } as Record<string, string>;
    }
    defaultTemplate(spec['template']);
  },
  validate: (item) => {
    const spec = object(item['spec']);
    const selector = object(spec['selector']);
    const labels = object(at(spec['template'], 'metadata', 'labels'));
    return [
      ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
      ...(spec['template'] === undefined
        ? [required('spec.template')]
        : Object.entries(selector).some(([key, value]) => labels[key] !== value)
          ? [invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]
          : validatePodSpec(object(at(spec['template'], 'spec')), 'spec.template.spec')),
    ];
  },
};

export const podTemplates: Strategy = {
  applyDefaults: (item) => defaultTemplate(item['template']),
  validate: (item) => validatePodSpec(object(at(item, 'template', 'spec')), 'template.spec'),
};
