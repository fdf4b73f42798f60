/** What validation says: each broken rule as data, and as a sentence that names object, field, value and rule. */

import type { Reason } from '../reasons.ts';

/** A rule that an object breaks. */
export interface Finding {
  /** Stable name of the rule, in CamelCase: fit for a condition's reason and for tests. */
  readonly code: Reason;
  /** Path of the field, such as `spec.excludeIps[2]`. */
  readonly field: string;
  /** The value found there, as text. */
  readonly value: string;
  /** What must hold. */
  readonly rule: string;
  /** The whole sentence. */
  readonly message: string;
}

/** The object that is judged. */
export interface Subject {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** How a value breaks a rule: `problem` reads on after the quoted value. */
export interface Breach {
  readonly code: Reason;
  readonly field: string;
  readonly value: string;
  readonly problem: string;
  readonly rule: string;
}

/** Longest part of a value that a message repeats: a user's field may hold megabytes. */
const SHOWN = 120;

/** As much of a value as a message repeats. */
export const shown = (value: string): string => (value.length <= SHOWN ? value : `${value.slice(0, SHOWN)}…`);

/** One broken rule of an object. */
export function findingOf({ kind, namespace, name }: Subject, { code, field, value, problem, rule }: Breach): Finding {
  const object = namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
  const message = `${object}: ${field} "${shown(value)}" ${problem}; ${rule}`;
  return { code, field, value: shown(value), rule, message };
}

const ITEM = /^[^\]]*\]/;

/** The fields that are wrong, and the items of lists that they are in: `spec.acls[2].match` and `spec.acls[2]`. There may be very many. */
export function wrongFields(findings: readonly Pick<Finding, 'field'>[]): ReadonlySet<string> {
  return new Set(findings.flatMap(({ field }) => [field, ...(ITEM.exec(field) ?? [])]));
}

/** Gathers the findings about one object. */
export class Findings {
  readonly #subject: Subject;
  readonly #list: Finding[] = [];

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  add(breach: Breach): void {
    this.#list.push(findingOf(this.#subject, breach));
  }

  include(finding: Finding): void {
    this.#list.push(finding);
  }

  get list(): readonly Finding[] {
    return this.#list;
  }
}
