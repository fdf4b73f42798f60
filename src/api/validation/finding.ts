/** The result of validation: each broken rule as data, and as a sentence with object, field, value and rule. */

import type { Reason } from '../reasons.ts';

/** A rule that an object breaks. */
export interface Finding {
  /** Stable name of the rule in CamelCase, for a condition's reason and for tests. */
  readonly code: Reason;
  /** Path of the field, such as `spec.excludeIps[2]`. */
  readonly field: string;
  /** The present value, as text. */
  readonly value: string;
  /** What the rule requires. */
  readonly rule: string;
  /** The whole sentence. */
  readonly message: string;
}

/** The object under validation. */
export interface Subject {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** How a value breaks a rule: `problem` continues a sentence after the quoted value. */
export interface Breach {
  readonly code: Reason;
  readonly field: string;
  readonly value: string;
  readonly problem: string;
  readonly rule: string;
}

/** Longest part of a value in a message: a user's field may have megabytes. */
const SHOWN = 120;

/** The value, shortened for a message. */
export const shown = (value: string): string => (value.length <= SHOWN ? value : `${value.slice(0, SHOWN)}…`);

/** One broken rule of an object. */
export function findingOf({ kind, namespace, name }: Subject, { code, field, value, problem, rule }: Breach): Finding {
  const object = namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
  const message = `${object}: ${field} "${shown(value)}" ${problem}; ${rule}`;
  return { code, field, value: shown(value), rule, message };
}

const ITEM = /^[^\]]*\]/;

/** The paths of invalid fields and of the list items that contain them: `spec.acls[2].match` and `spec.acls[2]`. There may be very many. */
export function wrongFields(findings: readonly Pick<Finding, 'field'>[]): ReadonlySet<string> {
  return new Set(findings.flatMap(({ field }) => [field, ...(ITEM.exec(field) ?? [])]));
}

/** Collects the findings about one object. */
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
