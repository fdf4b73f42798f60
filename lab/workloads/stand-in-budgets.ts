import type { KubeClient } from '../../src/kube/client/client.ts';
import { selectorMatches } from '../../src/api/kubernetes/label-selector.ts';
import { ListWatchCache } from '../../src/kube/cache/list-watch-cache.ts';
import { keyOf, type KubeObject, type Resource } from '../../src/kube/resource.ts';
import { KeyQueue } from './key-queue.ts';
import { type BudgetStatus, type DisruptionBudget, planDisruptionBudget } from './plan-disruption-budget.ts';
import type { ChildPod } from './workload.ts';

const BUDGETS: Resource = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', kind: 'PodDisruptionBudget', namespaced: true };

export interface StandInBudgetsOptions {
  readonly client: KubeClient;
  /** All pods, trimmed to the fields of `ChildPod`. */
  readonly pods: ListWatchCache<KubeObject>;
  readonly replicasOf: (pod: ChildPod) => { readonly owner: string; readonly replicas: number } | undefined;
}

/** Maintains the status of PodDisruptionBudgets, so that evictions are allowed or rejected as in any cluster. */
export class StandInBudgets {
  readonly #options: StandInBudgetsOptions;
  readonly #budgets: ListWatchCache<KubeObject>;
  readonly #queue = new KeyQueue((key) => this.#follow(key));

  constructor(options: StandInBudgetsOptions) {
    this.#options = options;
    this.#budgets = new ListWatchCache<KubeObject>({ client: options.client, resource: BUDGETS, optional: true });
  }

  /** Must run after the pods are known. */
  async start(): Promise<void> {
    this.#budgets.onDelta((deltas) => {
      for (const { type, object } of deltas) if (type === 'upsert') this.#queue.add(keyOf(object.metadata));
    });
    this.#options.pods.onDelta((deltas) => {
      const namespaces = new Set(deltas.map(({ object }) => object.metadata.namespace));
      for (const { metadata } of this.#budgets.values()) if (namespaces.has(metadata.namespace)) this.#queue.add(keyOf(metadata));
    });
    await this.#budgets.start().untilSynced();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#queue.stop(), this.#budgets.close()]);
  }

  async #follow(key: string): Promise<void> {
    const budget = this.#budgets.get(key) as DisruptionBudget | undefined;
    if (budget === undefined || budget.metadata.deletionTimestamp !== undefined) return;
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
    // With the observed resourceVersion, so that a concurrent eviction is not lost.
    const patch = { metadata: { resourceVersion }, status };
    this.#budgets.applyOwn(await client.mergePatch<KubeObject>(BUDGETS, budget.metadata, patch, { subresource: 'status' }));
  }
}
