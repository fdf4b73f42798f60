/**
 * Finds the workload that creates pods: from a pod's owner reference up to the object that a user deletes or scales, and down again to its
 * pods.
 */
import type { OwnerReference } from '../../api/kubernetes/meta.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import type { Workload as WorkloadTree } from '../../explain/workload.ts';
import { resourcesWith, traitsOf } from '../../world/resources.ts';
import type { AnyObservedObject } from '../../world/world.ts';

export interface Workload {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Whether `spec.replicas` sets the number of its pods. */
  readonly scales: boolean;
}

interface OwnerKind {
  readonly resource: Resource;
  readonly scales: boolean;
  /** Short name in kubectl. */
  readonly short: string;
  /** Kind of its children, if they are not pods. */
  readonly creates?: string;
}

function ownerKind(
  group: string,
  version: string,
  plural: string,
  kind: string,
  scales: boolean,
  short = plural,
  creates?: string,
): OwnerKind {
  return { resource: { group, version, plural, kind, namespaced: true }, scales, short, ...(creates !== undefined && { creates }) };
}

/** Those that Kiln observes say it in their records. */
const OWNER_KINDS: readonly OwnerKind[] = [
  ownerKind('apps', 'v1', 'replicasets', 'ReplicaSet', true, 'rs'),
  ownerKind('apps', 'v1', 'deployments', 'Deployment', true, 'deploy', 'ReplicaSet'),
  ownerKind('apps', 'v1', 'daemonsets', 'DaemonSet', false, 'ds'),
  ownerKind('batch', 'v1', 'jobs', 'Job', false),
  ownerKind('batch', 'v1', 'cronjobs', 'CronJob', false, 'cj', 'Job'),
  ownerKind('', 'v1', 'replicationcontrollers', 'ReplicationController', true, 'rc'),
  ...resourcesWith('workload').map((resource) => {
    const { group, version, plural, kind, shortNames = [], workload } = traitsOf(resource);
    return ownerKind(group, version, plural, kind, workload?.scales === true, shortNames[0], workload?.creates);
  }),
];

type Owned = KubeObject & { readonly metadata: { readonly uid?: string; readonly ownerReferences?: readonly OwnerReference[] } };

/** @returns undefined if the owner is of an unknown kind or does not exist */
export async function workloadOf(client: KubeClient, namespace: string, owner: OwnerReference): Promise<Workload | undefined> {
  const group = owner.apiVersion.includes('/') ? owner.apiVersion.replace(/\/.*$/, '') : '';
  const known = OWNER_KINDS.find(({ resource }) => resource.kind === owner.kind && resource.group === group);
  if (known === undefined) return undefined;
  const object = await client.find<Owned>(known.resource, { name: owner.name, namespace });
  if (object === undefined || object.metadata.uid !== owner.uid) return undefined;
  const above = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
  const top = above === undefined ? undefined : await workloadOf(client, namespace, above);
  return top ?? { resource: known.resource, namespace, name: owner.name, uid: owner.uid, scales: known.scales };
}

export function workloadText({ resource, namespace, name }: Workload): string {
  return `${resource.kind} ${namespace}/${name}`;
}

/** Kinds of workloads by the name that a user types. */
export const WORKLOAD_NAMES: readonly string[] = OWNER_KINDS.map(({ resource }) => resource.kind.toLowerCase()).toSorted();

/** @param name as a user types it: `deployment`, `deploy`, `deployments.apps` */
export function workloadKindNamed(name: string): Resource | undefined {
  const [typed = '', ...group] = name.toLowerCase().split('.');
  return OWNER_KINDS.find(
    ({ resource, short }) =>
      [resource.plural, resource.kind.toLowerCase(), short].includes(typed) && (group.length === 0 || group.join('.') === resource.group),
  )?.resource;
}

/** A workload with the workloads that it creates. */
export async function workloadTree(client: KubeClient, resource: Resource, object: AnyObservedObject): Promise<WorkloadTree> {
  const { namespace = '', uid } = object.metadata;
  const createdKind = OWNER_KINDS.find((one) => one.resource === resource)?.creates;
  const below = OWNER_KINDS.find((one) => one.resource.kind === createdKind)?.resource;
  const all = below === undefined ? [] : await client.listAll<Owned>(below, { namespace });
  const own = all.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid) === true);
  // In a list only the list itself has the kind, not its items.
  const items = own.map((one) => ({ ...one, kind: createdKind }) as unknown as AnyObservedObject);
  const workloads = below === undefined ? [] : await Promise.all(items.map((one) => workloadTree(client, below, one)));
  return { type: resource.kind.toLowerCase(), object, workloads };
}
