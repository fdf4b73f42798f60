/** The part `admission` of the record of a kind: how the webhook validates the creation and the change of an object. */
import type { Kind } from '../../api/schema/kind.ts';
import { complete } from '../../api/schema/kind.ts';
import type { SchemaNode } from '../../api/schema/schema.ts';
import { list, object, string } from '../../api/schema/schema.ts';
import type { KubeObject } from '../../api/kubernetes/meta.ts';
import type { AdmissionResult, Observed } from './admission-result.ts';
import type { ReviewedObject } from './admission-review.ts';

/** The parts of a kind that are checked; without a status schema, no rule reads the status. */
export type TypesOf = { readonly spec: { readonly node: SchemaNode }; readonly status?: { readonly node: SchemaNode } | undefined };

export interface KindAdmission {
  /** An object with fields of other types is not validated. */
  readonly types: TypesOf;
  /** @param object complete, with metadata */
  readonly validateCreate: (object: ReviewedObject, observed: Observed) => AdmissionResult;
  /** Called for a changed spec or annotations of an object that is not being deleted. */
  readonly validateUpdate: (before: ReviewedObject, after: ReviewedObject, observed: Observed) => AdmissionResult;
  /**
   * Name of a webhook of its own, which an administrator can switch off alone. Of a kind of `kubeovn.io` it has the creations, of another
   * kind also the changes.
   */
  readonly webhook?: string;
}

/** For a kind of `kubeovn.io`. */
export function ofKind<Spec, Status>(
  kind: Kind<Spec, Status>,
  validateCreate: (object: KubeObject<Spec, Status>, observed: Observed) => AdmissionResult,
  validateUpdate: (before: KubeObject<Spec, Status>, after: KubeObject<Spec, Status>, observed: Observed) => AdmissionResult,
): KindAdmission {
  const typed = (reviewed: ReviewedObject): KubeObject<Spec, Status> => complete(kind, reviewed as unknown as KubeObject<Spec, Status>);
  return {
    types: kind,
    validateCreate: (created, observed) => validateCreate(typed(created), observed),
    validateUpdate: (before, after, observed) => validateUpdate(typed(before), typed(after), observed),
  };
}

/** Types of the conditions in a status. */
export const CONDITION_TYPES = list('', object('', { type: string(), status: string(), reason: string(), message: string() }));
