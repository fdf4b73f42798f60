/** The kinds by every name that kubectl accepts: kind, plural, singular, short names, with or without the group. */
import { allKinds } from '../api/kinds/crds.ts';
import type { ResourceName } from '../world/resources.ts';
import { RESOURCES, traitsOf } from '../world/resources.ts';

/** Short names of kinds outside of `kubeovn.io`. */
const SHORT: Readonly<Partial<Record<ResourceName, readonly string[]>>> = {
  pods: ['po'],
  namespaces: ['ns'],
  nodes: ['no'],
  services: ['svc'],
  statefulsets: ['sts'],
  networkpolicies: ['netpol'],
  'network-attachment-definitions': ['net-attach-def', 'nad'],
  virtualmachines: ['vm'],
  virtualmachineinstances: ['vmi'],
  virtualmachineinstancemigrations: ['vmim'],
};

const NAMES: ReadonlyMap<string, ResourceName> = new Map(
  (Object.keys(RESOURCES) as ResourceName[]).flatMap((resource) => namesOf(resource).map((name) => [name, resource] as const)),
);

function namesOf(resource: ResourceName): readonly string[] {
  const { kind, plural, group } = traitsOf(resource);
  const own = group === 'kubeovn.io' ? allKinds.find((one) => one.kind === kind) : undefined;
  const names = [
    plural,
    kind.toLowerCase(),
    ...(own === undefined ? [] : [own.singular, ...(own.shortNames ?? [])]),
    ...(SHORT[resource] ?? []),
  ];
  return group === '' ? names : [...names, ...names.map((name) => `${name}.${group}`)];
}

/** @param name as a user types it: `subnet`, `Subnets`, `subnets.kubeovn.io` */
export function resourceNamed(name: string): ResourceName | undefined {
  return NAMES.get(name.toLowerCase());
}

/** The name that users type: the shortest unambiguous one. */
export function typedName(resource: ResourceName): string {
  const { kind, group } = traitsOf(resource);
  const own = group === 'kubeovn.io' ? allKinds.find((one) => one.kind === kind) : undefined;
  return own?.singular ?? kind.toLowerCase();
}

/** Kinds by the name that users type, for help and completion. */
export const TYPED_NAMES: readonly string[] = (Object.keys(RESOURCES) as ResourceName[]).map(typedName).toSorted();
