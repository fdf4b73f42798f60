/** Names of namespaces in a list of a spec that no namespace can have: such an item binds nobody, ever. */
import type { Finding, Subject } from './finding.ts';
import { findingOf } from './finding.ts';

/** A label (RFC 1123 section 2.1, as Kubernetes has it for the name of a namespace). */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** One for each of `spec.namespaces` that is no name. */
export function namespaceFindings(subject: Subject, namespaces: readonly string[] = []): readonly Finding[] {
  return namespaces.flatMap((value, index) =>
    LABEL.test(value)
      ? []
      : [
          findingOf(subject, {
            code: 'NamespaceImpossible',
            field: `spec.namespaces[${index}]`,
            value,
            problem: value === '' ? 'is empty' : 'is a name that no namespace can have',
            rule: 'it has 1 to 63 lower case letters, digits and hyphens, and begins and ends with a letter or a digit',
          }),
        ],
  );
}
