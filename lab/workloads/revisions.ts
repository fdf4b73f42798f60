/** ControllerRevisions: the past and present templates of a StatefulSet or a DaemonSet, for `kubectl rollout history` and `undo`. */
import { selectorMatches } from '../../src/api/kubernetes/label-selector.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { ownerReference, type PodTemplate, type Workload } from './workload.ts';

const CONTROLLER_REVISIONS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
};

interface ControllerRevision extends KubeObject {
  readonly metadata: KubeObject['metadata'] & {
    readonly ownerReferences?: readonly { readonly uid: string }[];
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly revision: number | bigint;
  /** A strategic merge patch that restores the template. */
  readonly data?: { readonly spec?: { readonly template?: PodTemplate & { readonly $patch?: string } } };
}

const HISTORY = 10;

export class Revisions {
  readonly #client: KubeClient;
  /** By the workload's uid: the revision that was recorded last, and the templates of all revisions. */
  readonly #known = new Map<string, { readonly current: string; readonly templates: ReadonlyMap<string, PodTemplate> }>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** The workload's template in a revision; undefined if the revision is unknown. */
  template(workload: Workload, revision: string): PodTemplate | undefined {
    return this.#known.get(workload.metadata.uid)?.templates.get(revision);
  }

  forget(uid: string): void {
    this.#known.delete(uid);
  }

  /**
   * Makes the revision of the workload's template the newest one; an existing revision gets a new number.
   * @param inUse names of revisions that pods have: these are never deleted
   */
  async record(resource: Resource, workload: Workload, name: string, inUse: ReadonlySet<string>): Promise<void> {
    const { namespace = '', uid } = workload.metadata;
    if (this.#known.get(uid)?.current === name) return;
    const all = await this.#client.listAll<ControllerRevision>(CONTROLLER_REVISIONS, { namespace });
    const own = all
      .filter(({ metadata: { ownerReferences = [], labels } }) =>
        ownerReferences.length === 0 ? selectorMatches(workload.spec.selector, labels) : ownerReferences.some((owner) => owner.uid === uid),
      )
      .toSorted((one, other) => Number(one.revision) - Number(other.revision));
    // Orphans of a deleted workload of the same name.
    for (const { metadata } of own.filter((one) => (one.metadata.ownerReferences ?? []).length === 0))
      await this.#client.mergePatch(CONTROLLER_REVISIONS, metadata, {
        metadata: { ownerReferences: [ownerReference(workload, resource)] },
      });
    const newest = Number(own.at(-1)?.revision ?? 0);
    const same = own.find(({ metadata }) => metadata.name === name);
    if (same === undefined) await this.#client.create(CONTROLLER_REVISIONS, revisionOf(resource, workload, name, newest + 1));
    else if (Number(same.revision) < newest) await this.#client.mergePatch(CONTROLLER_REVISIONS, same.metadata, { revision: newest + 1 });
    const limit = workload.spec.revisionHistoryLimit ?? HISTORY;
    const old = own.filter(({ metadata }) => metadata.name !== name && !inUse.has(metadata.name));
    for (const { metadata } of old.slice(0, Math.max(0, old.length - limit)))
      await this.#client.delete(CONTROLLER_REVISIONS, metadata, { ...(metadata.uid !== undefined && { uid: metadata.uid }) });
    const templates = own.flatMap(({ metadata, data }) => {
      const { $patch: _, ...template } = data?.spec?.template ?? {};
      return [[metadata.name, template] as const];
    });
    this.#known.set(uid, { current: name, templates: new Map([...templates, [name, workload.spec.template]]) });
  }
}

function revisionOf(resource: Resource, workload: Workload, name: string, revision: number): KubeObject {
  const { namespace, annotations = {} } = workload.metadata;
  const { template } = workload.spec;
  const hash = name.slice(workload.metadata.name.length + 1);
  const metadata = {
    name,
    namespace,
    labels: { ...template.metadata?.labels, 'controller-revision-hash': hash, 'controller.kubernetes.io/hash': hash },
    annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== LAST_APPLIED)),
    ownerReferences: [ownerReference(workload, resource)],
  };
  return { metadata, data: { spec: { template: { ...template, $patch: 'replace' } } }, revision } as unknown as KubeObject;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
