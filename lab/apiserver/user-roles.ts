/**
 * The roles of a cluster for users of a namespace: view, edit and admin. Each is aggregated (`role-aggregation.ts`), so that an operator
 * adds rights for a new kind with a label.
 */
import type { JsonObject } from './json.ts';

interface UserRole {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules?: readonly JsonObject[];
  readonly aggregationRule?: JsonObject;
}

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];

function rule(group: string, verbs: readonly string[], resources: string): JsonObject {
  return { apiGroups: [group], resources: resources.split(' '), verbs: [...verbs] };
}

function label(role: string): string {
  return `rbac.authorization.k8s.io/aggregate-to-${role}`;
}

/**
 * An aggregated role and the role with its own rules; it also has the rules of all roles with its label, and is part of the greater role.
 */
function aggregated(name: string, greater: string | undefined, own: readonly JsonObject[]): readonly UserRole[] {
  return [
    { name: `system:aggregate-to-${name}`, labels: { [label(name)]: 'true' }, rules: own },
    {
      name,
      labels: greater === undefined ? {} : { [label(greater)]: 'true' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label(name)]: 'true' } }] },
    },
  ];
}

/** Without Secrets: a token in a Secret would give a viewer the rights of another account. */
const VIEW: readonly JsonObject[] = [
  rule('', READ, 'configmaps endpoints pods serviceaccounts services services/status'),
  rule('', READ, 'bindings events namespaces/status pods/log pods/status'),
  rule('', READ, 'namespaces'),
  rule('discovery.k8s.io', READ, 'endpointslices'),
  rule(
    'apps',
    READ,
    'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
  ),
  rule('policy', READ, 'poddisruptionbudgets poddisruptionbudgets/status'),
  rule('networking.k8s.io', READ, 'networkpolicies'),
];

const EDIT: readonly JsonObject[] = [
  rule('', READ, 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
  rule('', ['impersonate'], 'serviceaccounts'),
  rule('', WRITE, 'pods pods/attach pods/exec pods/portforward pods/proxy'),
  rule('', ['create'], 'pods/eviction'),
  rule('', WRITE, 'configmaps events secrets serviceaccounts services services/proxy'),
  rule('', ['create'], 'serviceaccounts/token'),
  rule(
    'apps',
    WRITE,
    'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
  ),
  rule('policy', WRITE, 'poddisruptionbudgets'),
  rule('networking.k8s.io', WRITE, 'networkpolicies'),
  rule('coordination.k8s.io', [...WRITE, ...READ], 'leases'),
];

const ADMIN: readonly JsonObject[] = [
  rule('authorization.k8s.io', ['create'], 'localsubjectaccessreviews'),
  rule('rbac.authorization.k8s.io', [...WRITE, ...READ], 'rolebindings roles'),
];

/** Each role comes after those that it aggregates. */
export const USER_ROLES: readonly UserRole[] = [
  ...aggregated('view', 'edit', VIEW),
  ...aggregated('edit', 'admin', EDIT),
  ...aggregated('admin', undefined, ADMIN),
];
