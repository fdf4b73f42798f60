import { isTerminating, type Plan, podOf, type Status, templateHash, type Workload } from './workload.ts';

const HASH = 'pod-template-hash';
const REVISION = 'deployment.kubernetes.io/revision';

/**
 * One ReplicaSet for each template the Deployment has had. The newest gets all replicas at once, and an older one loses a pod
 * for each that is ready in the newest; with strategy Recreate the newest waits until no other pod is left.
 */
export function planDeployment(deployment: Workload, sets: readonly Workload[]): Plan {
  const { template, replicas = 1, strategy, selector, minReadySeconds } = deployment.spec;
  const hash = templateHash(template);
  const living = sets.filter((set) => !isTerminating(set));
  const current = living.find((set) => set.metadata.labels?.[HASH] === hash);
  const older = living.filter((set) => set !== current);
  const revision = Math.max(0, ...older.map(revisionOf)) + 1;
  const left = older.reduce((sum, set) => sum + Math.max(set.spec.replicas ?? 1, count(set, 'replicas')), 0);
  const target = strategy?.type === 'Recreate' && left > 0 ? 0 : replicas;
  const newest = {
    metadata: { annotations: { [REVISION]: String(revision) } },
    spec: { replicas: target },
  };
  const isNewest = current !== undefined && revisionOf(current) >= revision && current.spec.replicas === target;
  const labels = { [HASH]: hash };
  const pods = podOf(template, '', labels);
  return {
    create:
      current === undefined
        ? [
            {
              name: `${deployment.metadata.name}-${hash}`,
              labels: pods.labels,
              annotations: newest.metadata.annotations,
              spec: {
                ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
                replicas: target,
                selector: { ...selector, matchLabels: { ...selector.matchLabels, ...labels } },
                template: { ...template, metadata: { ...template.metadata, labels: pods.labels } },
              },
            },
          ]
        : [],
    patch: [
      ...(current === undefined || isNewest ? [] : [{ object: current, patch: newest }]),
      ...shrunk(older, strategy?.type === 'Recreate' ? 0 : Math.max(0, replicas - count(current, 'readyReplicas'))),
    ],
    status: statusOf(deployment, current, living),
  };
}

/** Older ReplicaSets that keep `keep` replicas among them, the youngest first. */
function shrunk(older: readonly Workload[], keep: number): readonly { readonly object: Workload; readonly patch: object }[] {
  let rest = keep;
  return older
    .toSorted((one, other) => revisionOf(other) - revisionOf(one))
    .flatMap((object) => {
      const has = object.spec.replicas ?? 1;
      const replicas = Math.min(has, rest);
      rest -= replicas;
      return replicas === has ? [] : [{ object, patch: { spec: { replicas } } }];
    });
}

function statusOf(deployment: Workload, current: Workload | undefined, living: readonly Workload[]): Status {
  const { replicas = 1 } = deployment.spec;
  const total = (field: string): number => living.reduce((sum, set) => sum + count(set, field), 0);
  const [updated, available] = [count(current, 'replicas'), total('availableReplicas')];
  const complete = updated === replicas && total('replicas') === replicas && available >= replicas;
  const enough = available >= replicas;
  return {
    replicas: total('replicas'),
    updatedReplicas: updated,
    readyReplicas: total('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, replicas - available),
    conditions: [
      {
        type: 'Available',
        status: enough ? 'True' : 'False',
        reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
        message: `Deployment ${enough ? 'has' : 'does not have'} minimum availability.`,
      },
      {
        type: 'Progressing',
        status: 'True',
        reason: complete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
        message: `ReplicaSet "${current?.metadata.name ?? ''}" ${complete ? 'has successfully progressed' : 'is progressing'}.`,
      },
    ],
  };
}

function revisionOf({ metadata }: Workload): number {
  return Number(metadata.annotations?.[REVISION] ?? 0);
}

function count(set: Workload | undefined, field: string): number {
  const value = set?.status?.[field];
  return typeof value === 'number' ? value : 0;
}
