/**
 * The ValidatingWebhookConfiguration: the requests for which the API server calls the webhook. It allows every request if no webhook
 * answers.
 */
import { stringify } from 'yaml';
import { BLOCKED_RESOURCES } from '../../blockers/dependencies.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import { ownWebhookOf, VALIDATED_RESOURCES } from '../review/validate-request.ts';

export const WEBHOOK_CONFIGURATIONS: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};

/** The namespace of the controller in `deploy`. */
export const CONTROLLER_NAMESPACE = 'kube-system';

/** Default name of the configuration, the Service and the Secret. */
export const CONFIGURATION_NAME = 'kiln';
export const SERVICE_NAME = 'kiln-webhook';
export const SECRET_NAME = 'kiln-webhook-tls';
export const WEBHOOK_PATH = '/validate';
/** The controller's port in `deploy/webhook.yaml`. */
export const WEBHOOK_PORT = 10_671;

type ClientConfig =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly path: string; readonly port: number } };

interface ConfiguredWebhook {
  readonly name: string;
  readonly clientConfig: Partial<ClientConfig> & { readonly caBundle?: string };
  /** Fields that users may change; the API server fills in absent ones. */
  readonly failurePolicy?: string;
  readonly rules?: readonly Pick<Rule, 'operations' | 'resources'>[];
  readonly namespaceSelector?: object;
  readonly objectSelector?: object;
  readonly matchConditions?: readonly object[];
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly ConfiguredWebhook[];
}

/** Names of webhooks that block the creation of every pod while no webhook answers, and so also of the pods that could answer. */
export function webhooksBlockingPods({ webhooks = [] }: WebhookConfiguration): readonly string[] {
  return webhooks
    .filter(({ failurePolicy, rules = [], namespaceSelector = {}, objectSelector = {}, matchConditions = [] }) => {
      const selects = Object.keys({ ...namespaceSelector, ...objectSelector }).length > 0 || matchConditions.length > 0;
      const forPods = rules.some(({ operations, resources }) => operations.includes('CREATE') && resources.includes('pods'));
      return failurePolicy === 'Fail' && !selects && forPods;
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

/** @param noticed kinds that Kiln only observes: the answer warns what Kiln does not implement */
export function webhookConfiguration(clientConfig: ClientConfig, noticed: readonly ResourceName[]): WebhookConfiguration {
  const webhook = (name: string, rules: readonly Rule[]): object => ({
    name: `${name}.kiln.io`,
    clientConfig,
    rules,
    // Kiln remains correct without the webhook, so the API server never waits long for it.
    failurePolicy: 'Ignore',
    timeoutSeconds: 3,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  });
  const isOurs = (resource: ResourceName): boolean => traitsOf(resource).group === 'kubeovn.io';
  const written = VALIDATED_RESOURCES.filter((resource) => isOurs(resource) && ownWebhookOf(resource) === undefined);
  const apart = VALIDATED_RESOURCES.filter((resource) => ownWebhookOf(resource) !== undefined);
  const webhooksApart = (operations: readonly string[], resources: readonly ResourceName[]): readonly object[] =>
    resources.map((resource) => webhook(ownWebhookOf(resource) ?? '', rule(operations, [resource])));
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: CONFIGURATION_NAME },
    webhooks: [
      webhook('objects', [
        ...rule(['CREATE', 'UPDATE'], written),
        ...rule(['CREATE'], noticed.filter(isOurs)),
        ...rule(['UPDATE'], apart.filter(isOurs)),
      ]),
      ...webhooksApart(['CREATE'], apart.filter(isOurs)),
      webhook('deletions', rule(['DELETE'], BLOCKED_RESOURCES.filter(isOurs))),
      ...webhooksApart(
        ['CREATE', 'UPDATE'],
        apart.filter((resource) => !isOurs(resource)),
      ),
    ],
  } as WebhookConfiguration;
}

/** One rule for resources of one group, or none without resources. */
function rule(operations: readonly string[], resources: readonly ResourceName[]): readonly Rule[] {
  const [first] = resources;
  if (first === undefined) return [];
  const { group, version } = traitsOf(first);
  return [
    {
      apiGroups: [group],
      apiVersions: [version],
      operations,
      resources: resources.map((resource) => traitsOf(resource).plural),
      scope: '*',
    },
  ];
}

/** `deploy/webhook.yaml`: the Service, the configuration, and the controller's rights on its own certificate. */
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
    // The Secret is empty, and the controller fills it in: the right to create Secrets includes creating a token of any account. It has no
    // type, so that it applies over the Secret of an earlier release, and no data, so that applying it again removes none.
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
