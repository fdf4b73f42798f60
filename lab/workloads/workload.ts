/** Workloads and their children, with the fields that the stand-in reads, and the parts of a plan. */
import { createHash } from 'node:crypto';
import type { KubeObject, Labels, LabelSelector, OwnerReference } from '../../src/api/kubernetes/meta.ts';
import type { Resource } from '../../src/kube/resource.ts';

export interface PodTemplate {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec?: Readonly<Record<string, unknown>>;
}

interface WorkloadSpec {
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
  readonly podManagementPolicy?: string;
  /** StatefulSets only: the lowest ordinal. */
  readonly ordinals?: { readonly start?: number };
  readonly serviceName?: string;
  readonly strategy?: { readonly type?: string };
  /** Deployments only: pauses the rollout. */
  readonly paused?: boolean;
  readonly revisionHistoryLimit?: number;
  readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  readonly minReadySeconds?: number;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastUpdateTime?: string;
  readonly lastTransitionTime?: string;
}

/** The condition of a ReplicaSet whose pods are rejected, and of its Deployment. */
export const REPLICA_FAILURE = 'ReplicaFailure';

export type Status = Readonly<Record<string, unknown>> & { readonly conditions?: readonly Condition[] };

/** A Deployment, ReplicaSet, StatefulSet or DaemonSet. */
export type Workload = KubeObject<WorkloadSpec, Status>;

/** A pod of a workload, with the fields that the cache holds. */
export interface ChildPod extends KubeObject<Readonly<Record<string, unknown>>> {
  readonly phase: string;
  readonly ready: boolean;
  readonly ips: readonly string[];
  /** Named ports only. */
  readonly ports: readonly ContainerPort[];
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: string;
}

const apps = (plural: string, kind: string): Resource => ({ group: 'apps', version: 'v1', plural, kind, namespaced: true });
export const DEPLOYMENTS = apps('deployments', 'Deployment');
export const REPLICA_SETS = apps('replicasets', 'ReplicaSet');
export const STATEFUL_SETS = apps('statefulsets', 'StatefulSet');
export const DAEMON_SETS = apps('daemonsets', 'DaemonSet');

/** An object to create; its owner and its namespace are the workload's. */
export interface NewChild {
  readonly name: string;
  readonly labels: Labels;
  readonly annotations?: Labels;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The next writes. They are independent of each other. */
export interface Plan {
  readonly create?: readonly NewChild[];
  /** Pods; for a Deployment, ReplicaSets. */
  readonly delete?: readonly (ChildPod | Workload)[];
  /** ReplicaSets with a new number of replicas or a new revision. */
  readonly patch?: readonly { readonly object: Workload; readonly patch: object }[];
  /** Name of the ControllerRevision for the template. */
  readonly revision?: string;
  /** Annotations for the workload itself. */
  readonly annotate?: Labels;
  /** The whole status except for the generation; an equal status is not written. */
  readonly status: Status;
}

export const isTerminating = ({ metadata }: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean =>
  metadata.deletionTimestamp !== undefined;

/** Has not ended and is not terminating. */
export const isActive = (pod: ChildPod): boolean => !isTerminating(pod) && pod.phase !== 'Succeeded' && pod.phase !== 'Failed';

export const isReady = (pod: ChildPod): boolean => isActive(pod) && pod.ready;

/** Letters and digits that form no words, as in Kubernetes' random names. */
const SAFE = 'bcdfghjklmnpqrstvwxz2456789';

/** The same for equal templates in any notation: the name of a revision. */
export function templateHash(template: PodTemplate): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(normal(template)))
    .digest();
  return [...digest.subarray(0, 10)].map((byte) => SAFE[byte % SAFE.length]).join('');
}

/** Sorts keys and omits empty values: a client that writes a template back (`kubectl rollout undo`) may change both. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
    const kept = normal(each);
    const empty = kept === null || (typeof kept === 'object' && Object.keys(kept).length === 0);
    return empty ? [] : [[key, kept]];
  });
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** A random suffix for a name. `chance` returns a number from 0 up to 1. */
export function nameSuffix(chance: () => number): string {
  return Array.from({ length: 5 }, () => SAFE[Math.floor(chance() * SAFE.length)]).join('');
}

export function ownerReference({ metadata: { name, uid } }: Workload, { kind, group, version }: Resource): OwnerReference {
  return { apiVersion: `${group}/${version}`, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

export function podOf(template: PodTemplate, name: string, labels: Labels = {}, spec: Readonly<Record<string, unknown>> = {}): NewChild {
  const { labels: own = {}, annotations } = template.metadata ?? {};
  return {
    name,
    labels: { ...own, ...labels },
    ...(annotations === undefined ? {} : { annotations }),
    spec: { ...template.spec, ...spec },
  };
}
