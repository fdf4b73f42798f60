/** An object that is carried out but for items of its spec which are wrong: each of them is named. */
import type { Finding } from '../api/finding.ts';
import type { ConditionOutput } from './output.ts';

/** Of many that are wrong, so many are named. */
const NAMED = 10;

/** @param kind as kubectl takes it @returns undefined where nothing is wrong */
export function leftOut(kind: string, name: string, findings: readonly Finding[]): ConditionOutput | undefined {
  const [first] = findings;
  if (first === undefined) return undefined;
  const said = findings.slice(0, NAMED).map(({ message }) => message);
  const more = findings.length > NAMED ? `. And ${findings.length - NAMED} more` : '';
  const what = findings.length === 1 ? 'It is' : 'They are';
  const message = `${said.join('. ')}${more}. ${what} left out, all else is in effect; kubectl edit ${kind} ${name}`;
  return { type: 'Accepted', status: 'False', reason: first.code, message, event: 'Warning' };
}
