/** Namespaces that a spec names: those that can never be, and those that are not there yet. */
import type { Finding, Subject } from '../../api/finding.ts';
import { findingOf } from '../../api/finding.ts';
import { namespaceFinding } from '../../api/namespace-names.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';

/** One for each item of `spec.namespaces` that binds nobody as things are. */
export function namespacesFindings(world: World, subject: Subject, namespaces: readonly string[] = []): readonly Finding[] {
  return namespaces.flatMap((value, index) => namespaceFindingsOf(world, subject, `spec.namespaces[${index}]`, value));
}

/** @param field path of the name */
export function namespaceFindingsOf(world: World, subject: Subject, field: string, value: string): readonly Finding[] {
  const impossible = namespaceFinding(subject, field, value);
  if (impossible !== undefined) return [impossible];
  if (world.ask(namespaceExists, value)) return [];
  return [
    findingOf(subject, {
      code: 'NamespaceMissing',
      field,
      value,
      problem: 'does not exist',
      rule: 'it counts for a namespace of that name as soon as there is one',
    }),
  ];
}

const namespaceExists: Query<boolean> = defineQuery('namespace-exists', (world, name) => world.namespaces.has(name));
