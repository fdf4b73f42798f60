/** The built-in resources of the laboratory: the kinds that a network controller and its users need. */
import type { Environment } from '../environment.ts';
import { timestamp } from '../environment.ts';
import { list, object } from '../json.ts';
import type { ResourceDefinition, Strategy } from '../resource.ts';
import { ALL_VERBS } from '../resource.ts';
import { invalidValue } from '../status.ts';
import type { ObjectStore } from '../store.ts';
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from './access-roles.ts';
import { crdStrategy } from './crd.ts';
import { configMaps, secrets } from './data.ts';
import { define } from './define.ts';
import { endpoints, endpointSlices } from './endpoints.ts';
import { eventErrors, eventsView } from './event.ts';
import { amountErrors, selectorErrors } from './field-rules.ts';
import { networkPolicies } from './network-policy.ts';
import { nodes } from './node.ts';
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

/** `kubectl` waits for the phase of a namespace, and clients select namespaces by the label with their name. */
const namespaceStrategy: Strategy = {
  nameRule: 'label',
  prepareCreate: (namespace) => {
    const spec = object(namespace['spec']);
    spec['finalizers'] = [...new Set([...list(spec['finalizers']), 'kubernetes'])];
    namespace['spec'] = spec;
    namespace['status'] = { phase: 'Active' };
  },
  prepareUpdate: (namespace, old, subresource) => {
    if (subresource !== 'finalize') namespace['spec'] = object(old['spec']);
  },
  settles: true,
  applyDefaults: (namespace) => {
    namespace.metadata.labels = { 'kubernetes.io/metadata.name': namespace.metadata.name, ...namespace.metadata.labels };
  },
  prepareDelete: (namespace) => void (namespace['status'] = { ...object(namespace['status']), phase: 'Terminating' }),
};

const leaseStrategy: Strategy = {
  validate: (lease) => {
    const { leaseDurationSeconds, leaseTransitions } = object(lease['spec']);
    return [
      ...(typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0
        ? [invalidValue('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0')]
        : []),
      ...(typeof leaseTransitions === 'number' && leaseTransitions < 0
        ? [invalidValue('spec.leaseTransitions', leaseTransitions, 'must to greater or equal than 0')]
        : []),
    ];
  },
};

const budgetStrategy: Strategy = {
  prepareCreate: (budget) => void (budget['status'] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
  validate: (budget) => {
    const spec = object(budget['spec']);
    const { minAvailable, maxUnavailable, selector } = spec;
    return [
      ...(minAvailable !== undefined && maxUnavailable !== undefined
        ? [invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
        : []),
      ...amountErrors(minAvailable, 'spec.minAvailable', 100),
      ...amountErrors(maxUnavailable, 'spec.maxUnavailable', 100),
      ...selectorErrors(selector, 'spec.selector'),
    ];
  },
};

const RBAC = 'rbac.authorization.k8s.io';

export function builtinResources(store: ObjectStore, environment: Environment): ResourceDefinition[] {
  const now = (): string => timestamp(environment.now());
  return [
    define('', 'v1', 'configmaps', 'ConfigMap', true, {
      shortNames: ['cm'],
      strategy: configMaps,
    }),
    define('', 'v1', 'endpoints', 'Endpoints', true, {
      shortNames: ['ep'],
      strategy: endpoints,
    }),
    define('', 'v1', 'events', 'Event', true, {
      shortNames: ['ev'],
      type: 'CoreV1Event',
      strategy: { validate: eventErrors },
      fieldSelectors: EVENT_FIELDS,
      createOnUpdate: true,
    }),
    define('', 'v1', 'namespaces', 'Namespace', false, {
      // A real server does not offer `deletecollection` for namespaces either.
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
      strategy: nodes,
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
    define('', 'v1', 'secrets', 'Secret', true, { fieldSelectors: ['type'], strategy: secrets }),
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
    define('coordination.k8s.io', 'v1', 'leases', 'Lease', true, {
      unconditionalUpdate: false,
      createOnUpdate: true,
      strategy: leaseStrategy,
    }),
    define('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice', true, {
      hasGeneration: true,
      strategy: endpointSlices,
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
      strategy: networkPolicies,
    }),
    define('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget', true, {
      shortNames: ['pdb'],
      hasStatus: true,
      hasGeneration: true,
      unconditionalUpdate: false,
      strategy: budgetStrategy,
    }),
    define(RBAC, 'v1', 'clusterrolebindings', 'ClusterRoleBinding', false, { strategy: clusterRoleBindings }),
    define(RBAC, 'v1', 'clusterroles', 'ClusterRole', false, { strategy: clusterRoles }),
    define(RBAC, 'v1', 'rolebindings', 'RoleBinding', true, { strategy: roleBindings }),
    define(RBAC, 'v1', 'roles', 'Role', true, { strategy: roles }),
  ];
}
