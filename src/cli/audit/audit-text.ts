/** The report of an audit: its contents, and as lines for a person. */
import type { AuditFinding, AuditGroup } from './audit-findings.ts';

export interface AuditReport {
  /** Which cluster it is, and its version. */
  readonly cluster: string;
  /** RFC 3339. */
  readonly time: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly groups: readonly (AuditGroup & { readonly text: string })[];
  readonly count: number;
  /** What could not be judged, and why. */
  readonly notJudged: readonly string[];
}

/** Findings of a group in the table. */
const SHOWN = 5;

export function auditLines({ groups, notJudged }: AuditReport, format: 'table' | 'wide'): readonly string[] {
  const shown = format === 'wide' ? Number.POSITIVE_INFINITY : SHOWN;
  return [
    ...groups.flatMap(({ invariant, cause, findings }) => [
      `${invariant}  ${cause}  (${findings.length})`,
      ...findings.slice(0, shown).flatMap((one) => findingLines(one, format)),
      ...(findings.length > shown ? [`  … and ${findings.length - shown} more: kiln audit -o wide`] : []),
      '',
    ]),
    ...(notJudged.length === 0 ? [] : ['not judged', ...notJudged.map((one) => `  ${one}`)]),
  ];
}

function findingLines({ subject, message, next }: AuditFinding, format: 'table' | 'wide'): readonly string[] {
  return [`  ${subject}: ${message}`, ...(format === 'wide' ? [`    ${next}`] : [])];
}
