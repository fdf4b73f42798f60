/** The kinds by every name that kubectl accepts: kind, plural, singular, short names, with or without the group. */
import type { ResourceName } from '../world/resources.ts';
import { RESOURCE_NAMES, traitsOf } from '../world/resources.ts';

const NAMES: ReadonlyMap<string, ResourceName> = new Map(
  RESOURCE_NAMES.flatMap((resource) => namesOf(resource).map((name) => [name, resource] as const)),
);

function namesOf(resource: ResourceName): readonly string[] {
  const { kind, plural, group, definition, shortNames = [] } = traitsOf(resource);
  const own = definition === undefined ? shortNames : [definition.singular, ...(definition.shortNames ?? [])];
  const names = [plural, kind.toLowerCase(), ...own];
  return group === '' ? names : [...names, ...names.map((name) => `${name}.${group}`)];
}

/** @param name as a user types it: `subnet`, `Subnets`, `subnets.kubeovn.io` */
export function resourceNamed(name: string): ResourceName | undefined {
  return NAMES.get(name.toLowerCase());
}

/** The name that users type: the shortest unambiguous one. */
export function typedName(resource: ResourceName): string {
  const { kind, definition } = traitsOf(resource);
  return definition?.singular ?? kind.toLowerCase();
}

/** Kinds by the name that users type, for help and completion. */
export const TYPED_NAMES: readonly string[] = RESOURCE_NAMES.map(typedName).toSorted();
