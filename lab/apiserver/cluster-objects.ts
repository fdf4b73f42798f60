/**
 * The objects that every cluster has from the start: an account and the authority's certificate in each namespace, the Service of the API
 * server and the default roles. A deleted one is created again.
 */
import { object } from './json.ts';
import type { JsonObject } from './json.ts';
import type { Operations } from './operations.ts';
import type { ResourceRegistry } from './registry.ts';
import { ApiError } from './status.ts';
import type { StoreEvent } from './store.ts';
import { StoreController } from './store-controller.ts';
import { storeKey } from './store.ts';
import { USER_ROLES } from './user-roles.ts';

interface Wanted {
  readonly group: string;
  readonly plural: string;
  readonly object: JsonObject & { readonly metadata: JsonObject & { readonly name: string } };
}

const RBAC = 'rbac.authorization.k8s.io';
const ABOUT_AUTHORITY =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

function inNamespace(authority: string): Wanted[] {
  return [
    { group: '', plural: 'serviceaccounts', object: { metadata: { name: 'default' } } },
    {
      group: '',
      plural: 'configmaps',
      object: {
        metadata: { name: 'kube-root-ca.crt', annotations: { 'kubernetes.io/description': ABOUT_AUTHORITY } },
        data: { 'ca.crt': authority },
      },
    },
  ];
}

function role(name: string, rules: JsonObject[]): Wanted {
  return { group: RBAC, plural: 'clusterroles', object: { metadata: bootstrapped(name), rules } };
}

function binding(name: string, groups: readonly string[]): Wanted {
  return {
    group: RBAC,
    plural: 'clusterrolebindings',
    object: {
      metadata: bootstrapped(name),
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects: groups.map((group) => ({ apiGroup: RBAC, kind: 'Group', name: group })),
    },
  };
}

function bootstrapped(name: string): Wanted['object']['metadata'] {
  return {
    name,
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  };
}

const OPEN_TO_ALL = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const DISCOVERY = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
  '/version/',
];

const OF_THE_CLUSTER: readonly Wanted[] = [
  role('cluster-admin', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ]),
  role('system:discovery', [{ nonResourceURLs: DISCOVERY, verbs: ['get'] }]),
  role('system:basic-user', [
    { apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], verbs: ['create'] },
    { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
  ]),
  role('system:public-info-viewer', [{ nonResourceURLs: OPEN_TO_ALL, verbs: ['get'] }]),
  ...USER_ROLES.map(({ name, labels, rules, aggregationRule }): Wanted => {
    const metadata = bootstrapped(name);
    const made = aggregationRule === undefined ? { rules: [...(rules ?? [])] } : { aggregationRule, rules: [] };
    return {
      group: RBAC,
      plural: 'clusterroles',
      object: { metadata: { ...metadata, labels: { ...object(metadata['labels']), ...labels } }, ...made },
    };
  }),
  binding('cluster-admin', ['system:masters']),
  binding('system:discovery', ['system:authenticated']),
  binding('system:basic-user', ['system:authenticated']),
  binding('system:public-info-viewer', ['system:authenticated', 'system:unauthenticated']),
];

const API_SERVICE: Wanted = {
  group: '',
  plural: 'services',
  object: {
    metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
  },
};

/** Its endpoint, as a real API server keeps it. Nothing listens there in the laboratory: the address is one for documents (RFC 5737). */
const API_SLICE: Wanted = {
  group: 'discovery.k8s.io',
  plural: 'endpointslices',
  object: {
    metadata: { name: 'kubernetes', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
    ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
  },
};

export class ClusterObjects extends StoreController {
  readonly #ofNamespaces: readonly Wanted[];

  /** @param authority PEM of the authority that signed the server's certificate */
  constructor(operations: Operations, registry: ResourceRegistry, authority: string) {
    super(operations, registry);
    this.#ofNamespaces = inNamespace(authority);
    for (const wanted of OF_THE_CLUSTER) this.#make(wanted, '');
    for (const namespace of operations.store.list('namespaces')) this.reconcile(namespace.metadata.name);
  }

  protected override onEvent({ type, table, object: item }: StoreEvent): void {
    if (table === 'namespaces' && type === 'ADDED') this.enqueue(item.metadata.name);
    if (type !== 'DELETED' || item.metadata.namespace === undefined) return;
    if (table === 'services' && item.metadata.name !== API_SERVICE.object.metadata.name) return;
    if (table === 'serviceaccounts' || table === 'configmaps' || table === 'services') this.enqueue(item.metadata.namespace);
  }

  protected override reconcile(namespace: string): void {
    const found = this.operations.store.get('namespaces', namespace);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
    for (const wanted of this.#ofNamespaces) this.#make(wanted, namespace);
    if (namespace === 'default') for (const wanted of [API_SERVICE, API_SLICE]) this.#make(wanted, namespace);
  }

  #make({ group, plural, object: item }: Wanted, namespace: string): void {
    const definition = this.registry.find(group, 'v1', plural);
    if (definition === undefined) return;
    const key = storeKey(namespace, item.metadata.name);
    const present = this.operations.store.get(definition.table, key);
    try {
      if (present === undefined) this.operations.create(definition, namespace, structuredClone(item));
      else if (plural === 'configmaps' && object(present['data'])['ca.crt'] !== object(item['data'])['ca.crt'])
        this.operations.update(definition, namespace, item.metadata.name, (current) => ({
          ...current,
          data: { ...object(item['data']) },
        }));
    } catch (error) {
      // A taken address makes the write fail: the cluster works without this object.
      if (!(error instanceof ApiError)) throw error;
    }
  }
}
