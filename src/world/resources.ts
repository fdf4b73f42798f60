/** The Kubernetes resources that Kiln observes or writes, by plural name. */
import type { KindResource, ResourceTraits } from '../api/schema/resource.ts';
import { RESOURCES } from '../kinds/generated/resources.ts';

export type { ResourceTraits };
export { RESOURCES };

export type ResourceName = keyof typeof RESOURCES;

/** In the order of the list of kinds. */
export const RESOURCE_NAMES = Object.keys(RESOURCES) as readonly ResourceName[];

export function traitsOf(resource: ResourceName): KindResource {
  return RESOURCES[resource];
}

/** Resources of a family. */
export type ResourceOfFamily<F extends NonNullable<KindResource['family']>> = {
  readonly [R in ResourceName]: (typeof RESOURCES)[R] extends { readonly family: F } ? R : never;
}[ResourceName];

export function resourcesOfFamily<F extends NonNullable<KindResource['family']>>(family: F): readonly ResourceOfFamily<F>[] {
  return RESOURCE_NAMES.filter((resource): resource is ResourceOfFamily<F> => traitsOf(resource).family === family);
}

/** Resources with a property. */
export function resourcesWith(property: keyof KindResource): readonly ResourceName[] {
  return RESOURCE_NAMES.filter((resource) => traitsOf(resource)[property] !== undefined);
}

const BY_KIND: ReadonlyMap<string, ResourceName> = new Map(
  RESOURCE_NAMES.map((resource) => [traitsOf(resource).kind.toLowerCase(), resource]),
);

/** @param kind in lower case, as in owner texts */
export function resourceOfKind(kind: string): ResourceName | undefined {
  return BY_KIND.get(kind);
}

/** `namespace/name`, or `name` for cluster scope. */
export function keyOf(object: { readonly metadata: { readonly namespace?: string; readonly name: string } }): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** Namespace (empty for cluster scope) and name of a key. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const at = key.indexOf('/');
  return at === -1 ? { namespace: '', name: key } : { namespace: key.slice(0, at), name: key.slice(at + 1) };
}
