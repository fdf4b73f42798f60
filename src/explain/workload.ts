/**
 * A workload (Deployment, StatefulSet, …) as a tree down to its pods and their addresses.
 */
import { NO_BLOCKERS } from '../blockers/blockers.ts';
import { POD_CONDITION } from '../api/well-known.ts';
import type { Labels } from '../api/kubernetes/meta.ts';
import { findingsText } from '../compile/findings-text.ts';
import { annotationsForTemplate } from '../compile/unread-annotations.ts';
import { conditionOf } from '../world/conditions.ts';
import type { AnyObservedObject, World } from '../world/world.ts';
import { keyOf } from '../world/resources.ts';
import type { DrawnObject, TreeLimits } from './dependents.ts';
import { treeObject } from './dependents.ts';
import type { Explanation, Waiting } from './explanation.ts';
import { ineffectiveConditions } from './ineffective-conditions.ts';
import type { ObjectState } from './object-state.ts';
import { commandText } from '../text/command-text.ts';

/** A workload and its own workloads: a Deployment and its ReplicaSets. */
export interface Workload {
  readonly type: string;
  readonly object: AnyObservedObject;
  readonly workloads: readonly Workload[];
}

export function explainWorkload(world: World, workload: Workload, limits: TreeLimits): Explanation {
  const { object } = workload;
  const { children, more, ...subject } = drawn(world, workload, limits);
  const waiting = whyItWaits(world, workload, subject.state);
  const { namespace = '', name } = object.metadata;
  return {
    subject: { ...subject, children: [], more: 0 },
    implemented: true,
    dependencies: NOTHING,
    dependents: NOTHING,
    counts: [],
    blockers: NO_BLOCKERS,
    owners: object.metadata.ownerReferences ?? [],
    created: { objects: children, more },
    rows: undefined,
    waiting,
    notes: notesOf(world, workload),
    next: waiting === undefined ? [] : [waiting.next ?? commandText`kubectl describe ${workload.type} ${name} -n ${namespace}`],
  };
}

/** Of all but StatefulSets, from the object as the command read it: the controller does not observe other workloads. */
function notesOf(world: World, { object }: Workload): Explanation['notes'] {
  const { kind, metadata, spec } = object;
  if (kind === 'StatefulSet') {
    const observed = world.statefulSets.peek(keyOf(object));
    return observed === undefined ? [] : ineffectiveConditions(world, 'statefulsets', observed);
  }
  const { name, namespace = '', annotations, creationTimestamp: since } = metadata;
  const { template } = (spec ?? {}) as { readonly template?: { readonly metadata?: { readonly annotations?: Labels } } };
  const found = annotationsForTemplate({ kind, name, namespace }, annotations, template?.metadata?.annotations);
  const [first] = found;
  return first === undefined ? [] : [{ what: 'without effect', reason: first.code, message: findingsText(found), since }];
}

const NOTHING = { objects: [], more: 0 };

function drawn(world: World, workload: Workload, limits: TreeLimits): DrawnObject {
  const { type, object, workloads } = workload;
  const { namespace = '', name, uid, creationTimestamp: created } = object.metadata;
  const pods = podsOf(world, object);
  const kept = retainedAddresses(world, workload);
  const below = [
    ...workloads
      .filter((one) => desiredReplicas(one) !== 0 || podsOf(world, one.object).length > 0)
      .map((one) => drawn(world, one, limits)),
    ...pods.slice(0, limits.children).map((pod) => podWithAddresses(world, pod)),
    ...kept.slice(0, limits.children).map((ip) => treeObject(world, 'ips', ip)),
  ];
  return {
    type,
    kind: object.kind,
    namespace,
    name,
    uid,
    created,
    addresses: [],
    state: stateOf(workload),
    children: below,
    more: Math.max(pods.length - limits.children, 0) + Math.max(kept.length - limits.children, 0),
  };
}

function podWithAddresses(world: World, pod: string): DrawnObject {
  const ips = [...world.ips.bucket('pod', pod)].toSorted();
  return { ...treeObject(world, 'pods', pod), children: ips.map((ip) => treeObject(world, 'ips', ip)), more: 0 };
}

/** Keys of its pods by owner reference, sorted. */
function podsOf(world: World, { metadata: { namespace = '', uid } }: AnyObservedObject): readonly string[] {
  const isItsOwn = (pod: string): boolean => world.pods.peek(pod)?.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
  return [...world.pods.bucket('namespace', namespace)].filter(isItsOwn).toSorted();
}

/** IP objects of a StatefulSet's ordinals without a pod. */
function retainedAddresses(world: World, { object: { kind, metadata } }: Workload): readonly string[] {
  if (kind !== 'StatefulSet') return [];
  const { namespace = '', name } = metadata;
  return [...world.ips.entries()]
    .filter(([, { spec }]) => {
      const { podName = '', podType = '' } = spec;
      const ordinal = podName.startsWith(`${name}-`) ? podName.slice(name.length + 1) : '';
      return podType === kind && spec.namespace === namespace && /^\d+$/.test(ordinal) && !world.pods.has(`${namespace}/${podName}`);
    })
    .map(([key]) => key)
    .toSorted();
}

interface Counts {
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly desiredNumberScheduled?: number;
  readonly numberReady?: number;
}

/** Undefined for kinds without a replica count. */
function desiredReplicas({ object: { kind, spec, status } }: Workload): number | undefined {
  if (kind === 'DaemonSet') return ((status ?? {}) as Counts).desiredNumberScheduled ?? 0;
  if (!SCALED.has(kind)) return undefined;
  return ((spec ?? {}) as Counts).replicas ?? 1;
}

const SCALED: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController']);

function stateOf(workload: Workload): ObjectState {
  const { metadata, status } = workload.object;
  const since = metadata.creationTimestamp;
  if (metadata.deletionTimestamp !== undefined)
    return { ready: 'False', reason: 'Terminating', message: '', since: metadata.deletionTimestamp };
  const replicas = desiredReplicas(workload);
  if (replicas === undefined) return { ready: '-', reason: '', message: '', since };
  const { readyReplicas, numberReady } = (status ?? {}) as Counts;
  const ready = readyReplicas ?? numberReady ?? 0;
  return { ready: ready >= replicas ? 'True' : 'False', reason: `${ready}/${replicas}`, message: '', since };
}

/** Pods without a network first, then other pods that are not ready. */
function whyItWaits(world: World, workload: Workload, state: ObjectState): (Waiting & { readonly next?: string }) | undefined {
  const { kind, metadata } = workload.object;
  const { namespace = '', name } = metadata;
  const what = `${kind} ${namespace}/${name}`;
  if (metadata.deletionTimestamp !== undefined) {
    const others = metadata.finalizers ?? [];
    const message = others.length === 0 ? `${what} is being deleted` : `${what} is being deleted and waits for ${others.join(', ')}`;
    return { reason: 'Terminating', message, since: metadata.deletionTimestamp };
  }
  const pods = allPods(world, workload);
  for (const key of pods) {
    const condition = conditionOf('pods', world.pods.peek(key) as unknown as AnyObservedObject, POD_CONDITION);
    if (condition?.status !== 'False') continue;
    const since = condition.lastTransitionTime ?? metadata.creationTimestamp;
    const message = condition.message ?? '';
    return {
      reason: condition.reason ?? 'NotBound',
      message,
      since,
      next: commandText`kiln explain pod ${key.split('/')[1] ?? ''} -n ${namespace}`,
    };
  }
  if (state.ready !== 'False') return undefined;
  const message =
    pods.length === 0 ? `${what} has no pod yet` : `${what} has ${state.reason} pods ready, and none of them waits for its network`;
  return { reason: 'PodsNotReady', message, since: state.since };
}

function allPods(world: World, { object, workloads }: Workload): readonly string[] {
  return [...podsOf(world, object), ...workloads.flatMap((one) => allPods(world, one))];
}
