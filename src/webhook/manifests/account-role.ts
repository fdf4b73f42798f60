/** `deploy/rbac.yaml`: the rights of the controller's account, from the records of the kinds. */
import { GROUP } from '../../api/schema/kind.ts';
import { RIGHTS_OF_KINDS } from '../../kinds/generated/rights.ts';
import type { ResourceName } from '../../world/resources.ts';
import { RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';
import type { KindRights } from './kind-rights.ts';

const RIGHTS: Readonly<Partial<Record<ResourceName, KindRights>>> = RIGHTS_OF_KINDS;

/** A rule of the ClusterRole. */
interface RoleRule {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** A comment above it. */
  readonly comment?: string;
  /** A comment above its verbs. */
  readonly why?: string;
}

const VERBS = ['get', 'list', 'watch', 'create', 'patch', 'delete'] as const;

/** Kiln uses get only after a write whose reply was lost. */
function verbsOn(resource: ResourceName): readonly string[] {
  const granted: readonly string[] = RIGHTS[resource]?.verbs ?? [];
  const writes = traitsOf(resource).conditions !== 'none' || granted.length > 0;
  const all: readonly string[] = ['list', 'watch', ...(writes ? ['get', 'patch'] : []), ...granted];
  return VERBS.filter((verb) => all.includes(verb));
}

/** Rules for resources of a group, one for those with the same verbs. The comments belong to the first one. */
function rulesFor(resources: readonly ResourceName[], comments: Pick<RoleRule, 'comment' | 'why'> = {}): readonly RoleRule[] {
  const rules = new Map<string, { readonly group: string; readonly resources: string[]; readonly verbs: readonly string[] }>();
  for (const resource of resources) {
    const { group, plural } = traitsOf(resource);
    const verbs = verbsOn(resource);
    const id = `${group} ${verbs.join()}`;
    const rule = rules.get(id) ?? { group, resources: [], verbs };
    rule.resources.push(plural);
    rules.set(id, rule);
  }
  return [...rules.values()].map((rule, at) => (at === 0 ? { ...rule, ...comments } : rule));
}

function statusRules(resources: readonly ResourceName[], comments: Pick<RoleRule, 'comment'> = {}): readonly RoleRule[] {
  const written = resources.filter(
    (resource) => traitsOf(resource).statusSubresource && (traitsOf(resource).conditions === 'status' || ownsStatus(resource)),
  );
  const [first] = written;
  if (first === undefined) return [];
  return [
    {
      group: traitsOf(first).group,
      resources: written.map((resource) => `${traitsOf(resource).plural}/status`),
      verbs: ['patch'],
      ...comments,
    },
  ];
}

/** Kiln writes the whole status of its own kinds, also where their conditions are in an annotation. */
function ownsStatus(resource: ResourceName): boolean {
  return traitsOf(resource).group === GROUP && traitsOf(resource).unimplemented === undefined;
}

function roleRules(): readonly RoleRule[] {
  const ours = RESOURCE_NAMES.filter((resource) => traitsOf(resource).group === GROUP);
  const others = RESOURCE_NAMES.filter((resource) => traitsOf(resource).group !== GROUP && traitsOf(resource).only === undefined);
  const isImplemented = (resource: ResourceName): boolean => traitsOf(resource).unimplemented === undefined;
  const isPresent = (resource: ResourceName): boolean => traitsOf(resource).optional !== true;
  const writes = (resource: ResourceName): boolean => verbsOn(resource).includes('patch');
  const ofFamily = (family: string | undefined) => (resource: ResourceName) => traitsOf(resource).family === family;
  const implemented = ours.filter(isImplemented);
  const unimplemented = ours.filter((resource) => !isImplemented(resource));
  const keeping = (place: 'status' | 'annotation'): readonly ResourceName[] =>
    unimplemented.filter((resource) => ofFamily(undefined)(resource) && traitsOf(resource).conditions === place);
  const everywhere = others.filter((resource) => isImplemented(resource) && isPresent(resource));
  return [
    ...rulesFor(implemented.filter(ofFamily(undefined)), { comment: 'The kinds that Kiln implements.' }),
    ...rulesFor(implemented.filter(ofFamily('address object')), {
      comment: 'Addresses. Kiln deletes an unused one when its lease ends.',
    }),
    ...rulesFor(ours.filter(ofFamily('NAT rule')), {
      comment: 'Kiln records on each rule the address that it uses; the rule holds that address while it exists.',
    }),
    ...statusRules(implemented),
    ...rulesFor(everywhere.filter(writes), {
      comment: 'Annotations are the contract with node agents. A condition reports why a pod waits.',
    }),
    ...statusRules(everywhere),
    ...everywhere.flatMap((resource) => (RIGHTS[resource]?.subresources ?? []).map((more) => ({ ...more, ...resourceOf(resource, more) }))),
    ...rulesFor(everywhere.filter((resource) => !writes(resource))),
    ...rulesFor(
      others.filter((resource) => isImplemented(resource) && !isPresent(resource)),
      { comment: 'A cluster may lack these kinds. Kiln reports an invalid definition in an annotation of it.' },
    ),
    {
      group: 'apiextensions.k8s.io',
      resources: ['customresourcedefinitions'],
      verbs: ['list', 'watch'],
      comment: 'To learn when a missing kind is installed. Without this right Kiln asks for each missing kind every 30 s.',
    },
    ...rulesFor(
      others.filter((resource) => !isImplemented(resource)),
      { comment: 'Kinds that are not implemented yet. Kiln watches them to report that on each object.' },
    ),
    ...rulesFor(keeping('status'), { why: "Kiln removes Kube-OVN's finalizer from objects that are being deleted." }),
    ...statusRules([...unimplemented.filter(ofFamily('NAT rule')), ...keeping('status')], {
      comment: 'Their conditions: in the status, or in an annotation where the schema has none.',
    }),
    ...rulesFor(keeping('annotation')),
    { group: '', resources: ['events'], verbs: ['list', 'create', 'patch'] },
  ];
}

function resourceOf(resource: ResourceName, { subresource }: { readonly subresource: string }): Pick<RoleRule, 'group' | 'resources'> {
  const { group, plural } = traitsOf(resource);
  return { group, resources: [`${plural}/${subresource}`] };
}

const LONGEST_LINE = 150;

function ruleLines({ group, resources, verbs, comment, why }: RoleRule): readonly string[] {
  const inOneLine = `    resources: [${resources.join(', ')}]`;
  return [
    ...(comment === undefined ? [] : [`  # ${comment}`]),
    `  - apiGroups: [${group === '' ? '""' : group}]`,
    ...(inOneLine.length <= LONGEST_LINE ? [inOneLine] : ['    resources:', ...resources.map((one) => `      - ${one}`)]),
    ...(why === undefined ? [] : [`    # ${why}`]),
    `    verbs: [${verbs.join(', ')}]`,
  ];
}

export function rbacYaml(): string {
  return `${HEAD}${roleRules().flatMap(ruleLines).join('\n')}\n${TAIL}${singleObjects().join('\n')}\n${BINDING}`;
}

/** Rights on one object of a kind alone, in the namespace that is the default of its setting. */
function singleObjects(): readonly string[] {
  return RESOURCE_NAMES.flatMap((resource) => {
    const { group, plural, kind, only } = traitsOf(resource);
    if (only === undefined) return [];
    return [
      `  # The one ${kind} that Kiln reads. With another namespace in its flag this rule belongs there.`,
      `  - apiGroups: [${group === '' ? '""' : group}]`,
      `    resources: [${plural}]`,
      `    resourceNames: [${only.name}]`,
      `    verbs: [list, watch]`,
    ];
  });
}

const HEAD = `# The least rights that the controller needs. It uses get only after a write whose reply was lost. A test applies this file to a real kube-apiserver and runs the controller with this ServiceAccount.
apiVersion: v1
kind: ServiceAccount
metadata:
  name: kiln-controller
  namespace: kube-system
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: kiln-controller
rules:
`;

const TAIL = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: kiln-controller
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: kiln-controller
subjects:
  - kind: ServiceAccount
    name: kiln-controller
    namespace: kube-system
---
# Kiln's own Lease. A rule cannot restrict the creation of an object by name.
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: kiln-controller
  namespace: kube-system
rules:
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [create]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [kiln-controller]
    verbs: [get, update]
  # Kube-OVN's Lease. Kiln writes nothing while another controller holds it.
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [kube-ovn-controller]
    verbs: [list, watch]
`;

const BINDING = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: kiln-controller
  namespace: kube-system
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: kiln-controller
subjects:
  - kind: ServiceAccount
    name: kiln-controller
    namespace: kube-system
`;
