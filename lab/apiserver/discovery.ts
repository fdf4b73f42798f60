/** Discovery: groups, versions and resources, as one document each or aggregated. */
import type { JsonObject } from './json.ts';
import type { ResourceRegistry } from './registry.ts';
import type { ResourceDefinition } from './resource.ts';

interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** The verbs of custom resources, in a real server's order. */
const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const READ_WRITE = ['get', 'patch', 'update'];

/** Kinds that are only created, never stored. */
const REVIEWS: readonly { readonly group: string; readonly plural: string; readonly kind: string; readonly namespaced?: boolean }[] = [
  { group: 'authentication.k8s.io', plural: 'selfsubjectreviews', kind: 'SelfSubjectReview' },
  { group: 'authentication.k8s.io', plural: 'tokenreviews', kind: 'TokenReview' },
  { group: 'authorization.k8s.io', plural: 'localsubjectaccessreviews', kind: 'LocalSubjectAccessReview', namespaced: true },
  { group: 'authorization.k8s.io', plural: 'selfsubjectaccessreviews', kind: 'SelfSubjectAccessReview' },
  { group: 'authorization.k8s.io', plural: 'selfsubjectrulesreviews', kind: 'SelfSubjectRulesReview' },
  { group: 'authorization.k8s.io', plural: 'subjectaccessreviews', kind: 'SubjectAccessReview' },
];

function subresources(definition: ResourceDefinition): Subresource[] {
  const own: Subresource[] = [];
  if (definition.hasStatus) own.push({ name: 'status', kind: definition.kind, verbs: READ_WRITE });
  if (definition.scale !== undefined) own.push({ name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: READ_WRITE });
  if (definition.table === 'pods') {
    own.push(
      { name: 'binding', kind: 'Binding', verbs: ['create'] },
      { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
      { name: 'log', kind: 'Pod', verbs: ['get'] },
    );
  }
  if (definition.table === 'serviceaccounts')
    own.push({ name: 'token', kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] });
  if (definition.table === 'namespaces') own.push({ name: 'finalize', kind: 'Namespace', verbs: ['update'] });
  return own;
}

/** `/api/v1`, `/apis/<group>/<version>`. */
export function resourceList(registry: ResourceRegistry, group: string, version: string): JsonObject {
  const resources: JsonObject[] = [];
  for (const definition of registry.all()) {
    if (definition.group !== group || definition.version !== version) continue;
    resources.push({
      name: definition.plural,
      singularName: definition.singular,
      namespaced: definition.namespaced,
      kind: definition.kind,
      verbs: definition.custom ? CUSTOM_VERBS : [...definition.verbs],
      ...(definition.shortNames.length === 0 ? {} : { shortNames: [...definition.shortNames] }),
      ...(definition.categories.length === 0 ? {} : { categories: [...definition.categories] }),
    });
    for (const { name, verbs, ...of } of subresources(definition)) {
      resources.push({
        name: `${definition.plural}/${name}`,
        singularName: '',
        namespaced: definition.namespaced,
        ...of,
        verbs: [...verbs],
      });
    }
  }
  for (const review of REVIEWS) {
    if (review.group === group && version === 'v1')
      resources.push({
        name: review.plural,
        singularName: review.kind.toLowerCase(),
        namespaced: review.namespaced === true,
        kind: review.kind,
        verbs: ['create'],
      });
  }
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: group === '' ? version : `${group}/${version}`, resources };
}

export function allGroups(registry: ResourceRegistry): Map<string, string[]> {
  const groups = registry.groups();
  for (const review of REVIEWS) if (!groups.has(review.group)) groups.set(review.group, ['v1']);
  return groups;
}

function groupDocument(group: string, versions: readonly string[]): JsonObject {
  const entries = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] ?? {} };
}

/** `/apis` */
export function groupList(registry: ResourceRegistry): JsonObject {
  const groups = [...allGroups(registry)].filter(([group]) => group !== '').map(([group, versions]) => groupDocument(group, versions));
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** `/apis/<group>` */
export function groupInfo(registry: ResourceRegistry, group: string): JsonObject | undefined {
  const versions = allGroups(registry).get(group);
  return versions === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group, versions) };
}

/** `/api` */
export function coreVersions(address: string): JsonObject {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }] };
}

/** Aggregated discovery (`apidiscovery.k8s.io/v2`) of `/api` or `/apis`. */
export function aggregatedDiscovery(registry: ResourceRegistry, core: boolean): JsonObject {
  const items: JsonObject[] = [];
  for (const [group, versions] of allGroups(registry)) {
    if ((group === '') !== core) continue;
    items.push({
      metadata: { ...(group === '' ? {} : { name: group }), creationTimestamp: null },
      versions: versions.map((version) => ({ version, resources: aggregatedResources(registry, group, version), freshness: 'Current' })),
    });
  }
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

function aggregatedResources(registry: ResourceRegistry, group: string, version: string): JsonObject[] {
  const resources: JsonObject[] = [];
  for (const definition of registry.all()) {
    if (definition.group !== group || definition.version !== version) continue;
    const children = subresources(definition);
    resources.push({
      resource: definition.plural,
      responseKind: { group, version, kind: definition.kind },
      scope: definition.namespaced ? 'Namespaced' : 'Cluster',
      singularResource: definition.singular,
      verbs: definition.custom ? CUSTOM_VERBS : [...definition.verbs],
      ...(definition.shortNames.length === 0 ? {} : { shortNames: [...definition.shortNames] }),
      ...(definition.categories.length === 0 ? {} : { categories: [...definition.categories] }),
      ...(children.length === 0
        ? {}
        : {
            subresources: children.map((child) => ({
              subresource: child.name,
              responseKind: { group: child.group ?? group, version: child.version ?? version, kind: child.kind },
              verbs: [...child.verbs],
            })),
          }),
    });
  }
  for (const review of REVIEWS) {
    if (review.group !== group) continue;
    resources.push({
      resource: review.plural,
      responseKind: { group, version, kind: review.kind },
      scope: review.namespaced === true ? 'Namespaced' : 'Cluster',
      singularResource: review.kind.toLowerCase(),
      verbs: ['create'],
    });
  }
  return resources;
}
