/** The fields of pods and nodes that the caches hold. */
import type { KubeObject } from '../../src/kube/resource.ts';
import type { ChildPod, ContainerPort } from './workload.ts';

interface RawPod extends Omit<ChildPod, 'spec' | 'status'> {
  readonly spec: ChildPod['spec'] & { readonly containers?: readonly { readonly ports?: readonly ContainerPort[] }[] };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly podIPs?: readonly { readonly ip: string }[];
  };
}

/** @returns a `ChildPod` */
export function trimChild({ metadata, spec, status }: RawPod): KubeObject {
  const { name, namespace, uid, resourceVersion, labels, creationTimestamp, deletionTimestamp, ownerReferences } = metadata;
  return {
    metadata: {
      ...{ name, namespace, uid, resourceVersion, labels, creationTimestamp, ownerReferences },
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: { affinity: spec['affinity'], nodeName: spec['nodeName'] },
    phase: status?.phase ?? 'Pending',
    ready: status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
    ips: (status?.podIPs ?? []).map(({ ip }) => ip),
    ports: (spec.containers ?? []).flatMap(({ ports = [] }) => ports.filter(({ name }) => name !== undefined)),
  } as KubeObject;
}

/** The fields that decide where a DaemonSet's pods run. */
export function trimNode({ metadata }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, labels, deletionTimestamp } = metadata as KubeObject['metadata'] & { readonly labels?: object };
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      labels,
      ...(deletionTimestamp === undefined || deletionTimestamp === null ? {} : { deletionTimestamp }),
    },
  } as KubeObject;
}
