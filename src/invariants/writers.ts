/**
 * I10, from the database's log: terms only rise, and no row is written with a replaced term, nor before the first term.
 */
import type { Violation } from './violation.ts';

/** A transaction of the log with its comment. */
export interface LoggedTransaction {
  /** Position in the log. */
  readonly record: number;
  readonly comment: string;
}

const TAKES = /^kiln: term (\d+)$/;
const WRITES = /^kiln: term (\d+), /;

export function writers(log: readonly LoggedTransaction[]): readonly Violation[] {
  const violations: Violation[] = [];
  let term = 0;
  for (const { record, comment } of log) {
    const subject = `transaction ${record}`;
    const taken = TAKES.exec(comment)?.[1];
    if (taken !== undefined) {
      // A leader may write its own term again after another program removed it.
      if (Number(taken) < term)
        violations.push({ invariant: 'I10', subject, message: `${subject} takes term ${taken} after term ${term}` });
      term = Math.max(term, Number(taken));
      continue;
    }
    const writes = WRITES.exec(comment)?.[1];
    if (writes !== undefined && Number(writes) !== term)
      violations.push({
        invariant: 'I10',
        subject,
        message: `${subject} ("${comment}") was written under term ${writes} while term ${term} was in force`,
      });
  }
  return violations;
}
