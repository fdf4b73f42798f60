/** Annotation `kiln.io/gc` of a Vpc or a Namespace with a value that is no mode. */
import type { Labels } from '../api/kubernetes/meta.ts';
import type { Finding, Subject } from '../api/validation/finding.ts';
import { findingOf } from '../api/validation/finding.ts';
import { kilnAnnotation } from '../api/well-known.ts';
import { GC_MODES, isGcMode } from '../nb/gc-rules.ts';

export function gcModeFinding(subject: Subject, annotations: Labels | undefined): readonly Finding[] {
  const value = annotations?.[kilnAnnotation.gc];
  if (value === undefined || isGcMode(value.trim())) return [];
  return [
    findingOf(subject, {
      code: 'InvalidAnnotation',
      field: `metadata.annotations[${kilnAnnotation.gc}]`,
      value,
      problem: 'is no mode of the collection',
      rule: `it is one of ${GC_MODES.join(', ')}; until then its rows are reported, and not collected`,
    }),
  ];
}
