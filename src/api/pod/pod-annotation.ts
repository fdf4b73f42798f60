/** One network annotation of a pod, as input of a rule. */

import type { Reason } from '../reasons.ts';
import type { Findings } from '../validation/finding.ts';
import type { Labels } from '../kubernetes/meta.ts';

export interface Annotation {
  readonly findings: Findings;
  /** All annotations of the pod. */
  readonly annotations: Labels;
  readonly provider: string;
  readonly key: string;
  readonly value: string;
}

export type AnnotationRule = (annotation: Annotation) => void;

export const breach = ({ findings, key, value }: Annotation, code: Reason, problem: string, rule: string): void =>
  findings.add({ code, field: `metadata.annotations[${key}]`, value, problem, rule });
