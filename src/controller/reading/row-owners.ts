/** The owners of rows, and of keys on objects of other kinds: the value of the owner key, `<kind>/<namespace>/<name>`, as a resource and a key. */
import type { ResourceName } from '../../world/resources.ts';
import { resourcesWith, traitsOf } from '../../world/resources.ts';

/** Kinds of row owners, in the notation of the owner key. */
export const RESOURCE_OF_OWNER_KIND: ReadonlyMap<string, ResourceName> = new Map(
  resourcesWith('ownsRows').map((resource) => [traitsOf(resource).kind.toLowerCase(), resource]),
);

const RESOURCE_OF_KEYS: ReadonlyMap<string, ResourceName> = new Map(
  resourcesWith('ownsKeys').map((resource) => [traitsOf(resource).kind.toLowerCase(), resource]),
);

export function resourceOfOwner(owner: string): { readonly resource: ResourceName; readonly key: string } | undefined {
  const [kind = '', namespace = '', ...rest] = owner.split('/');
  const resource = RESOURCE_OF_OWNER_KIND.get(kind) ?? RESOURCE_OF_KEYS.get(kind);
  const name = rest.join('/');
  return resource === undefined ? undefined : { resource, key: namespace === '' ? name : `${namespace}/${name}` };
}
