/** Pods: defaults, and the fields that an update may change. */
import type { Json, JsonObject } from '../json.ts';
import { at, clone, equal, isObject, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { forbiddenField, invalidValue } from '../status.ts';
import { validatePodSpec } from './pod-rules.ts';

const GRACE_SECONDS = 30;

function fill(target: JsonObject, defaults: JsonObject): void {
  for (const [key, value] of Object.entries(defaults)) target[key] ??= clone(value);
}

/** Defaults of a pod spec, in a Pod or in a template. */
export function defaultPodSpec(spec: JsonObject): void {
  fill(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: GRACE_SECONDS,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  });
  for (const field of ['containers', 'initContainers', 'ephemeralContainers'])
    for (const container of list(spec[field])) if (isObject(container)) defaultContainer(container);
  if (spec['hostNetwork'] === true) {
    for (const container of list(spec['containers']))
      for (const port of list(at(container, 'ports'))) if (isObject(port)) port['hostPort'] ??= port['containerPort'] ?? 0;
  }
  for (const volume of list(spec['volumes'])) {
    if (!isObject(volume)) continue;
    if (Object.keys(volume).length === 1) volume['emptyDir'] = {};
    for (const source of ['secret', 'configMap', 'downwardAPI', 'projected'])
      if (isObject(volume[source])) volume[source]['defaultMode'] ??= 420;
    if (isObject(volume['hostPath'])) volume['hostPath']['type'] ??= '';
    const projected = list(at(volume, 'projected', 'sources'));
    for (const source of [volume, ...projected])
      for (const item of list(at(source, 'downwardAPI', 'items'))) defaultFieldReference(at(item, 'fieldRef'));
    for (const source of projected) {
      const token = at(source, 'serviceAccountToken');
      if (isObject(token)) token['expirationSeconds'] ??= 3600;
    }
  }
}

function defaultFieldReference(reference: Json | undefined): void {
  if (isObject(reference)) reference['apiVersion'] ??= 'v1';
}

function defaultContainer(container: JsonObject): void {
  const image = text(container['image']);
  const tag = /:([^/@:]+)$/.exec(image)?.[1];
  const latest = !image.includes('@') && (tag === undefined || tag === 'latest');
  fill(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: latest ? 'Always' : 'IfNotPresent',
  });
  for (const port of list(container['ports'])) if (isObject(port)) port['protocol'] ??= 'TCP';
  for (const variable of list(container['env'])) defaultFieldReference(at(variable, 'valueFrom', 'fieldRef'));
  for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[field];
    if (!isObject(probe)) continue;
    fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
    if (isObject(probe['httpGet'])) fill(probe['httpGet'], { path: '/', scheme: 'HTTP' });
  }
  for (const field of ['postStart', 'preStop']) {
    const request = at(container, 'lifecycle', field, 'httpGet');
    if (isObject(request)) fill(request, { path: '/', scheme: 'HTTP' });
  }
}

/** A container's request defaults to its limit. For pods only, not for templates. */
export function requestLimits(spec: JsonObject): void {
  for (const field of ['containers', 'initContainers'])
    for (const container of list(spec[field])) {
      const resources = object(at(container, 'resources'));
      const limits = object(resources['limits']);
      const requests = object(resources['requests']);
      if (Object.keys(limits).some((name) => requests[name] === undefined)) resources['requests'] = { ...limits, ...requests };
    }
}

/** The default tolerations of admission, which keep a pod on a failed node for some time. Added at creation and at each update. */
function tolerateFailure(spec: JsonObject): void {
  const tolerations = [...list(spec['tolerations'])];
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const tolerated = tolerations.some((toleration) => {
      const { key: its = '', operator, effect = '' } = object(toleration);
      return (its === key || (its === '' && operator === 'Exists')) && (effect === '' || effect === 'NoExecute');
    });
    if (!tolerated) tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
  }
  if (tolerations.length > list(spec['tolerations']).length) spec['tolerations'] = tolerations;
}

function admit(spec: JsonObject): void {
  tolerateFailure(spec);
  fill(spec, { priority: 0, preemptionPolicy: 'PreemptLowerPriority', enableServiceLinks: true });
}

function qosClass(spec: JsonObject): string {
  const containers = [...list(spec['containers']), ...list(spec['initContainers'])];
  const amounts = (container: Json, kind: string): JsonObject => object(at(container, 'resources', kind));
  if (
    containers.every(
      (container) => Object.keys(amounts(container, 'limits')).length + Object.keys(amounts(container, 'requests')).length === 0,
    )
  )
    return 'BestEffort';
  const guaranteed = containers.every((container) =>
    ['cpu', 'memory'].every(
      (name) =>
        amounts(container, 'limits')[name] !== undefined && equal(amounts(container, 'limits')[name], amounts(container, 'requests')[name]),
    ),
  );
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

/** An update may not remove tolerations, since the pod's node relies on them; only their `tolerationSeconds` may change. */
function tolerationsErrors(spec: JsonObject, old: JsonObject): FieldError[] {
  const timeless = (toleration: Json): JsonObject => ({ ...object(toleration), tolerationSeconds: null });
  const kept = list(old['tolerations']).every((former) =>
    list(spec['tolerations']).some((toleration) => equal(timeless(toleration), timeless(former))),
  );
  return kept ? [] : [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

/** `activeDeadlineSeconds` may be set, and then only decrease. */
function activeTimeErrors(spec: JsonObject, old: JsonObject): FieldError[] {
  const field = 'spec.activeDeadlineSeconds';
  const [seconds, before] = [spec['activeDeadlineSeconds'], old['activeDeadlineSeconds']];
  if (before === undefined) return [];
  if (seconds === undefined) return [invalidValue(field, undefined, 'must not update from a positive integer to nil value')];
  return Number(seconds) > Number(before) ? [invalidValue(field, seconds, 'must be less than or equal to previous value')] : [];
}

/** The pod's spec without the fields that an update may change. */
function fixedSpec(pod: KubeObject): JsonObject {
  const spec = clone(object(pod['spec']));
  for (const field of ['containers', 'initContainers'])
    for (const container of list(spec[field])) if (isObject(container)) delete container['image'];
  for (const field of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates', 'ephemeralContainers']) delete spec[field];
  // A negative value means one second, so an update may set it to 1.
  if (Number(spec['terminationGracePeriodSeconds']) < 0) spec['terminationGracePeriodSeconds'] = 1;
  return spec;
}

const UPDATE_RULE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

export const podStrategy: Strategy = {
  prepareCreate: (pod) => {
    const spec = object(pod['spec']);
    pod['spec'] = spec;
    admit(spec);
    defaultPodSpec(spec);
    requestLimits(spec);
    pod['status'] = { phase: 'Pending', qosClass: qosClass(spec) };
  },
  prepareUpdate: (pod, old, subresource) => {
    if (subresource === undefined && pod['spec'] !== old['spec'] && isObject(pod['spec'])) tolerateFailure(pod['spec']);
  },
  settles: true,
  applyDefaults: (pod) => {
    defaultPodSpec(object(pod['spec']));
    requestLimits(object(pod['spec']));
    for (const condition of list(at(pod, 'status', 'conditions')))
      if (isObject(condition) && condition['lastProbeTime'] === undefined) condition['lastProbeTime'] = null;
  },
  validate: (pod, old) => {
    const resized = ['containers', 'initContainers'].filter(
      (field) => old !== undefined && list(at(pod, 'spec', field)).length !== list(at(old, 'spec', field)).length,
    );
    if (resized.length > 0) return resized.map((field) => forbiddenField(`spec.${field}`, 'pod updates may not add or remove containers'));
    if (old !== undefined && pod['spec'] !== old['spec']) {
      const [spec, before] = [object(pod['spec']), object(old['spec'])];
      const errors = [...activeTimeErrors(spec, before), ...tolerationsErrors(spec, before)];
      if (!equal(fixedSpec(pod), fixedSpec(old))) errors.push(forbiddenField('spec', UPDATE_RULE));
      if (errors.length > 0) return errors;
    }
    return validatePodSpec(object(pod['spec']), 'spec');
  },
  gracePeriod: (pod, requested) => {
    const phase = at(pod, 'status', 'phase');
    if (text(at(pod, 'spec', 'nodeName')) === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
    const seconds = requested ?? Number(at(pod, 'spec', 'terminationGracePeriodSeconds') ?? GRACE_SECONDS);
    return seconds < 0 ? 1 : seconds;
  },
};

/** Binds a pod to a node, as the scheduler requests by `pods/binding`. */
export function bindPod(pod: KubeObject, node: string, now: string): KubeObject {
  const conditions = list(at(pod, 'status', 'conditions')).filter((condition) => at(condition, 'type') !== 'PodScheduled');
  conditions.push({ type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now });
  return { ...pod, spec: { ...object(pod['spec']), nodeName: node }, status: { ...object(pod['status']), conditions } };
}
