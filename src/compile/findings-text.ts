/** The findings of an object as text: for an object that takes effect without the wrong items, and for an invalid one. */
import type { Finding } from '../api/validation/finding.ts';
import type { ConditionOutput } from './output.ts';
import { commandText } from '../text/command-text.ts';

/** Limit of named findings. */
const NAMED = 10;

/** The messages of the first findings, without the last full stop. */
export function findingsText(findings: readonly Pick<Finding, 'message'>[]): string {
  const messages = findings.slice(0, NAMED).map(({ message }) => message);
  const more = findings.length > NAMED ? `. And ${findings.length - NAMED} more` : '';
  return `${messages.join('. ')}${more}`;
}

/** The first names, and how many more there are. */
export function namesText(names: readonly string[]): string {
  return names.slice(0, NAMED).join(', ') + (names.length > NAMED ? ` and ${names.length - NAMED} more` : '');
}

/** @param kind as kubectl takes it @returns undefined without findings */
export function leftOut(kind: string, name: string, findings: readonly Finding[]): ConditionOutput | undefined {
  const [first] = findings;
  if (first === undefined) return undefined;
  const what = findings.length === 1 ? 'It is' : 'They are';
  const message = `${findingsText(findings)}. ${what} left out, all else is in effect; ${commandText`kubectl edit ${kind} ${name}`}`;
  return { type: 'Accepted', status: 'False', reason: first.code, message, event: 'Warning' };
}
