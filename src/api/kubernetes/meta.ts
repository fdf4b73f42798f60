/** What every Kubernetes object carries. Observed objects have a uid and a resourceVersion; new ones do not yet. */

import type { ManagedFields } from './applied-fields.ts';

export type Labels = Readonly<Record<string, string>>;

/** The object that another exists because of; the garbage collector of Kubernetes follows it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Metadata that a client may set on an object it makes. */
export interface NewObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Metadata as the API server serves it. Times are RFC 3339 text. */
export interface ObjectMeta extends NewObjectMeta {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  /** Of Subnets alone, and of these what `appliedFields` reads. */
  readonly managedFields?: readonly ManagedFields[];
}

/** An observed object. `spec` is always there: `complete` of `kind.ts` puts in what a client left out. */
export interface KubeObject<Spec, Status = undefined> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status?: Status;
}

/** An object to be created. */
export interface NewObject<Spec, Status = undefined> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: NewObjectMeta;
  readonly spec: Spec;
  readonly status?: Status;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/**
 * A condition as Kube-OVN's kinds hold it: the standard one of Kubernetes plus `lastUpdateTime`. All fields are
 * optional in their schemas, `type` and `status` are always written.
 */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly lastUpdateTime?: string;
  readonly lastTransitionTime?: string;
}

/** Requirement on labels, as in `meta/v1`. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** True from the moment a deletion was asked for. */
export const isTerminating = (object: { readonly metadata: Pick<ObjectMeta, 'deletionTimestamp'> }): boolean =>
  object.metadata.deletionTimestamp !== undefined;
