import { setTimeout as sleep } from 'node:timers/promises';
import { selectorMatches } from '../../src/api/kubernetes/label-selector.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { isKubeError, type KubeError } from '../../src/kube/errors.ts';
import { ListWatchCache } from '../../src/kube/cache/list-watch-cache.ts';
import { keyOf, type KubeObject, PODS, type Resource } from '../../src/kube/resource.ts';
import { type NodeView, planDaemonSet } from './plan-daemon-set.ts';
import { planDeployment } from './plan-deployment.ts';
import { planReplicaSet } from './plan-replica-set.ts';
import { planStatefulSet } from './plan-stateful-set.ts';
import { Revisions } from './revisions.ts';
import { StandInBudgets } from './stand-in-budgets.ts';
import { StandInEndpoints } from './stand-in-endpoints.ts';
import { trimChild, trimNode } from './trimmed.ts';
import {
  type ChildPod,
  type Condition,
  DAEMON_SETS,
  DEPLOYMENTS,
  isActive,
  isTerminating,
  type NewChild,
  ownerReference,
  type Plan,
  REPLICA_FAILURE,
  REPLICA_SETS,
  STATEFUL_SETS,
  type Status,
  type Workload,
} from './workload.ts';
import { WorkloadEvents } from './workload-events.ts';

export interface StandInControllersOptions {
  /** The embedded API server, or another one without such controllers. The caller closes it. */
  readonly client: KubeClient;
  /** Called when a plan failed and will be retried. Default: nothing. */
  readonly onError?: (error: KubeError, workload: string) => void;
}

/** An observed child, with or without a workload. */
type Child = ChildPod | Workload;

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const KINDS = [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS] as const;
/** The first delay after a failed plan; it doubles each time. */
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 8_000;
const AT_ONCE = 8;
/** Concurrent creations of one plan. */
const CREATIONS = 16;

/** Another client wrote first, or the object was deleted: the watch delivers the new state. */
const OUTRUN = ['KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_PRECONDITION'] as const;

/**
 * Stands in for kube-controller-manager: Deployments, ReplicaSets, StatefulSets, DaemonSets, PodDisruptionBudgets and the endpoints of
 * Services.
 */
export class StandInControllers implements AsyncDisposable {
  readonly #options: StandInControllersOptions;
  readonly #workloads: ReadonlyMap<Resource, ListWatchCache<KubeObject>>;
  readonly #pods: ListWatchCache<KubeObject>;
  readonly #nodes: ListWatchCache<KubeObject>;
  readonly #budgets: StandInBudgets;
  readonly #endpoints: StandInEndpoints;
  readonly #revisions: Revisions;
  readonly #events: WorkloadEvents;
  /** By the uid of the controlling workload, then by the child's own key. */
  readonly #children = new Map<string, Map<string, Child>>();
  /** By namespace, then by their own uid: objects without a controller, for a workload whose selector matches them. */
  readonly #orphans = new Map<string, Map<string, Child>>();
  /** By uid: the map of the two in which a child is, and its key there. */
  readonly #places = new Map<string, readonly [homes: Map<string, Map<string, Child>>, home: string]>();
  readonly #waiting = new Map<string, readonly [Resource, key: string]>();
  readonly #working = new Map<string, Promise<void>>();
  /** The delay before the next attempt of a failed plan. */
  readonly #patience = new Map<string, number>();
  readonly #stop = new AbortController();

  constructor(options: StandInControllersOptions) {
    this.#options = options;
    const cache = (resource: Resource, trim?: (object: KubeObject) => KubeObject): ListWatchCache<KubeObject> =>
      new ListWatchCache<KubeObject>({ client: options.client, resource, ...(trim === undefined ? {} : { trim }) });
    this.#workloads = new Map(KINDS.map((resource) => [resource, cache(resource)]));
    this.#pods = cache(PODS, (pod) => trimChild(pod as unknown as Parameters<typeof trimChild>[0]));
    this.#nodes = cache(NODES, trimNode);
    this.#revisions = new Revisions(options.client);
    this.#events = new WorkloadEvents(options.client);
    this.#budgets = new StandInBudgets({ client: options.client, pods: this.#pods, replicasOf: (pod) => this.#replicasOf(pod) });
    this.#endpoints = new StandInEndpoints({ client: options.client, pods: this.#pods });
  }

  /** Starts; resolves when all existing objects were processed. Can be started once only. */
  async start(): Promise<void> {
    for (const [resource, cache] of this.#workloads) {
      cache.onDelta((deltas) => {
        for (const { type, object } of deltas) {
          if (type === 'delete') this.#revisions.forget((object as Workload).metadata.uid);
          this.#enqueue(resource, keyOf(object.metadata));
        }
      });
    }
    for (const cache of [this.#pods, this.#cacheOf(REPLICA_SETS)]) {
      cache.onDelta((deltas) => {
        for (const { type, object } of deltas) this.#file(object as Child, type === 'delete');
      });
    }
    this.#nodes.onDelta(() => {
      for (const { metadata } of this.#cacheOf(DAEMON_SETS).values()) this.#enqueue(DAEMON_SETS, keyOf(metadata));
    });
    // A workload that is processed before its pods are known would create them again.
    await Promise.all([this.#pods, this.#nodes].map((cache) => cache.start().untilSynced()));
    for (const resource of [...KINDS].toReversed()) await this.#cacheOf(resource).start().untilSynced();
    await this.#budgets.start();
    await this.#endpoints.start();
  }

  /** Stops watches and processing. Workloads and pods stay as they are. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#waiting.clear();
    await this.#budgets.stop();
    await this.#endpoints.stop();
    await this.#events.close();
    await Promise.all([this.#pods, this.#nodes, ...this.#workloads.values()].map((cache) => cache.close()));
    await Promise.all(this.#working.values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #cacheOf(resource: Resource): ListWatchCache<KubeObject> {
    const cache = this.#workloads.get(resource);
    if (cache === undefined) throw new Error(`no cache of ${resource.plural}`);
    return cache;
  }

  /** The intended number of pods of the workload that would replace the pod. */
  #replicasOf({ metadata }: ChildPod): { readonly owner: string; readonly replicas: number } | undefined {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    const resource = [REPLICA_SETS, STATEFUL_SETS].find(({ kind }) => kind === owner?.kind);
    if (owner === undefined || resource === undefined) return undefined;
    const workload = this.#cacheOf(resource).get(keyOf({ namespace: metadata.namespace, name: owner.name ?? '' })) as Workload | undefined;
    return workload === undefined ? undefined : { owner: owner.uid, replicas: workload.spec.replicas ?? 1 };
  }

  #file(child: Child, gone: boolean): void {
    const owner = child.metadata.ownerReferences?.find(({ controller }) => controller === true);
    const resource = KINDS.find(({ kind }) => kind === owner?.kind);
    const { namespace = '', name, uid } = child.metadata;
    this.#unfile(uid);
    if (!gone && (owner === undefined || resource !== undefined)) {
      const [homes, home] = owner === undefined ? [this.#orphans, namespace] : [this.#children, owner.uid];
      homes.set(home, (homes.get(home) ?? new Map<string, Child>()).set(uid, child));
      this.#places.set(uid, [homes, home]);
    }
    if (owner === undefined) this.#offer(child, gone);
    else if (resource !== undefined) this.#enqueue(resource, keyOf({ namespace, name: owner.name ?? name }));
  }

  #unfile(uid: string): void {
    const [homes, home] = this.#places.get(uid) ?? [];
    if (homes === undefined || home === undefined) return;
    this.#places.delete(uid);
    homes.get(home)?.delete(uid);
    if (homes.get(home)?.size === 0) homes.delete(home);
  }

  /** Enqueues every workload in the namespace that could adopt the orphan. */
  #offer(child: Child, gone: boolean): void {
    if (gone || isTerminating(child)) return;
    for (const resource of KINDS)
      for (const workload of this.#cacheOf(resource).values())
        if (adopts(resource, workload as Workload, child)) this.#enqueue(resource, keyOf(workload.metadata));
  }

  #enqueue(resource: Resource, key: string): void {
    this.#waiting.set(`${resource.plural}/${key}`, [resource, key]);
    this.#work();
  }

  #work(): void {
    for (const [id, [resource, key]] of this.#waiting) {
      if (this.#working.size >= AT_ONCE || this.#stop.signal.aborted) return;
      if (this.#working.has(id)) continue;
      this.#waiting.delete(id);
      const done = this.#advance(resource, key, id).finally(() => {
        this.#working.delete(id);
        this.#work();
      });
      this.#working.set(id, done);
    }
  }

  async #advance(resource: Resource, key: string, id: string): Promise<void> {
    // Lets the watch deliver all events of its current chunk first.
    await sleep(0);
    const workload = this.#cacheOf(resource).get(key) as Workload | undefined;
    if (workload === undefined || isTerminating(workload)) {
      this.#patience.delete(id);
      return;
    }
    try {
      if (await this.#adopt(resource, workload)) return;
      await this.#carryOut(resource, workload, this.#plan(resource, workload));
      this.#patience.delete(id);
    } catch (error) {
      if (this.#stop.signal.aborted || OUTRUN.some((code) => isKubeError(error, code))) return;
      if (!isKubeError(error)) throw error;
      this.#options.onError?.(error, id);
      const wait = this.#patience.get(id) ?? RETRY_MS;
      this.#patience.set(id, Math.min(2 * wait, LONGEST_RETRY_MS));
      // Until then only a change enqueues it.
      setTimeout(() => this.#enqueue(resource, key), wait).unref();
    }
  }

  /** @returns whether there was an orphan to adopt: the next plan counts it among the workload's children. */
  async #adopt(resource: Resource, workload: Workload): Promise<boolean> {
    const { namespace = '' } = workload.metadata;
    const orphans = [...(this.#orphans.get(namespace)?.values() ?? [])].filter((child) => adopts(resource, workload, child));
    const target = resource === DEPLOYMENTS ? REPLICA_SETS : PODS;
    for (const { metadata } of orphans) {
      const ownerReferences = [...(metadata.ownerReferences ?? []), ownerReference(workload, resource)];
      const patch = { metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion, ownerReferences } };
      (target === PODS ? this.#pods : this.#cacheOf(REPLICA_SETS)).applyOwn(
        await this.#options.client.mergePatch<KubeObject>(target, metadata, patch),
      );
    }
    return orphans.length > 0;
  }

  #plan(resource: Resource, workload: Workload): Plan {
    const children = [...(this.#children.get(workload.metadata.uid)?.values() ?? [])];
    switch (resource) {
      case DEPLOYMENTS:
        return planDeployment(workload, children as Workload[]);
      case REPLICA_SETS:
        return planReplicaSet(workload, children as ChildPod[], Math.random);
      case STATEFUL_SETS:
        return planStatefulSet(workload, children as ChildPod[], (revision) => this.#revisions.template(workload, revision));
      default:
        return planDaemonSet(workload, children as ChildPod[], [...this.#nodes.values()] as NodeView[], Math.random);
    }
  }

  /** Replies go into the caches at once, so that the next plan of this workload includes them. */
  async #carryOut(resource: Resource, workload: Workload, plan: Plan): Promise<void> {
    const { client } = this.#options;
    const sets = this.#cacheOf(REPLICA_SETS);
    const target = resource === DEPLOYMENTS ? REPLICA_SETS : PODS;
    const targets = target === PODS ? this.#pods : sets;
    // Before a pod of another template is created, so that the old template can always be restored.
    if (plan.revision !== undefined) await this.#record(resource, workload, plan.revision);
    const refusal = await this.#create(resource, workload, plan.create ?? []);
    if (resource === DEPLOYMENTS && refusal === undefined) this.#tellScaling(workload, plan);
    for (const { metadata } of plan.delete ?? []) {
      const left = await client.delete<KubeObject>(target, metadata, { uid: metadata.uid });
      if (left === undefined) targets.applyOwnDelete(keyOf(metadata), metadata.uid);
      else targets.applyOwn(left);
      this.#events.deleted(resource, workload, metadata.name);
    }
    for (const { object, patch } of plan.patch ?? [])
      sets.applyOwn(await client.mergePatch<KubeObject>(REPLICA_SETS, object.metadata, patch));
    const annotations = plan.annotate ?? {};
    if (Object.entries(annotations).some(([key, value]) => workload.metadata.annotations?.[key] !== value))
      this.#cacheOf(resource).applyOwn(await client.mergePatch<KubeObject>(resource, workload.metadata, { metadata: { annotations } }));
    const planned = resource === REPLICA_SETS ? { ...plan.status, ...failureOf(workload, refusal) } : plan.status;
    const status = { ...planned, ...timed(planned, workload.status), observedGeneration: workload.metadata.generation ?? 0 };
    if (Object.entries(status).some(([field, value]) => JSON.stringify(workload.status?.[field] ?? 0) !== JSON.stringify(value))) {
      const written = await client.mergePatch<KubeObject>(resource, workload.metadata, { status }, { subresource: 'status' });
      this.#cacheOf(resource).applyOwn(written);
    }
    if (refusal !== undefined) throw refusal;
  }

  /**
   * Creates one child, then twice as many at a time, so that a rejection is reported once. @returns why one was rejected; the rest is not
   * attempted
   */
  async #create(resource: Resource, workload: Workload, children: readonly NewChild[]): Promise<KubeError | undefined> {
    const target = resource === DEPLOYMENTS ? REPLICA_SETS : PODS;
    const targets = target === PODS ? this.#pods : this.#cacheOf(REPLICA_SETS);
    const create = async (child: NewChild): Promise<void> => {
      try {
        targets.applyOwn(await this.#options.client.create<KubeObject>(target, objectOf(child, resource, workload)));
        this.#events.created(resource, workload, child.name);
      } catch (error) {
        if (isRefusal(error)) this.#events.refused(resource, workload, child.name, error.detail);
        throw error;
      }
    };
    const waiting = [...children];
    try {
      for (let size = 1; waiting.length > 0; size = Math.min(2 * size, CREATIONS)) await Promise.all(waiting.splice(0, size).map(create));
      return undefined;
    } catch (error) {
      if (isRefusal(error)) return error;
      throw error;
    }
  }

  async #record(resource: Resource, workload: Workload, revision: string): Promise<void> {
    const { name, uid } = workload.metadata;
    // The label of a StatefulSet's pods is the name of the revision, that of a DaemonSet's pods only the hash.
    const hashes = [...(this.#children.get(uid)?.values() ?? [])].flatMap((pod) => pod.metadata.labels?.[REVISION_LABEL] ?? []);
    await this.#revisions.record(resource, workload, revision, new Set(hashes.flatMap((hash) => [hash, `${name}-${hash}`])));
  }

  #tellScaling(deployment: Workload, { create = [], patch = [] }: Plan): void {
    const scaled = [
      ...create.map((set) => [set.name, 0, Number(set.spec['replicas'] ?? 0)] as const),
      ...patch.map(({ object, patch: change }) => {
        const { replicas } = (change as { readonly spec?: { readonly replicas?: number } }).spec ?? {};
        const had = object.spec.replicas ?? 1;
        return [object.metadata.name, had, replicas ?? had] as const;
      }),
    ];
    for (const [set, from, to] of scaled) this.#events.scaled(deployment, set, from, to);
  }
}

const REVISION_LABEL = 'controller-revision-hash';

/** The API server read the request and rejected it. A terminating namespace accepts no creations, which is not reported. */
function isRefusal(error: unknown): error is KubeError {
  return isKubeError(error) && error.status > 0 && ![...OUTRUN, 'KUBE_NAMESPACE_TERMINATING'].includes(error.code);
}

/** The condition of a ReplicaSet whose pods are rejected: it keeps the first rejection, and is removed after a success. */
function failureOf({ status }: Workload, refusal: KubeError | undefined): { readonly conditions?: readonly Condition[] } {
  const { conditions = [] } = status ?? {};
  if (refusal === undefined) return conditions.length === 0 ? {} : { conditions: [] };
  if (conditions.some(({ type }) => type === REPLICA_FAILURE)) return { conditions };
  return { conditions: [{ type: REPLICA_FAILURE, status: 'True', reason: 'FailedCreate', message: refusal.detail }] };
}

/**
 * Adoption as in kube-controller-manager: a live object without a controller that the selector matches; for a StatefulSet, its name must
 * fit as well.
 */
function adopts(resource: Resource, { metadata, spec }: Workload, child: Child): boolean {
  const isPod = 'phase' in child;
  if (isPod === (resource === DEPLOYMENTS) || child.metadata.namespace !== metadata.namespace) return false;
  if (isTerminating(child) || isTerminating({ metadata }) || (isPod && !isActive(child))) return false;
  const { name } = child.metadata;
  const named = resource !== STATEFUL_SETS || (name.startsWith(`${metadata.name}-`) && /^\d+$/.test(name.slice(metadata.name.length + 1)));
  return named && selectorMatches(spec.selector, child.metadata.labels);
}

function objectOf({ name, labels, annotations, spec }: NewChild, resource: Resource, workload: Workload): KubeObject {
  const { namespace } = workload.metadata;
  // Pods show the prefix of their names, also when the suffix is not random.
  const generateName = resource === DEPLOYMENTS ? undefined : `${workload.metadata.name}-`;
  const metadata = { name, generateName, namespace, labels, annotations, ownerReferences: [ownerReference(workload, resource)] };
  return { metadata, spec } as KubeObject;
}

/** Conditions with their times: an unchanged condition keeps its time. */
function timed({ conditions }: Status, before: Status | undefined): { readonly conditions?: readonly Condition[] } {
  if (conditions === undefined) return {};
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    conditions: conditions.map((condition) => {
      const { type, status, reason, message } = condition;
      const old = before?.conditions?.find((each) => each.type === type);
      const same = old !== undefined && old.status === status && old.reason === reason && old.message === message;
      return same
        ? old
        : {
            ...{ type, status },
            lastUpdateTime: now,
            lastTransitionTime: old?.status === status ? (old.lastTransitionTime ?? now) : now,
            ...{ reason, message },
          };
    }),
  };
}
