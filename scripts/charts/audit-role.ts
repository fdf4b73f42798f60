/** What `kiln audit` reads, for the mode of the chart that only audits: the kinds that the controller observes, and nothing that can be written. */
import { parseAllDocuments, stringify } from 'yaml';
import { rbacYaml } from '../../src/webhook/manifests/account-role.ts';

interface RoleDocument {
  readonly kind: string;
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const NAME = 'kiln-audit';
const NAMESPACE = 'kube-system';

export function auditRoleYaml(condition: string): string {
  const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }];
  const binding = (kind: string, metadata: object): object => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: NAME },
    subjects,
  });
  const role = (kind: string, metadata: object, rules: readonly object[]): object => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata,
    rules,
  });
  const inNamespace = { name: NAME, namespace: NAMESPACE };
  const objects = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inNamespace },
    role('ClusterRole', { name: NAME }, observed()),
    binding('ClusterRole', { name: NAME }),
    role('Role', inNamespace, [
      // The settings of the controller that leads, and whether one does.
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['kiln-controller', 'kube-ovn-controller'],
        verbs: ['get'],
      },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['ovn-external-gw-config'], verbs: ['list', 'watch'] },
    ]),
    binding('Role', inNamespace),
  ];
  return `{{- if ${condition} }}\n${objects.map((one) => stringify(one)).join('---\n')}{{- end }}\n`;
}

/** By API group, what the controller lists. */
function observed(): readonly object[] {
  const groups = new Map<string, Set<string>>();
  for (const document of parseAllDocuments(rbacYaml())) {
    const { kind, rules = [] } = document.toJS() as RoleDocument;
    if (kind !== 'ClusterRole') continue;
    for (const { apiGroups, resources, verbs } of rules)
      if (verbs.includes('watch')) for (const group of apiGroups) groups.set(group, new Set([...(groups.get(group) ?? []), ...resources]));
  }
  return [...groups].map(([group, resources]) => ({ apiGroups: [group], resources: [...resources], verbs: ['list', 'watch'] }));
}
