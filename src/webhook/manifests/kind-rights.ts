/**
 * The part `rights` of the record of a kind: what the controller's account may do with its objects, beside observing them, and what the
 * policies of `deploy/admission-policy.yaml` say about it.
 */
import { annotationKeys } from '../../api/annotations.ts';
import { DEFAULT_PROVIDER, FINALIZER, kilnAnnotation, labelKey, LEGACY_FINALIZERS, podAnnotation } from '../../api/well-known.ts';
import { onlyFinalizers, onlyKeys, texts } from './policy-expressions.ts';

/** One policy: its resources, and what it allows the account. */
export interface AccountLimit {
  /** The policy's name without its prefix `kiln-controller-`. */
  readonly name: string;
  /** `<plural>[/<subresource>]` by API group. */
  readonly resources: Readonly<Record<string, readonly string[]>>;
  /** CEL: true if the account may make the change. */
  readonly expression: string;
  /** Continues the sentence "the controller of Kiln may only ". */
  readonly message: string;
}

/** Without it, the account may write the conditions and the finalizer of an object, and the status of a kind that Kiln implements. */
export interface KindRights {
  /** Verbs of the ClusterRole beside those for observing and for writing conditions. */
  readonly verbs?: readonly ('create' | 'delete' | 'patch')[];
  /** Rights on subresources other than the status, with the reason. */
  readonly subresources?: readonly { readonly subresource: string; readonly verbs: readonly string[]; readonly comment: string }[];
  /** The limits of what those verbs allow; kinds of one family have one in common. */
  readonly limits: readonly AccountLimit[];
}

/** The finalizers change only by Kiln's own, and by those of earlier releases that go. */
export const FINALIZERS = onlyFinalizers(FINALIZER, LEGACY_FINALIZERS);

/** It shows a router or a switch of another program. */
export function isExternal(root: 'object' | 'oldObject'): string {
  return `${root}.metadata.?labels.orValue({}).exists(k, k == '${labelKey.vpcExternal}' && ${root}.metadata.labels[k] == 'true')`;
}

/** The annotations that Kiln writes on these kinds: its own and Kube-OVN's. */
export function annotationsOn(...kinds: readonly string[]): readonly string[] {
  return annotationKeys(kinds, (use) => use.includes('writes'));
}

/** Only these annotations change. */
export function onlyAnnotations(...keys: readonly string[]): string {
  return onlyKeys('object.metadata.annotations', `k in ${texts(keys)}`);
}

/** An annotation of the default network. */
export const ofOvn = (suffix: Parameters<typeof podAnnotation>[1]): string => podAnnotation(DEFAULT_PROVIDER, suffix);
export const CONDITIONS_KEPT_IN = kilnAnnotation.conditions;
