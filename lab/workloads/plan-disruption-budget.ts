/** The number of disruptions that a PodDisruptionBudget allows now, counted as kube-controller-manager does. */
import type { KubeObject, LabelSelector } from '../../src/api/kubernetes/meta.ts';
import { type ChildPod, isReady, isTerminating } from './workload.ts';

type Amount = number | string;

export type DisruptionBudget = KubeObject<
  { readonly selector?: LabelSelector; readonly minAvailable?: Amount; readonly maxUnavailable?: Amount },
  BudgetStatus
>;

export interface BudgetStatus {
  readonly expectedPods: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptionsAllowed: number;
  /** Pods that were evicted and whose deletion was not yet observed: name to time. */
  readonly disruptedPods?: Readonly<Record<string, string>> | null;
}

/**
 * @param pods the pods that the budget selects
 * @param replicasOf the owner of a pod and its intended number of pods; undefined if no controller replaces the pod
 */
export function planDisruptionBudget(
  { spec, status }: DisruptionBudget,
  pods: readonly ChildPod[],
  replicasOf: (pod: ChildPod) => { readonly owner: string; readonly replicas: number } | undefined,
): BudgetStatus {
  const owners = new Map<string, number>();
  for (const pod of pods) {
    const { owner, replicas } = replicasOf(pod) ?? { owner: pod.metadata.uid, replicas: isTerminating(pod) ? 0 : 1 };
    owners.set(owner, replicas);
  }
  const expectedPods = [...owners.values()].reduce((sum, replicas) => sum + replicas, 0);
  const going = Object.entries(status?.disruptedPods ?? {}).filter(([name]) =>
    pods.some((pod) => pod.metadata.name === name && !isTerminating(pod)),
  );
  const disrupted = new Set(going.map(([name]) => name));
  const currentHealthy = pods.filter((pod) => isReady(pod) && !disrupted.has(pod.metadata.name)).length;
  const desiredHealthy = Math.max(
    0,
    spec.maxUnavailable === undefined
      ? amountOf(spec.minAvailable ?? 1, expectedPods)
      : expectedPods - amountOf(spec.maxUnavailable, expectedPods),
  );
  return {
    expectedPods,
    currentHealthy,
    desiredHealthy,
    disruptionsAllowed: expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy),
    disruptedPods: going.length === 0 ? null : Object.fromEntries(going),
  };
}

/** A percentage, rounded up, or a number. */
function amountOf(amount: Amount, all: number): number {
  return typeof amount === 'string' && amount.endsWith('%') ? Math.ceil((Number(amount.slice(0, -1)) * all) / 100) : Number(amount);
}
