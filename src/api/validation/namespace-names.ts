/** Names in a spec that no namespace can have: they never have an effect. */
import type { Finding, Subject } from './finding.ts';
import { findingOf } from './finding.ts';

/** A label (RFC 1123 section 2.1): Kubernetes requires it for the name of a namespace. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Undefined if a namespace can have that name.
 * @param field path of the name
 */
export function namespaceFinding(subject: Subject, field: string, value: string): Finding | undefined {
  if (LABEL.test(value)) return undefined;
  return findingOf(subject, {
    code: 'NamespaceImpossible',
    field,
    value,
    problem: value === '' ? 'is empty' : 'is a name that no namespace can have',
    rule: 'it has 1 to 63 lower case letters, digits and hyphens, and begins and ends with a letter or a digit',
  });
}
