/** The pods that a workload of Kubernetes would create. The names of a Deployment's pods are not known before: theirs end with a number here. */
import type { ReviewedObject } from '../webhook/protocol/admission-review.ts';

interface Template {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: object;
}

interface WorkloadSpec {
  readonly replicas?: number;
  readonly parallelism?: number;
  readonly template?: Template;
  readonly jobTemplate?: { readonly spec?: WorkloadSpec };
  readonly ordinals?: { readonly start?: number };
}

/** Kinds whose controllers are part of Kubernetes, by the number of pods. */
const REPLICAS: Readonly<Record<string, (spec: WorkloadSpec, nodes: number) => number>> = {
  Deployment: ({ replicas = 1 }) => replicas,
  ReplicaSet: ({ replicas = 1 }) => replicas,
  ReplicationController: ({ replicas = 1 }) => replicas,
  StatefulSet: ({ replicas = 1 }) => replicas,
  Job: ({ parallelism = 1 }) => parallelism,
  DaemonSet: (_, nodes) => nodes,
};

/** The kind that numbers its pods, from zero. */
const ORDINALS = /^StatefulSet$/;

export function makesPods(kind: string): boolean {
  return REPLICAS[kind] !== undefined;
}

/** @param nodes how many nodes there are; none for any other kind */
export function madePods(workload: ReviewedObject, nodes: number): readonly ReviewedObject[] {
  const { apiVersion = '', kind = '', metadata } = workload;
  // The workload is new: nothing that exists is owned by this uid.
  const uid = `${kind}/${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  const spec = (workload.spec ?? {}) as WorkloadSpec;
  const { template = {}, ordinals } = spec;
  const count = REPLICAS[kind]?.(spec, nodes) ?? 0;
  const name = metadata.name ?? '';
  const first = ordinals?.start ?? (ORDINALS.test(kind) ? 0 : 1);
  return Array.from({ length: count }, (_, at): ReviewedObject => ({
    metadata: {
      ...template.metadata,
      name: `${name}-${first + at}`,
      namespace: metadata.namespace ?? '',
      ...{ ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] },
    },
    spec: template.spec ?? {},
    status: { phase: 'Pending' },
  }));
}
