/** The built-in resources of the laboratory: the kinds that a network controller and its users meet. */
import type { Environment } from '../environment.ts';
import { timestamp } from '../environment.ts';
import type { JsonObject } from '../json.ts';
import { at, clone, isObject, list, object } from '../json.ts';
import type { ResourceDefinition, Strategy } from '../resource.ts';
import { ALL_VERBS } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, required } from '../status.ts';
import type { ObjectStore } from '../store.ts';
import { crdStrategy } from './crd.ts';
import { define } from './define.ts';
import { eventsView } from './event.ts';
import { podStrategy } from './pod.ts';
import { serviceStrategy } from './service.ts';
import { webhookConfigurationStrategy } from './webhook-configuration.ts';
import { controllerRevisions, daemonSets, deployments, replicaSets, statefulSets } from './workloads.ts';

export const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.spec.selector' };
const EVENT_FIELDS = [
  'involvedObject.kind',
  'involvedObject.namespace',
  'involvedObject.name',
  'involvedObject.uid',
  'involvedObject.apiVersion',
  'involvedObject.resourceVersion',
  'involvedObject.fieldPath',
  'reason',
  'reportingComponent',
  'source',
  'type',
];
const NEW_EVENT_FIELDS = [
  'regarding.kind',
  'regarding.namespace',
  'regarding.name',
  'regarding.uid',
  'reason',
  'reportingController',
  'type',
];

/** `kubectl` waits for a namespace by its phase, and every client selects namespaces by their name's label. */
const namespaceStrategy: Strategy = {
  nameRule: 'label',
  prepareCreate: (namespace) => {
    const spec = object(namespace['spec']);
    spec['finalizers'] = [...new Set([...list(spec['finalizers']), 'kubernetes'])];
    namespace['spec'] = spec;
    namespace['status'] = { phase: 'Active' };
  },
  prepareUpdate: (namespace, old, subresource) => {
    if (subresource !== 'finalize') namespace['spec'] = clone(object(old['spec']));
  },
  applyDefaults: (namespace) => {
    namespace.metadata.labels = { 'kubernetes.io/metadata.name': namespace.metadata.name, ...namespace.metadata.labels };
  },
  prepareDelete: (namespace) => void (namespace['status'] = { ...object(namespace['status']), phase: 'Terminating' }),
};

const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

function keyErrors(item: JsonObject, ...fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) =>
    Object.keys(object(item[field]))
      .filter((key) => !/^[-._a-zA-Z0-9]+$/.test(key))
      .map((key) => invalidValue(`${field}[${key}]`, key, KEY_RULE)),
  );
}

const secretStrategy: Strategy = {
  validate: (secret) => keyErrors(secret, 'data'),
  applyDefaults: (secret) => {
    secret['type'] ??= 'Opaque';
    const plain = secret['stringData'];
    if (!isObject(plain)) return;
    const data = object(secret['data']);
    for (const [key, value] of Object.entries(plain)) data[key] = Buffer.from(String(value)).toString('base64');
    secret['data'] = data;
    delete secret['stringData'];
  },
};

const networkPolicyStrategy: Strategy = {
  applyDefaults: (policy) => {
    const spec = object(policy['spec']);
    policy['spec'] = spec;
    spec['podSelector'] ??= {};
    spec['policyTypes'] ??= list(spec['egress']).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    for (const rule of [...list(spec['ingress']), ...list(spec['egress'])])
      for (const port of list(at(rule, 'ports'))) if (isObject(port)) port['protocol'] ??= 'TCP';
  },
};

function portsDefault(read: (item: JsonObject) => unknown[]): Strategy {
  return {
    applyDefaults: (item) => {
      for (const port of read(item)) if (isObject(port)) port['protocol'] ??= 'TCP';
    },
  };
}

const clusterRoleStrategy: Strategy = {
  nameRule: 'path',
  validate: (role) =>
    role['aggregationRule'] !== undefined && list(at(role, 'aggregationRule', 'clusterRoleSelectors')).length === 0
      ? [required('aggregationRule.clusterRoleSelectors', 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
      : [],
};
const bindingStrategy: Strategy = {
  nameRule: 'path',
  applyDefaults: (binding) => {
    const role = binding['roleRef'];
    if (isObject(role)) role['apiGroup'] ??= 'rbac.authorization.k8s.io';
    for (const subject of list(binding['subjects']))
      if (isObject(subject)) subject['apiGroup'] ??= subject['kind'] === 'ServiceAccount' ? '' : 'rbac.authorization.k8s.io';
    for (const subject of list(binding['subjects'])) if (isObject(subject) && subject['apiGroup'] === '') delete subject['apiGroup'];
  },
  validate: (binding) => (at(binding, 'roleRef', 'name') === undefined ? [required('roleRef.name')] : []),
};

/** What a new node has until a node controller sees it ready. */
const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
const NODE_INFO = [
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
];

const nodeStrategy: Strategy = {
  prepareCreate: (node) => {
    const spec = object(node['spec']);
    node['spec'] = spec;
    const taints = list(spec['taints']);
    if (!taints.some((taint) => at(taint, 'key') === NOT_READY.key && at(taint, 'effect') === NOT_READY.effect))
      spec['taints'] = [...taints, { ...NOT_READY }];
  },
  applyDefaults: (node) => {
    const status = object(node['status']);
    node['status'] = status;
    status['daemonEndpoints'] ??= { kubeletEndpoint: { Port: 0 } };
    const info = object(status['nodeInfo']);
    status['nodeInfo'] = info;
    for (const field of NODE_INFO) info[field] ??= '';
  },
};

const budgetStrategy: Strategy = {
  prepareCreate: (budget) => void (budget['status'] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
};

const quotaStrategy: Strategy = { prepareCreate: (quota) => void (quota['status'] = {}) };

/** What a container gets follows from what it may have, where it is not said. */
const limitRangeStrategy: Strategy = {
  applyDefaults: (range) => {
    for (const rule of list(at(range, 'spec', 'limits'))) {
      if (!isObject(rule) || rule['type'] !== 'Container') continue;
      const most = object(rule['max']);
      const limits = { ...most, ...object(rule['default']) };
      if (Object.keys(limits).length > 0) rule['default'] = limits;
      const requests = { ...object(rule['min']), ...limits, ...object(rule['defaultRequest']) };
      if (Object.keys(requests).length > 0) rule['defaultRequest'] = requests;
    }
  },
};

const RBAC = 'rbac.authorization.k8s.io';

export function builtinResources(store: ObjectStore, environment: Environment): ResourceDefinition[] {
  const now = (): string => timestamp(environment.now());
  return [
    define('', 'v1', 'configmaps', 'ConfigMap', true, {
      shortNames: ['cm'],
      strategy: { validate: (map) => keyErrors(map, 'data', 'binaryData') },
    }),
    define('', 'v1', 'endpoints', 'Endpoints', true, {
      shortNames: ['ep'],
      strategy: portsDefault((item) => list(item['subsets']).flatMap((subset) => list(at(subset, 'ports')))),
    }),
    define('', 'v1', 'events', 'Event', true, {
      shortNames: ['ev'],
      type: 'CoreV1Event',
      fieldSelectors: EVENT_FIELDS,
      createOnUpdate: true,
    }),
    define('', 'v1', 'limitranges', 'LimitRange', true, { shortNames: ['limits'], strategy: limitRangeStrategy }),
    define('', 'v1', 'namespaces', 'Namespace', false, {
      // Nobody deletes them all at once.
      verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
      shortNames: ['ns'],
      hasStatus: true,
      fieldSelectors: ['status.phase'],
      strategy: namespaceStrategy,
    }),
    define('', 'v1', 'nodes', 'Node', false, {
      shortNames: ['no'],
      hasStatus: true,
      fieldSelectors: ['spec.unschedulable'],
      strategy: nodeStrategy,
    }),
    define('', 'v1', 'pods', 'Pod', true, {
      shortNames: ['po'],
      categories: ['all'],
      hasStatus: true,
      returnsDeleted: true,
      strategy: podStrategy,
      fieldSelectors: [
        'spec.nodeName',
        'spec.restartPolicy',
        'spec.schedulerName',
        'spec.serviceAccountName',
        'spec.hostNetwork',
        'status.phase',
        'status.podIP',
        'status.nominatedNodeName',
      ],
    }),
    define('', 'v1', 'resourcequotas', 'ResourceQuota', true, {
      shortNames: ['quota'],
      hasStatus: true,
      returnsDeleted: true,
      strategy: quotaStrategy,
    }),
    define('', 'v1', 'secrets', 'Secret', true, { fieldSelectors: ['type'], strategy: secretStrategy }),
    define('', 'v1', 'serviceaccounts', 'ServiceAccount', true, { shortNames: ['sa'], returnsDeleted: true }),
    define('', 'v1', 'services', 'Service', true, {
      shortNames: ['svc'],
      categories: ['all'],
      hasStatus: true,
      returnsDeleted: true,
      strategy: serviceStrategy(store),
      fieldSelectors: ['spec.clusterIP', 'spec.type'],
    }),
    define('apps', 'v1', 'controllerrevisions', 'ControllerRevision', true, { strategy: controllerRevisions }),
    define('apps', 'v1', 'daemonsets', 'DaemonSet', true, {
      shortNames: ['ds'],
      categories: ['all'],
      hasStatus: true,
      hasGeneration: true,
      strategy: daemonSets,
    }),
    define('apps', 'v1', 'deployments', 'Deployment', true, {
      shortNames: ['deploy'],
      categories: ['all'],
      hasStatus: true,
      hasGeneration: true,
      scale: SCALE,
      strategy: deployments,
    }),
    define('apps', 'v1', 'replicasets', 'ReplicaSet', true, {
      shortNames: ['rs'],
      categories: ['all'],
      hasStatus: true,
      hasGeneration: true,
      scale: SCALE,
      strategy: replicaSets,
      fieldSelectors: ['status.replicas'],
    }),
    define('apps', 'v1', 'statefulsets', 'StatefulSet', true, {
      shortNames: ['sts'],
      categories: ['all'],
      hasStatus: true,
      hasGeneration: true,
      scale: SCALE,
      strategy: statefulSets,
    }),
    define('admissionregistration.k8s.io', 'v1', 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', false, {
      categories: ['api-extensions'],
      hasGeneration: true,
      strategy: webhookConfigurationStrategy,
    }),
    define('apiextensions.k8s.io', 'v1', 'customresourcedefinitions', 'CustomResourceDefinition', false, {
      shortNames: ['crd', 'crds'],
      categories: ['api-extensions'],
      hasStatus: true,
      hasGeneration: true,
      unconditionalUpdate: false,
      strategy: crdStrategy(now),
    }),
    define('coordination.k8s.io', 'v1', 'leases', 'Lease', true, { unconditionalUpdate: false, createOnUpdate: true }),
    define('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice', true, {
      hasGeneration: true,
      strategy: portsDefault((item) => list(item['ports'])),
    }),
    define('events.k8s.io', 'v1', 'events', 'Event', true, {
      shortNames: ['ev'],
      type: 'EventsV1Event',
      view: eventsView,
      fieldSelectors: NEW_EVENT_FIELDS,
      createOnUpdate: true,
    }),
    define('networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy', true, {
      shortNames: ['netpol'],
      hasGeneration: true,
      strategy: networkPolicyStrategy,
    }),
    define('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget', true, {
      shortNames: ['pdb'],
      hasStatus: true,
      hasGeneration: true,
      unconditionalUpdate: false,
      strategy: budgetStrategy,
    }),
    define(RBAC, 'v1', 'clusterrolebindings', 'ClusterRoleBinding', false, { strategy: bindingStrategy }),
    define(RBAC, 'v1', 'clusterroles', 'ClusterRole', false, { strategy: clusterRoleStrategy }),
    define(RBAC, 'v1', 'rolebindings', 'RoleBinding', true, { strategy: bindingStrategy }),
    define(RBAC, 'v1', 'roles', 'Role', true, { strategy: { nameRule: 'path' } }),
  ];
}
