import type { Labels } from '../../src/api/kubernetes/meta.ts';
import { type Condition, isTerminating, type Plan, podOf, REPLICA_FAILURE, type Status, templateHash, type Workload } from './workload.ts';

const HASH = 'pod-template-hash';
const REVISION = 'deployment.kubernetes.io/revision';

/** Annotations of a Deployment that its ReplicaSets do not get. */
const NOT_TAKEN_OVER = [REVISION, 'kubectl.kubernetes.io/last-applied-configuration'];

/**
 * One ReplicaSet for each template of the Deployment, past and present. The newest gets all replicas at once, and an older one loses a pod
 * for each ready pod of the newest; with strategy Recreate the newest waits until no other pod exists. While the Deployment is paused, the
 * newest existing ReplicaSet is scaled, and no template is rolled out.
 */
export function planDeployment(deployment: Workload, sets: readonly Workload[]): Plan {
  const { template, replicas = 1, strategy, selector, minReadySeconds, paused = false, revisionHistoryLimit = 10 } = deployment.spec;
  const hash = templateHash(template);
  const living = sets.filter((set) => !isTerminating(set)).toSorted((one, other) => revisionOf(other) - revisionOf(one));
  const updated = living.find((set) => set.metadata.labels?.[HASH] === hash);
  const current = paused ? (updated ?? living[0]) : updated;
  const older = living.filter((set) => set !== current);
  const revision = paused ? revisionOf(current) : Math.max(0, ...older.map(revisionOf)) + 1;
  const left = older.reduce((sum, set) => sum + replicasLeft(set), 0);
  const target = strategy?.type === 'Recreate' && left > 0 ? 0 : replicas;
  const newest = {
    metadata: { annotations: { ...takenOver(deployment), [REVISION]: String(revision) } },
    spec: { replicas: target },
  };
  const isNewest =
    current !== undefined &&
    current.spec.replicas === target &&
    revisionOf(current) >= revision &&
    Object.entries(newest.metadata.annotations).every(([key, value]) => key === REVISION || current.metadata.annotations?.[key] === value);
  const shownRevision = current === undefined || isNewest ? revisionOf(current) || revision : revision;
  const labels = { [HASH]: hash };
  const pods = podOf(template, '', labels);
  return {
    create:
      current === undefined && !paused
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
    delete: older.filter((set) => replicasLeft(set) === 0).slice(revisionHistoryLimit),
    patch: [
      ...(current === undefined || isNewest ? [] : [{ object: current, patch: newest }]),
      ...(paused ? [] : shrunk(older, strategy?.type === 'Recreate' ? 0 : Math.max(0, replicas - count(current, 'readyReplicas')))),
    ],
    ...(current === undefined && paused ? {} : { annotate: { [REVISION]: String(shownRevision) } }),
    status: statusOf(deployment, updated, living),
  };
}

function replicasLeft(set: Workload): number {
  return Math.max(set.spec.replicas ?? 1, count(set, 'replicas'));
}

function takenOver({ metadata: { annotations = {} } }: Workload): Labels {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !NOT_TAKEN_OVER.includes(key)));
}

/** The older ReplicaSets, youngest first, with `keep` replicas in total. */
function shrunk(older: readonly Workload[], keep: number): readonly { readonly object: Workload; readonly patch: object }[] {
  let rest = keep;
  return older.flatMap((object) => {
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
      progressing(deployment, current, complete),
      ...(current?.status?.conditions ?? []).flatMap(({ type, status, reason, message }) =>
        type === REPLICA_FAILURE ? [{ type, status, reason, message }] : [],
      ),
    ],
  };
}

function progressing({ spec: { paused } }: Workload, current: Workload | undefined, complete: boolean): Condition {
  if (paused === true && !complete)
    return { type: 'Progressing', status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' };
  return {
    type: 'Progressing',
    status: 'True',
    reason: complete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
    message: `ReplicaSet "${current?.metadata.name ?? ''}" ${complete ? 'has successfully progressed' : 'is progressing'}.`,
  };
}

function revisionOf(set: Workload | undefined): number {
  return Number(set?.metadata.annotations?.[REVISION] ?? 0);
}

function count(set: Workload | undefined, field: string): number {
  const value = set?.status?.[field];
  return typeof value === 'number' ? value : 0;
}
