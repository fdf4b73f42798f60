import {
  type ChildPod,
  isActive,
  isReady,
  isTerminating,
  nameSuffix,
  type NewChild,
  type Plan,
  podOf,
  templateHash,
  type Workload,
} from './workload.ts';

export interface NodeView {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>>; readonly deletionTimestamp?: string };
}

const REVISION = 'controller-revision-hash';

/** One pod on each node that the template's node selector matches; a pod of an older template is deleted when all others are ready. */
export function planDaemonSet(set: Workload, pods: readonly ChildPod[], nodes: readonly NodeView[], chance: () => number): Plan {
  const { template, updateStrategy } = set.spec;
  const revision = templateHash(template);
  const selector = Object.entries((template.spec?.['nodeSelector'] ?? {}) as Readonly<Record<string, string>>);
  const wanted = nodes.filter((node) => !isTerminating(node) && selector.every(([key, value]) => node.metadata.labels?.[key] === value));
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const onNode = Map.groupBy(pods, placeOf);
  const create: NewChild[] = [];
  const gone: ChildPod[] = [];
  for (const name of names) {
    const [kept, ...more] = (onNode.get(name) ?? []).filter((pod) => isActive(pod) || isTerminating(pod));
    if (kept === undefined) create.push(podFor(set, name, revision, chance));
    gone.push(...more);
  }
  gone.push(...pods.filter((pod) => !names.has(placeOf(pod)) || !isActive(pod)));
  const serving = pods.filter((pod) => isActive(pod) && names.has(placeOf(pod)));
  const current = serving.filter((pod) => pod.metadata.labels?.[REVISION] === revision);
  const ready = serving.filter(isReady).length;
  const stale = serving.find((pod) => !current.includes(pod));
  if (stale !== undefined && ready === names.size && updateStrategy?.type !== 'OnDelete') gone.push(stale);
  return {
    create,
    delete: gone.filter((pod) => !isTerminating(pod)),
    revision: `${set.metadata.name}-${revision}`,
    status: {
      desiredNumberScheduled: names.size,
      currentNumberScheduled: new Set(serving.map(placeOf)).size,
      updatedNumberScheduled: current.length,
      numberReady: ready,
      numberAvailable: ready,
      numberUnavailable: Math.max(0, names.size - ready),
      numberMisscheduled: pods.filter((pod) => isActive(pod) && !names.has(placeOf(pod))).length,
    },
  };
}

/** Names the node of the pod in the form of kube-controller-manager: for the scheduler, which then binds the pod. */
function podFor({ metadata, spec }: Workload, node: string, revision: string, chance: () => number): NewChild {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } };
  return podOf(
    spec.template,
    `${metadata.name}-${nameSuffix(chance)}`,
    { [REVISION]: revision },
    {
      affinity: { ...(spec.template.spec?.['affinity'] as object | undefined), nodeAffinity },
    },
  );
}

function placeOf({ spec }: ChildPod): string {
  const affinity = spec['affinity'] as { readonly nodeAffinity?: NodeAffinity } | undefined;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms[0]?.matchFields?.[0]?.values?.[0] ?? '';
}

interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly { readonly matchFields?: readonly { readonly values?: readonly string[] }[] }[];
  };
}
