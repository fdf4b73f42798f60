import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { isKubeError, type KubeError } from '../../src/kube/errors.ts';
import { EventRecorder } from '../../src/kube/events/event-recorder.ts';
import { ListWatchCache } from '../../src/kube/cache/list-watch-cache.ts';
import { keyOf, type KubeObject, type ObjectKey, PODS, type Resource } from '../../src/kube/resource.ts';
import { type LabNode, labNodes, nodeObject } from './lab-node.ts';
import { isTerminating, isUnbound, nextStep, type Step } from './next-step.ts';
import { type ObservedPod, trimPod } from './observed-pod.ts';
import { runningStatus } from './running-status.ts';
import { SandboxError, type Sandboxes } from './sandboxes.ts';

export interface StandInKubeletOptions {
  /** An API server, embedded or real. The caller closes it. */
  readonly client: KubeClient;
  /** The number of nodes, or the nodes. Default 2. */
  readonly nodes?: number | readonly LabNode[];
  /** Makes the networks of pods. Without it a pod's network exists when its annotations say so. */
  readonly sandboxes?: Sandboxes;
  /** Delay in milliseconds between a pod's network and the running pod. Default 0. */
  readonly delayMs?: number;
  /** Number of pods that are processed concurrently. Default 8; with sandboxes 32, since a pod waits for its network. */
  readonly concurrency?: number;
  /** False: kube-scheduler binds pods. Default true. */
  readonly bindsPods?: boolean;
  /** Called when a step failed and will be retried. Default: nothing. */
  readonly onError?: (error: KubeError, pod: ObjectKey) => void;
}

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const RETRY_MS = 500;
const SANDBOX_RETRY_MS = 2_000;

/** Another client wrote first, or the pod was deleted: the watch delivers the new state. */
const OUTRUN = ['KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_PRECONDITION', 'KUBE_ALREADY_EXISTS'] as const;

/**
 * Stands in for scheduler and kubelets: registers nodes, binds each pod to one in turn, marks pods as running with the addresses that the
 * controller assigned, and confirms deletions. No container runs.
 */
export class StandInKubelet implements AsyncDisposable {
  readonly nodes: readonly LabNode[];
  readonly #options: StandInKubeletOptions;
  readonly #stop = new AbortController();
  readonly #waiting = new Set<ObjectKey>();
  readonly #working = new Map<ObjectKey, Promise<void>>();
  readonly #runAt = new Map<string, number>();
  /** Pods that were deleted, until their sandboxes are. */
  readonly #gone = new Map<ObjectKey, ObservedPod[]>();
  /** Pods whose network is being made. */
  readonly #setUps = new Map<ObjectKey, AbortController>();
  readonly #events: EventRecorder;
  #pods: ListWatchCache<ObservedPod> | undefined;
  #observedNodes: ListWatchCache<ObservedNode> | undefined;
  #turn = 0;

  constructor(options: StandInKubeletOptions) {
    this.#options = options;
    const { nodes = 2 } = options;
    this.nodes = typeof nodes === 'number' ? labNodes(nodes) : nodes;
    this.#events = new EventRecorder({ client: options.client, component: 'kubelet' });
  }

  /** Registers the nodes and starts; resolves when all existing pods were processed. Can be started once only. */
  async start(): Promise<void> {
    if (this.#pods !== undefined) return;
    const pods = new ListWatchCache<ObservedPod>({ client: this.#options.client, resource: PODS, trim: trimPod });
    this.#pods = pods;
    for (const node of this.nodes) await this.#register(node);
    const nodes = new ListWatchCache<ObservedNode>({ client: this.#options.client, resource: NODES, trim: trimNode });
    this.#observedNodes = nodes;
    // A pod that found no node may now fit on one that was created again.
    nodes.onDelta((deltas) => {
      if (deltas.some(({ type }) => type === 'upsert')) this.#lookAtUnbound(pods);
    });
    await nodes.start().untilSynced();
    pods.onDelta((deltas) => {
      for (const { type, object } of deltas) {
        const key = keyOf(object.metadata);
        if (type !== 'upsert' || isTerminating(object)) this.#setUps.get(key)?.abort();
        if (type === 'upsert') this.#waiting.add(key);
        else {
          this.#runAt.delete(object.metadata.uid ?? '');
          if (this.#options.sandboxes === undefined) continue;
          this.#gone.set(key, [...(this.#gone.get(key) ?? []), object]);
          this.#waiting.add(key);
        }
      }
      this.#work();
    });
    await pods.start().untilSynced();
  }

  /** Stops the watch and the processing. The nodes and their pods stay as they are. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#waiting.clear();
    await this.#pods?.close();
    await this.#observedNodes?.close();
    for (const setUp of this.#setUps.values()) setUp.abort();
    await Promise.all(this.#working.values());
    await this.#events.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Updates an existing node to its intended state. */
  async #register(node: LabNode): Promise<void> {
    const { client } = this.#options;
    const object = nodeObject(node, timestamp());
    try {
      await client.create<KubeObject>(NODES, object);
    } catch (error) {
      if (!isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
    }
    // The API server taints new nodes until a controller, which does not run here, removes the taint.
    await client.mergePatch(NODES, node, { metadata: { labels: node.labels }, spec: { taints: node.taints ?? null } });
    await client.mergePatch(NODES, node, { status: object.status }, { subresource: 'status' });
  }

  #work(): void {
    const { sandboxes, concurrency = sandboxes === undefined ? 8 : 32 } = this.#options;
    for (const key of this.#waiting) {
      if (this.#working.size >= concurrency || this.#stop.signal.aborted) return;
      if (this.#working.has(key)) continue;
      this.#waiting.delete(key);
      const done = this.#advance(key).finally(() => {
        this.#working.delete(key);
        this.#work();
      });
      this.#working.set(key, done);
    }
  }

  /** One step for one pod; its result returns by the watch and causes the next step. */
  async #advance(key: ObjectKey): Promise<void> {
    const { sandboxes, bindsPods = true } = this.#options;
    try {
      await this.#tearDownGone(key);
      const pod = this.#pods?.get(key);
      const takesPods = ({ name }: LabNode): boolean => bindsPods && isSchedulable(this.#observedNodes?.get(name));
      const step = pod && nextStep(pod, this.nodes, takesPods, sandboxes && ((one) => sandboxes.addressesOf(one)));
      if (pod === undefined || step === undefined) return;
      if (step.kind === 'run' && this.#mustWait(key, pod)) return;
      await this.#take(step, pod);
    } catch (error) {
      if (this.#stop.signal.aborted || OUTRUN.some((code) => isKubeError(error, code))) return;
      if (error instanceof SandboxError) {
        this.#report(error);
        this.#later(key, SANDBOX_RETRY_MS);
        return;
      }
      if (!isKubeError(error)) throw error;
      this.#options.onError?.(error, key);
      this.#later(key, RETRY_MS);
    }
  }

  /** A pod that was deleted without grace is gone before its sandbox is. */
  async #tearDownGone(key: ObjectKey): Promise<void> {
    for (;;) {
      const [pod, ...others] = this.#gone.get(key) ?? [];
      if (pod === undefined) return;
      await this.#options.sandboxes?.tearDown(pod);
      if (others.length === 0) this.#gone.delete(key);
      else this.#gone.set(key, others);
    }
  }

  /** As kubelet words it, but without the id of the sandbox, so that a repeated Event is counted. */
  #report({ message, verb, pod: { metadata } }: SandboxError): void {
    const { name, namespace = '', uid = '' } = metadata;
    this.#events.record({
      target: { resource: PODS, name, namespace, uid },
      type: 'Warning',
      reason: verb === 'set up' ? 'FailedCreatePodSandBox' : 'FailedKillPod',
      message: verb === 'set up' ? `Failed to create pod sandbox: ${message}` : `error killing pod: failed to "KillPodSandbox": ${message}`,
    });
  }

  async #take(step: Step, pod: ObservedPod): Promise<void> {
    const { client, sandboxes } = this.#options;
    const { name, namespace = '', uid } = pod.metadata;
    switch (step.kind) {
      case 'bind': {
        const node = step.candidates[this.#turn++ % step.candidates.length];
        const target = { apiVersion: 'v1', kind: 'Node', name: node?.name };
        const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target };
        await client.create<KubeObject>({ ...PODS, kind: 'Binding' }, binding, { subresource: 'binding' });
        return;
      }
      case 'set-up':
        await this.#setUp(pod, step.node);
        return;
      case 'tear-down':
        await sandboxes?.tearDown(pod);
        return;
      case 'run': {
        const patch = { metadata: { uid }, ...runningStatus(pod, step, timestamp()) };
        await client.strategicPatch(PODS, { name, namespace }, patch, { subresource: 'status' });
        return;
      }
      case 'confirm-deletion':
        await sandboxes?.tearDown(pod);
        await client.delete(PODS, { name, namespace }, { gracePeriodSeconds: 0, ...(uid === undefined ? {} : { uid }) });
        return;
    }
  }

  /** The next step follows from what is observed by then. */
  async #setUp(pod: ObservedPod, node: LabNode): Promise<void> {
    const key = keyOf(pod.metadata);
    const abort = new AbortController();
    this.#setUps.set(key, abort);
    try {
      await this.#options.sandboxes?.setUp(pod, node, abort.signal);
    } catch (error) {
      if (!(error instanceof SandboxError && abort.signal.aborted)) throw error;
    } finally {
      this.#setUps.delete(key);
    }
    this.#waiting.add(key);
  }

  #lookAtUnbound(pods: ListWatchCache<ObservedPod>): void {
    for (const pod of pods.values()) if (isUnbound(pod)) this.#waiting.add(keyOf(pod.metadata));
    this.#work();
  }

  #mustWait(key: ObjectKey, { metadata: { uid = '' } }: ObservedPod): boolean {
    const { delayMs = 0 } = this.#options;
    if (delayMs === 0) return false;
    const now = performance.now();
    const runAt = this.#runAt.get(uid);
    if (runAt !== undefined) return now < runAt;
    this.#runAt.set(uid, now + delayMs);
    this.#later(key, delayMs + 1);
    return true;
  }

  #later(key: ObjectKey, milliseconds: number): void {
    sleep(milliseconds, undefined, { signal: this.#stop.signal, ref: false }).then(
      () => {
        this.#waiting.add(key);
        this.#work();
      },
      () => {},
    );
  }
}

/** The parts of a node that the scheduler needs. */
interface ObservedNode extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
}

function trimNode({ metadata: { name, uid, resourceVersion, deletionTimestamp }, spec }: ObservedNode): ObservedNode {
  return {
    metadata: {
      name,
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    ...(spec?.unschedulable === true && { spec: { unschedulable: true } }),
  };
}

/** Whether the node exists now, is not being deleted, and is not cordoned. */
function isSchedulable(node: ObservedNode | undefined): boolean {
  return node !== undefined && node.metadata.deletionTimestamp === undefined && node.spec?.unschedulable !== true;
}

/** Kubernetes' timestamps are whole seconds. */
function timestamp(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}
