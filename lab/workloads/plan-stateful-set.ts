import {
  type ChildPod,
  isActive,
  isReady,
  isTerminating,
  type NewChild,
  type Plan,
  podOf,
  type PodTemplate,
  templateHash,
  type Workload,
} from './workload.ts';

const REVISION = 'controller-revision-hash';

/**
 * Pods of `replicas` ordinals from `ordinals.start` (default 0). Each is created when all before it are ready (with Parallel: at once);
 * surplus pods are deleted from the highest ordinal down, one at a time. A pod that has ended is deleted and created again. So is a pod of
 * an older template, the highest first, when all others are ready (unless the update strategy is OnDelete). Pods below the partition of a
 * rolling update keep the template that was rolled out last, also when they are created again.
 *
 * @param former the template of a revision; undefined if that is unknown
 */
export function planStatefulSet(
  set: Workload,
  pods: readonly ChildPod[],
  former: (revision: string) => PodTemplate | undefined = () => undefined,
): Plan {
  const { replicas = 1, podManagementPolicy, updateStrategy, template, ordinals: { start = 0 } = {} } = set.spec;
  const revision = `${set.metadata.name}-${templateHash(template)}`;
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const ordinals = Array.from({ length: replicas }, (_, at) => start + at);
  const parallel = podManagementPolicy === 'Parallel';
  const isCurrent = (pod: ChildPod): boolean => pod.metadata.labels?.[REVISION] === revision;

  const partition = updateStrategy?.type === 'OnDelete' ? 0 : (updateStrategy?.rollingUpdate?.partition ?? 0);
  const before = set.status?.['currentRevision'];
  const kept = typeof before === 'string' && before !== revision ? former(before) : undefined;

  const create: NewChild[] = [];
  const gone: ChildPod[] = [];
  for (const at of ordinals) {
    const pod = byOrdinal.get(at);
    if (pod === undefined)
      create.push(
        at < start + partition && kept !== undefined ? podFor(set, at, String(before), kept) : podFor(set, at, revision, template),
      );
    else if (!isTerminating(pod) && !isActive(pod)) gone.push(pod);
    if (!parallel && (pod === undefined || !isReady(pod))) break;
  }
  const settled = create.length + gone.length === 0 && ordinals.every((at) => isReadyAt(byOrdinal, at));
  const surplus = pods
    .filter((pod) => !ordinals.includes(ordinalOf(set, pod)))
    .toSorted((one, other) => ordinalOf(set, other) - ordinalOf(set, one));
  if (parallel) gone.push(...surplus.filter((pod) => !isTerminating(pod)));
  else if (settled && surplus[0] !== undefined && !isTerminating(surplus[0])) gone.push(surplus[0]);
  const stale = ordinals
    .filter((at) => at >= start + partition)
    .toReversed()
    .flatMap((at) => byOrdinal.get(at) ?? [])
    .find((pod) => !isCurrent(pod));
  if (settled && surplus.length === 0 && stale !== undefined && updateStrategy?.type !== 'OnDelete') gone.push(stale);

  const active = pods.filter(isActive);
  const updated = active.filter(isCurrent).length;
  const rolledOut = updated === replicas && active.length === replicas;
  const currentRevision = rolledOut || typeof before !== 'string' ? revision : before;
  return {
    create,
    delete: gone,
    revision,
    status: {
      replicas: active.length,
      readyReplicas: active.filter(isReady).length,
      availableReplicas: active.filter(isReady).length,
      currentReplicas: active.filter((pod) => pod.metadata.labels?.[REVISION] === currentRevision).length,
      updatedReplicas: updated,
      currentRevision,
      updateRevision: revision,
      collisionCount: 0,
    },
  };
}

function podFor({ metadata: { name }, spec }: Workload, ordinal: number, revision: string, template: PodTemplate): NewChild {
  const pod = `${name}-${ordinal}`;
  const labels = { 'statefulset.kubernetes.io/pod-name': pod, 'apps.kubernetes.io/pod-index': String(ordinal), [REVISION]: revision };
  const { serviceName = '' } = spec;
  return podOf(template, pod, labels, { hostname: pod, ...(serviceName === '' ? {} : { subdomain: serviceName }) });
}

function isReadyAt(byOrdinal: ReadonlyMap<number, ChildPod>, at: number): boolean {
  const pod = byOrdinal.get(at);
  return pod !== undefined && isReady(pod);
}

function ordinalOf(set: Workload, { metadata }: ChildPod): number {
  return Number(metadata.name.slice(set.metadata.name.length + 1));
}
