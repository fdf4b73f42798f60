/** The report of an audit: its contents, and as lines for a person. */
import type { AuditFinding, AuditGroup } from './audit-findings.ts';

export interface AuditReport {
  /** Which cluster it is, and its version. */
  readonly cluster: string;
  /** The way to OVN: an endpoint, or what was found. */
  readonly northbound: string;
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

/** For programs: whether `kiln repair` repairs a finding, instead of what it would write. */
export function auditJson(report: AuditReport): object {
  const groups = report.groups.map((group) => ({
    ...group,
    findings: group.findings.map(({ repairs, ...finding }) => ({ ...finding, repairable: repairs.length > 0 })),
  }));
  return { ...report, groups };
}

function findingLines({ id, subject, message, next, repairs }: AuditFinding, format: 'table' | 'wide'): readonly string[] {
  const line = `  ${id}  ${subject}: ${message}`;
  return format === 'table' ? [line] : [line, `    ${repairs.length > 0 ? `kiln repair ${id}, or ` : ''}${next}`];
}
