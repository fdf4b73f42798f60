/**
 * Who makes pods again: from the owner that a pod names up to the object that a person deletes or scales.
 */
import type { OwnerReference } from '../api/meta.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject, Resource } from '../kube/resource.ts';

export interface Workload {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `spec.replicas` says how many pods it has. */
  readonly scales: boolean;
}

interface OwnerKind {
  readonly resource: Resource;
  readonly scales: boolean;
}

function ownerKind(group: string, version: string, plural: string, kind: string, scales: boolean): OwnerKind {
  return { resource: { group, version, plural, kind, namespaced: true }, scales };
}

const OWNER_KINDS: readonly OwnerKind[] = [
  ownerKind('apps', 'v1', 'replicasets', 'ReplicaSet', true),
  ownerKind('apps', 'v1', 'deployments', 'Deployment', true),
  ownerKind('apps', 'v1', 'statefulsets', 'StatefulSet', true),
  ownerKind('apps', 'v1', 'daemonsets', 'DaemonSet', false),
  ownerKind('batch', 'v1', 'jobs', 'Job', false),
  ownerKind('batch', 'v1', 'cronjobs', 'CronJob', false),
  ownerKind('', 'v1', 'replicationcontrollers', 'ReplicationController', true),
  ownerKind('kubevirt.io', 'v1', 'virtualmachineinstances', 'VirtualMachineInstance', false),
  ownerKind('kubevirt.io', 'v1', 'virtualmachines', 'VirtualMachine', false),
];

type Owned = KubeObject & { readonly metadata: { readonly uid?: string; readonly ownerReferences?: readonly OwnerReference[] } };

/** @returns undefined where the owner is of a kind that is not known here, or is gone */
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
