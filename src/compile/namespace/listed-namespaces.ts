/** Checks the namespaces that a spec names: impossible names, namespaces that do not exist, and namespaces of another Vpc. */
import type { Finding, Subject } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { namespaceFinding } from '../../api/validation/namespace-names.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { namespaceBinding, namespaceFacts } from './namespace-binding.ts';

/** One finding for each item of `spec.namespaces` that binds no namespace at present. */
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
      rule: 'it takes effect as soon as a namespace of that name exists',
    }),
  ];
}

/** One finding for each item of `spec.namespaces` with pods in another Vpc. @param vpc of the object that names them */
export function namespacesOfAnotherVpc(
  world: World,
  subject: Subject,
  vpc: string,
  namespaces: readonly string[] = [],
): readonly Finding[] {
  return namespaces.flatMap((value, index) => {
    const [first] = world.ask(namespaceBinding, value).subnets;
    const other = first === undefined ? undefined : world.ask(subnetView, first)?.vpc;
    if (first === undefined || other === undefined || other === vpc) return [];
    return [
      findingOf(subject, {
        code: 'NamespaceOfAnotherVpc',
        field: `spec.namespaces[${index}]`,
        value,
        problem: `has Subnet ${first} of Vpc ${other}, which comes first`,
        rule:
          'default Subnets of Vpcs come before Subnets that list the namespace, each by name, and pods get addresses from the first Subnet with room: ' +
          `a pod that gets one in Vpc ${vpc}, since ${first} is full, cannot reach the others`,
      }),
    ];
  });
}

const namespaceExists: Query<boolean> = defineQuery('namespace-exists', (world, name) => world.ask(namespaceFacts, name) !== undefined);
