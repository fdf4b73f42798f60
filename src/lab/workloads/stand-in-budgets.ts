import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../kube/client.ts';
import { isKubeError } from '../../kube/errors.ts';
import { selectorMatches } from '../../api/label-selector.ts';
import { ListWatchCache } from '../../kube/list-watch-cache.ts';
import { keyOf, type KubeObject, type Resource } from '../../kube/resource.ts';
import { type BudgetStatus, type DisruptionBudget, planDisruptionBudget } from './plan-disruption-budget.ts';
import type { ChildPod } from './workload.ts';

const BUDGETS: Resource = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', kind: 'PodDisruptionBudget', namespaced: true };

const RETRY_MS = 500;

export interface StandInBudgetsOptions {
  readonly client: KubeClient;
  /** All pods, trimmed to what a `ChildPod` is. */
  readonly pods: ListWatchCache<KubeObject>;
  readonly replicasOf: (pod: ChildPod) => { readonly owner: string; readonly replicas: number } | undefined;
}

/** Keeps the status of PodDisruptionBudgets, so that evictions are allowed and refused as elsewhere. */
export class StandInBudgets {
  readonly #options: StandInBudgetsOptions;
  readonly #budgets: ListWatchCache<KubeObject>;
  readonly #waiting = new Set<string>();
  readonly #stop = new AbortController();
  #working: Promise<void> | undefined;

  constructor(options: StandInBudgetsOptions) {
    this.#options = options;
    this.#budgets = new ListWatchCache<KubeObject>({ client: options.client, resource: BUDGETS, optional: true });
  }

  /** After the pods are known. */
  async start(): Promise<void> {
    this.#budgets.onDelta((deltas) => {
      for (const { type, object } of deltas) if (type === 'upsert') this.#enqueue(keyOf(object.metadata));
    });
    this.#options.pods.onDelta((deltas) => {
      const namespaces = new Set(deltas.map(({ object }) => object.metadata.namespace));
      for (const { metadata } of this.#budgets.values()) if (namespaces.has(metadata.namespace)) this.#enqueue(keyOf(metadata));
    });
    await this.#budgets.start().untilSynced();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#waiting.clear();
    await this.#budgets.close();
    await this.#working;
  }

  #enqueue(key: string): void {
    if (this.#stop.signal.aborted) return;
    this.#waiting.add(key);
    this.#start();
  }

  #start(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      if (this.#waiting.size > 0) this.#start();
    });
  }

  async #work(): Promise<void> {
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      const budget = this.#budgets.get(key) as DisruptionBudget | undefined;
      if (budget === undefined || budget.metadata.deletionTimestamp !== undefined) continue;
      await this.#count(budget);
    }
  }

  async #count(budget: DisruptionBudget): Promise<void> {
    const { client, pods, replicasOf } = this.#options;
    const { namespace, resourceVersion, generation } = budget.metadata;
    const { selector } = budget.spec;
    const selected = (pod: KubeObject): boolean =>
      selector !== undefined && pod.metadata.namespace === namespace && selectorMatches(selector, (pod as ChildPod).metadata.labels);
    const status = {
      ...planDisruptionBudget(budget, [...pods.values()].filter(selected) as ChildPod[], replicasOf),
      observedGeneration: generation,
    };
    const before: Partial<BudgetStatus> = { disruptedPods: null, ...budget.status };
    if (Object.entries(status).every(([field, value]) => JSON.stringify(before[field as keyof BudgetStatus]) === JSON.stringify(value)))
      return;
    try {
      // With the version that was counted: an eviction in between must not be lost.
      const patch = { metadata: { resourceVersion }, status };
      this.#budgets.applyOwn(await client.mergePatch<KubeObject>(BUDGETS, budget.metadata, patch, { subresource: 'status' }));
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      if (!isKubeError(error)) throw error;
      // After a conflict the watch brings what to count; of any other failure nothing else would.
      await sleep(RETRY_MS, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
      this.#enqueue(keyOf(budget.metadata));
    }
  }
}
