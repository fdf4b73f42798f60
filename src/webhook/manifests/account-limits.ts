/**
 * What the controller's account may change of each kind: the annotations, conditions and fields that its rules write. RBAC grants `patch`
 * on the whole object: without these policies a stolen token could, for example, change the image of every pod.
 */
import { KILN_ANNOTATIONS, OBJECT_ANNOTATIONS, READ_POD_ANNOTATIONS, WRITTEN_POD_ANNOTATIONS } from '../../api/annotations.ts';
import {
  annotationKey,
  CONTROLLER_LEASE,
  DEFAULT_PROVIDER,
  DEFAULT_SUBNET,
  DEFAULT_VPC,
  FINALIZER,
  JOIN_SUBNET,
  kilnAnnotation,
  LEGACY_FINALIZERS,
  podAnnotation,
  POD_CONDITIONS,
} from '../../api/well-known.ts';
import { NAT_RULES } from '../../world/nat-rules.ts';
import type { ResourceName } from '../../world/resources.ts';
import { RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';
import {
  all,
  byOperation,
  isOwnEvent,
  onlyFinalizers,
  onlyKeys,
  sameFields,
  sameMap,
  sameMetadata,
  sameObject,
  text,
  texts,
} from './policy-expressions.ts';
import { CONFIGURATION_NAME, CONTROLLER_NAMESPACE, SECRET_NAME, WEBHOOK_CONFIGURATIONS } from './webhook-configuration.ts';

/** One policy: its resources, and what it allows the account. */
export interface AccountLimit {
  /** The policy's name without its prefix `kiln-controller-`. */
  readonly name: string;
  /** `<plural>[/<subresource>]` by API group. */
  readonly resources: Readonly<Record<string, readonly string[]>>;
  /** CEL: true if the account may make the change. */
  readonly expression: string;
  /** Continues the sentence "the controller of Kiln may only ". */
  readonly message: string;
}

const FINALIZERS = onlyFinalizers(FINALIZER, LEGACY_FINALIZERS);

/** The annotations that Kiln writes on these kinds: its own and Kube-OVN's. */
function annotationsOn(...kinds: readonly string[]): readonly string[] {
  const written = (
    keys: Readonly<Record<string, string>>,
    table: Readonly<Record<string, { readonly on: string; readonly use: string }>>,
  ): readonly string[] =>
    Object.entries(table).flatMap(([name, { on, use }]) =>
      use.includes('writes') && on.split(', ').some((kind) => kinds.includes(kind)) ? [keys[name] ?? ''] : [],
    );
  return [...written(annotationKey, OBJECT_ANNOTATIONS), ...written(kilnAnnotation, KILN_ANNOTATIONS)];
}

function onlyAnnotations(...keys: readonly string[]): string {
  return onlyKeys('object.metadata.annotations', `k in ${texts(keys)}`);
}

const ofOvn = (suffix: Parameters<typeof podAnnotation>[1]): string => podAnnotation(DEFAULT_PROVIDER, suffix);
const CONDITIONS_KEPT_IN = kilnAnnotation.conditions;

const interfaceKey = (suffixes: readonly string[]): string =>
  `k.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?[.]kubernetes[.]io/(${suffixes.join('|')})$')`;

/**
 * Annotations of an interface, recognised by their suffix. When an interface is removed, Kiln also removes what a user wrote for it. So the
 * account may remove these keys, but not set them. No `kubernetes.io` key of another program has one of these suffixes.
 */
const OF_INTERFACES =
  `${interfaceKey(WRITTEN_POD_ANNOTATIONS)} || ` +
  `(!(k in object.metadata.?annotations.orValue({})) && ${interfaceKey([...new Set([...WRITTEN_POD_ANNOTATIONS, ...READ_POD_ANNOTATIONS])])})`;

const PODS: readonly AccountLimit[] = [
  {
    name: 'pods',
    resources: { '': ['pods'] },
    expression: byOperation({
      UPDATE: all(sameObject('metadata'), sameMetadata('annotations'), onlyKeys('object.metadata.annotations', `(${OF_INTERFACES})`)),
    }),
    message: "change a pod's annotations about its network, and nothing else of a pod",
  },
  {
    name: 'pod-status',
    resources: { '': ['pods/status'] },
    expression: byOperation({
      UPDATE: all(
        sameObject('metadata', 'status'),
        sameMetadata(),
        sameFields('object.status', 'conditions'),
        ...(['object', 'oldObject'] as const).map(
          (root, at, roots) =>
            `${root}.status.?conditions.orValue([]).all(c, c.type in ${texts(POD_CONDITIONS)} || ` +
            `c in ${roots[1 - at]}.status.?conditions.orValue([]))`,
        ),
      ),
    }),
    message: `change a pod's conditions ${POD_CONDITIONS.join(', ')}, and nothing else of its status`,
  },
  {
    name: 'evictions',
    resources: { '': ['pods/eviction'] },
    expression: all(
      "request.operation == 'CREATE'",
      `namespaceObject.metadata.?annotations.orValue({})[?'${kilnAnnotation.misbound}'].orValue('') == 'evict'`,
    ),
    message: `evict pods of namespaces with annotation ${kilnAnnotation.misbound}=evict; where --misbound=evict is set for the cluster: kubectl delete validatingadmissionpolicybinding kiln-controller-evictions`,
  },
];

const CLUSTER: readonly AccountLimit[] = [
  {
    name: 'namespaces',
    resources: { '': ['namespaces'] },
    expression: byOperation({
      UPDATE: all(
        sameObject('metadata'),
        sameMetadata('annotations'),
        onlyAnnotations(ofOvn('logical_switch'), ofOvn('cidr'), ofOvn('ip_pool'), ...annotationsOn('Namespace')),
      ),
    }),
    message: "change a Namespace's annotations about its Subnets, and nothing else of a Namespace",
  },
  {
    name: 'nodes',
    resources: { '': ['nodes'] },
    expression: byOperation({
      UPDATE: all(
        sameObject('metadata'),
        sameMetadata('annotations'),
        onlyAnnotations(
          ...(['allocated', 'ip_address', 'mac_address', 'cidr', 'gateway', 'logical_switch'] as const).map(ofOvn),
          ...annotationsOn('Node'),
          CONDITIONS_KEPT_IN,
        ),
      ),
    }),
    message: "change a Node's annotations about its port in the join Subnet, and nothing else of a Node",
  },
];

/** Kinds to which Kiln allocates addresses, and the spec fields that it fills in. */
const ALLOCATED_FIELDS = {
  vips: { spec: ['v4ip', 'v6ip', 'macAddress'], status: ['status'] },
  'ovn-eips': { spec: ['externalSubnet', 'v4Ip', 'v6Ip', 'macAddress', 'type'], status: [] },
  'iptables-eips': { spec: ['externalSubnet', 'v4ip', 'macAddress'], status: [] },
} as const;

const ROUTE_TEXTS = ['cidr', 'nextHopIP', 'ecmpMode', 'bfdId', 'routeTable'];

/** Each route with its defaults: two lists are equal if they differ only in what Kiln fills in. */
function routes(root: string): string {
  const texts = ROUTE_TEXTS.map((field) => text('r', field)).join(', ');
  return `${root}.spec.?staticRoutes.orValue([]).map(r, [${texts}, ${text('r', 'policy')} == '' ? 'policyDst' : ${text('r', 'policy')}])`;
}

function policies(root: string): string {
  const hop = text('r', 'nextHopIP');
  return `${root}.spec.?policyRoutes.orValue([]).map(r, [dyn(r.?priority.orValue(0)), ${text('r', 'match')}, ${text('r', 'action')}, ${text('r', 'action')} in ['allow', 'drop'] ? '' : ${hop}])`;
}

/** A field that Kiln fills in if it is empty, and never changes otherwise. */
function filledIn(field: string): string {
  const [now, before] = [text('object', `spec.${field}`), text('oldObject', `spec.${field}`)];
  return `${before} == '' || ${now} == ${before}`;
}

const CIDR = [text('object', 'spec.cidrBlock'), text('oldObject', 'spec.cidrBlock')] as const;
const GATEWAY = [text('object', 'spec.gateway'), text('oldObject', 'spec.gateway')] as const;

/** The networks are the same: only host bits are removed, or IPv4 and IPv6 change their order. */
const SAME_NETWORKS = `${CIDR[0]} == ${CIDR[1]} || ${CIDR[0]}.split(',').all(n, ${CIDR[1]}.split(',').exists(o, cidr(o.trim()).masked() == cidr(n)))`;
/** The gateways are the same: only one for a family without a gateway is added. */
const SAME_GATEWAYS =
  `${GATEWAY[0]} == ${GATEWAY[1]} || ${GATEWAY[1]}.trim() == '' || ` +
  `${GATEWAY[0]}.split(',').all(n, ${GATEWAY[1]}.split(',').exists(o, ip(o.trim()) == ip(n)) || ${GATEWAY[1]}.split(',').all(o, ip(o.trim()).family() != ip(n).family()))`;

const OWN_KINDS: readonly AccountLimit[] = [
  {
    name: 'vpcs',
    resources: { 'kubeovn.io': ['vpcs'] },
    expression: byOperation({
      CREATE: all(`object.metadata.name == '${DEFAULT_VPC}'`, `object.?spec.orValue({}).all(k, k == 'bfdPort')`),
      UPDATE: all(
        sameObject('metadata', 'spec'),
        sameMetadata('finalizers'),
        FINALIZERS,
        sameFields('object.spec', 'staticRoutes', 'policyRoutes'),
        `${routes('object')} == ${routes('oldObject')}`,
        `${policies('object')} == ${policies('oldObject')}`,
      ),
    }),
    message: `create the default Vpc ${DEFAULT_VPC}, and fill in defaults of a Vpc's routes`,
  },
  {
    name: 'subnets',
    resources: { 'kubeovn.io': ['subnets'] },
    expression: byOperation({
      CREATE: all(`object.metadata.name in ${texts([DEFAULT_SUBNET, JOIN_SUBNET])}`, `object.spec.vpc == '${DEFAULT_VPC}'`),
      UPDATE: all(
        sameObject('metadata', 'spec'),
        sameMetadata('annotations', 'finalizers'),
        FINALIZERS,
        onlyAnnotations(...annotationsOn('Subnet')),
        sameFields(
          'object.spec',
          'protocol',
          'cidrBlock',
          'gateway',
          'excludeIps',
          'provider',
          'vpc',
          'gatewayType',
          'default',
          'private',
          'natOutgoing',
          'enableLb',
        ),
        ...(['provider', 'vpc', 'gatewayType'] as const).map(filledIn),
        'object.spec.?default.orValue(false) == false || oldObject.spec.?default.orValue(false) == true',
        ...['private', 'natOutgoing'].map((field) => `object.spec.?${field}.orValue(false) == oldObject.spec.?${field}.orValue(false)`),
        SAME_NETWORKS,
        SAME_GATEWAYS,
      ),
    }),
    message: `create the Subnets ${DEFAULT_SUBNET} and ${JOIN_SUBNET} of the default Vpc, fill in defaults of a Subnet's spec, and record its MTU in annotation ${kilnAnnotation.mtu}`,
  },
  {
    name: 'ips',
    resources: { 'kubeovn.io': ['ips'] },
    expression: byOperation({
      CREATE: `object.metadata.?finalizers.orValue([]).all(f, f == '${FINALIZER}')`,
      UPDATE: all(
        sameObject('metadata', 'spec'),
        sameMetadata('annotations', 'labels', 'finalizers'),
        FINALIZERS,
        onlyAnnotations(...annotationsOn('IP'), CONDITIONS_KEPT_IN),
      ),
      DELETE: 'true',
    }),
    message:
      'create, fill in and delete IP objects, and change no owner reference of them and no annotation or finalizer of another program',
  },
  ...Object.entries(ALLOCATED_FIELDS).map(([plural, { spec, status }]): AccountLimit => ({
    name: plural,
    resources: { 'kubeovn.io': [plural] },
    expression: byOperation({
      UPDATE: all(
        sameObject('metadata', 'spec', ...status),
        sameMetadata('annotations', 'labels', 'finalizers'),
        FINALIZERS,
        onlyAnnotations(...annotationsOn(traitsOf(plural as ResourceName).kind)),
        onlyKeys('object.metadata.labels', "k.startsWith('ovn.kubernetes.io/')"),
        sameFields('object.spec', ...spec),
      ),
      DELETE: `'${kilnAnnotation.lease}' in oldObject.metadata.?annotations.orValue({})`,
    }),
    message: `fill in the address of a ${traitsOf(plural as ResourceName).kind}, and delete one with annotation ${kilnAnnotation.lease}`,
  })),
  {
    name: 'nat-rules',
    resources: { 'kubeovn.io': NAT_RULES.map((resource) => traitsOf(resource).plural) },
    expression: byOperation({
      UPDATE: all(
        sameObject('metadata'),
        sameMetadata('annotations', 'labels', 'finalizers'),
        FINALIZERS,
        onlyAnnotations(...annotationsOn('NAT rules')),
        onlyKeys('object.metadata.labels', "k.startsWith('ovn.kubernetes.io/')"),
      ),
    }),
    message: 'write the EIP of a NAT rule into its labels and annotations, remove its finalizer, and change nothing else of it',
  },
];

/** Kinds with policies of their own. */
const APART: readonly ResourceName[] = [
  'pods',
  'namespaces',
  'nodes',
  'vpcs',
  'subnets',
  'ips',
  'vips',
  'ovn-eips',
  'iptables-eips',
  ...NAT_RULES,
];
/** Kinds on which Kiln writes only conditions and its finalizer. */
const MARKED = RESOURCE_NAMES.filter((resource) => !APART.includes(resource) && traitsOf(resource).conditions !== 'none');
/** Kinds whose whole status belongs to Kiln. In all other kinds another controller owns the status, and Kiln writes conditions only. */
const OWN_STATUS: readonly ResourceName[] = ['vpcs', 'subnets', 'ippools', 'ovn-eips', 'iptables-eips'];
const WITH_CONDITIONS = [...NAT_RULES, ...MARKED].filter(
  (resource) => traitsOf(resource).conditions === 'status' && traitsOf(resource).statusSubresource && !OWN_STATUS.includes(resource),
);

function byGroup(resources: readonly ResourceName[], subresource = ''): AccountLimit['resources'] {
  const groups: Record<string, string[]> = {};
  for (const { group, plural } of resources.map(traitsOf)) (groups[group] ??= []).push(`${plural}${subresource}`);
  return groups;
}

const OTHER_KINDS: readonly AccountLimit[] = [
  {
    name: 'marks',
    resources: byGroup(MARKED),
    expression: byOperation({
      UPDATE: all(sameObject('metadata'), sameMetadata('annotations', 'finalizers'), FINALIZERS, onlyAnnotations(CONDITIONS_KEPT_IN)),
    }),
    message: `change annotation ${CONDITIONS_KEPT_IN} and the finalizer of what it only observes, and nothing else of it`,
  },
  {
    name: 'own-status',
    resources: byGroup(OWN_STATUS, '/status'),
    expression: byOperation({ UPDATE: 'true' }),
    message: 'change the status of its own kinds',
  },
  {
    name: 'conditions',
    resources: byGroup(WITH_CONDITIONS, '/status'),
    // A first status has conditions, and the defaults of the CRD's schema.
    expression: byOperation({ UPDATE: `!has(oldObject.status) || (${sameFields('object.status', 'conditions')})` }),
    message: 'change the conditions of what it only observes, and nothing else of its status',
  },
  {
    name: 'events',
    resources: { '': ['events'] },
    expression: byOperation({
      CREATE: isOwnEvent('object'),
      UPDATE: all(isOwnEvent('oldObject'), sameObject('metadata', 'count', 'lastTimestamp'), sameMetadata()),
    }),
    message: "create Events in its own name, or with Kube-OVN's name and reasons, and increase their count",
  },
];

const OWN_OBJECTS: readonly AccountLimit[] = [
  {
    name: 'lease',
    resources: { 'coordination.k8s.io': ['leases'] },
    expression: all(
      `request.namespace == '${CONTROLLER_NAMESPACE}' && object.metadata.name == '${CONTROLLER_LEASE}'`,
      byOperation({
        CREATE: 'true',
        UPDATE: all(
          sameObject('metadata', 'spec'),
          sameMetadata('annotations'),
          onlyAnnotations(...annotationsOn('Lease of the controller')),
        ),
      }),
    ),
    message: `hold the Lease ${CONTROLLER_NAMESPACE}/${CONTROLLER_LEASE}, and no other`,
  },
  {
    name: 'secret',
    resources: { '': ['secrets'] },
    expression: all(
      `request.namespace == '${CONTROLLER_NAMESPACE}' && request.name == '${SECRET_NAME}'`,
      byOperation({
        UPDATE: all(
          sameObject('metadata', 'data'),
          sameMetadata(),
          onlyKeys('object.data', `k in ${texts(['ca.crt', 'tls.crt', 'tls.key', 'next.crt', 'next.key'])}`),
        ),
      }),
    ),
    message: `change the certificates in Secret ${CONTROLLER_NAMESPACE}/${SECRET_NAME}, and no other Secret`,
  },
  {
    name: 'webhook',
    resources: { [WEBHOOK_CONFIGURATIONS.group]: [WEBHOOK_CONFIGURATIONS.plural] },
    expression: all(
      `request.name == '${CONFIGURATION_NAME}'`,
      byOperation({
        UPDATE: all(
          sameObject('metadata', 'webhooks'),
          sameMetadata(),
          'object.webhooks.size() == oldObject.webhooks.size()',
          `oldObject.webhooks.all(o, object.webhooks.exists(n,\n${all(
            sameMap('n', 'o', ['clientConfig']),
            sameMap('n.clientConfig', 'o.clientConfig', ['caBundle']),
          )}))`,
        ),
      }),
    ),
    message: `change caBundle in ValidatingWebhookConfiguration ${CONFIGURATION_NAME}, no rule and no address of it, and no other configuration`,
  },
];

export const ACCOUNT_LIMITS: readonly AccountLimit[] = [...PODS, ...CLUSTER, ...OWN_KINDS, ...OTHER_KINDS, ...OWN_OBJECTS];
