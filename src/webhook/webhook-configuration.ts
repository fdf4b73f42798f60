/** What the API server is told: which requests to ask about, and that everything goes on when nobody answers. */
import { stringify } from 'yaml';
import { BLOCKED_RESOURCES } from '../blockers/dependencies.ts';
import type { KubeObject, Resource } from '../kube/resource.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import { JUDGED } from './judge.ts';

export const WEBHOOK_CONFIGURATIONS: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};

/** Where `deploy` puts the controller. */
export const CONTROLLER_NAMESPACE = 'kube-system';

/** Name of the configuration, of the Service and of the Secret, where nothing else is said. */
export const CONFIGURATION_NAME = 'kiln';
export const SERVICE_NAME = 'kiln-webhook';
export const SECRET_NAME = 'kiln-webhook-tls';
export const WEBHOOK_PATH = '/validate';
/** The controllers' port in `deploy/webhook.yaml`. */
export const WEBHOOK_PORT = 10_671;

type ClientConfig =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly path: string; readonly port: number } };

interface ConfiguredWebhook {
  readonly name: string;
  readonly clientConfig: Partial<ClientConfig> & { readonly caBundle?: string };
  /** What people may change about it; the API server fills in what is absent. */
  readonly failurePolicy?: string;
  readonly rules?: readonly Pick<Rule, 'operations' | 'resources'>[];
  readonly namespaceSelector?: object;
  readonly objectSelector?: object;
  readonly matchConditions?: readonly object[];
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly ConfiguredWebhook[];
}

/** Names of webhooks without whose answer no pod at all can be made, and so none that answers. */
export function closedToPods({ webhooks = [] }: WebhookConfiguration): readonly string[] {
  return webhooks
    .filter(({ failurePolicy, rules = [], namespaceSelector = {}, objectSelector = {}, matchConditions = [] }) => {
      const selects = Object.keys({ ...namespaceSelector, ...objectSelector }).length > 0 || matchConditions.length > 0;
      const asked = rules.some(({ operations, resources }) => operations.includes('CREATE') && resources.includes('pods'));
      return failurePolicy === 'Fail' && !selects && asked;
    })
    .map(({ name }) => name);
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: '*';
}

/** @param noticed kinds that are only observed, so that their objects are told what is not implemented */
export function webhookConfiguration(clientConfig: ClientConfig, noticed: readonly ResourceName[]): WebhookConfiguration {
  const webhook = (name: string, rules: readonly Rule[]): object => ({
    name: `${name}.kiln.io`,
    clientConfig,
    rules: rules.filter(({ resources }) => resources.length > 0),
    // Everything stays right without an answer, so none is ever waited for long.
    failurePolicy: 'Ignore',
    timeoutSeconds: 3,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  });
  const isOurs = (resource: ResourceName): boolean => traitsOf(resource).group === 'kubeovn.io';
  const written = JUDGED.filter((resource) => isOurs(resource) && resource !== 'ips');
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: CONFIGURATION_NAME },
    webhooks: [
      webhook('objects', [rule(['CREATE', 'UPDATE'], written), rule(['CREATE'], noticed.filter(isOurs)), rule(['UPDATE'], ['ips'])]),
      // All of them: no label of an object tells which client made it.
      webhook('addresses', [rule(['CREATE'], ['ips'])]),
      webhook('deletions', [rule(['DELETE'], BLOCKED_RESOURCES.filter(isOurs))]),
      webhook('pods', [rule(['CREATE', 'UPDATE'], ['pods'])]),
    ],
  } as WebhookConfiguration;
}

function rule(operations: readonly string[], resources: readonly ResourceName[]): Rule {
  const [first = 'pods'] = resources;
  const { group, version } = traitsOf(first);
  return {
    apiGroups: [group],
    apiVersions: [version],
    operations,
    resources: resources.map((resource) => traitsOf(resource).plural),
    scope: '*',
  };
}

/** `deploy/webhook.yaml`: the Service, its configuration, and what the controller may do about its own certificate. */
export function webhookYaml(noticed: readonly ResourceName[]): string {
  const namespace = CONTROLLER_NAMESPACE;
  const labels = { 'app.kubernetes.io/name': 'kiln', 'app.kubernetes.io/component': 'controller' };
  const account = { kind: 'ServiceAccount', name: 'kiln-controller', namespace };
  const rbac = 'rbac.authorization.k8s.io';
  const documents: readonly object[] = [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: SERVICE_NAME, namespace, labels },
      // A replica that only observes answers as well as the leader.
      spec: { selector: labels, ports: [{ name: 'webhook', port: 443, targetPort: WEBHOOK_PORT }] },
    },
    webhookConfiguration({ service: { namespace, name: SERVICE_NAME, path: WEBHOOK_PATH, port: 443 } }, noticed),
    // Empty: the controller fills it in. A right to create Secrets is one to create the token of any account. Without a type, so that it is
    // applied over one of an earlier release, and without data, so that applying it again takes none away.
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: SECRET_NAME, namespace } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'kiln-webhook' },
      rules: [
        {
          apiGroups: [WEBHOOK_CONFIGURATIONS.group],
          resources: [WEBHOOK_CONFIGURATIONS.plural],
          resourceNames: [CONFIGURATION_NAME],
          verbs: ['get', 'list', 'watch', 'patch'],
        },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'kiln-webhook' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'kiln-webhook' },
      subjects: [account],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: 'kiln-webhook', namespace },
      rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: [SECRET_NAME], verbs: ['get', 'list', 'watch', 'update'] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'kiln-webhook', namespace },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'kiln-webhook' },
      subjects: [account],
    },
  ];
  const head =
    '# The admission webhook: generated, see deploy/README.md. The controller needs --webhook-bind-address=:' +
    `${WEBHOOK_PORT}` +
    ' beside it.\n';
  return head + documents.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');
}
