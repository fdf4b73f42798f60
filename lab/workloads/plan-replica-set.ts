import { type ChildPod, isActive, isReady, nameSuffix, type Plan, podOf, type Workload } from './workload.ts';

/** As many active pods as `replicas`; surplus pods are deleted in this order: not ready first, then the youngest. */
export function planReplicaSet({ spec, metadata }: Workload, pods: readonly ChildPod[], chance: () => number): Plan {
  const active = pods.filter(isActive);
  const { replicas = 1, template } = spec;
  const missing = Math.max(0, replicas - active.length);
  return {
    create: Array.from({ length: missing }, () => podOf(template, `${metadata.name}-${nameSuffix(chance)}`)),
    delete: active.toSorted(firstToGo).slice(0, Math.max(0, active.length - replicas)),
    status: {
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: active.filter(isReady).length,
      availableReplicas: active.filter(isReady).length,
    },
  };
}

function firstToGo(one: ChildPod, other: ChildPod): number {
  if (one.ready !== other.ready) return one.ready ? 1 : -1;
  return other.metadata.creationTimestamp.localeCompare(one.metadata.creationTimestamp);
}
