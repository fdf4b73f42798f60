/** The metadata of every Kubernetes object. Observed objects have a uid and a resourceVersion; new ones do not have them yet. */

import type { ManagedFields } from './applied-fields.ts';

export type Labels = Readonly<Record<string, string>>;

/** The owner of an object: Kubernetes' garbage collector deletes the object after its owner. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Metadata that a client may set on a new object. */
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
  /** Kept for Subnets only, reduced to what `appliedFields` reads. */
  readonly managedFields?: readonly ManagedFields[];
}

/** An observed object. `spec` always exists: `complete` of `kind.ts` adds an empty one if the client omitted it. */
export interface KubeObject<Spec, Status = undefined> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status?: Status;
}

/** An object to create. */
export interface NewObject<Spec, Status = undefined> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: NewObjectMeta;
  readonly spec: Spec;
  readonly status?: Status;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/**
 * A condition of Kube-OVN's kinds: the standard one of Kubernetes plus `lastUpdateTime`. All fields are optional in their schemas; Kiln
 * always writes `type` and `status`.
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

/** A label selector of `meta/v1`. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** True if the object is being deleted. */
export const isTerminating = (object: { readonly metadata: Pick<ObjectMeta, 'deletionTimestamp'> }): boolean =>
  object.metadata.deletionTimestamp !== undefined;
