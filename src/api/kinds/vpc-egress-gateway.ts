/** VpcEgressGateway: pods that send selected traffic of a Vpc to an external network. */

import { conntrackLog } from '../schema/conntrack-log.ts';
import { ageColumn, column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { nodeTerms, resources, tolerations } from '../schema/pod-shapes.ts';
import { boolean, intOrString, integer, list, map, object, required, string } from '../schema/schema.ts';
import type { CelRule, TypeOf } from '../schema/schema.ts';
import { bfdSettings, conditions, labelSelector, stringSet, strings, workload } from '../schema/shapes.ts';

/** As many addresses as pods, or none: then each pod gets any address. */
const enoughAddresses = (field: string): CelRule => ({
  rule: `!has(self.${field}) || self.${field}.size() == 0 || self.${field}.size() >= self.replicas`,
  message: `${field} needs an address for each replica, or none at all`,
  fieldPath: `.${field}`,
});

/** Addresses come from a list or from a pool. */
const listOrPool = (addresses: string, pool: string): CelRule => ({
  rule: `!has(self.${addresses}) || self.${addresses}.size() == 0 || !has(self.${pool}) || self.${pool}.size() == 0`,
  message: `give ${addresses} or ${pool}, not both`,
  fieldPath: `.${pool}`,
});

const selectsSomething = (what: string): readonly CelRule[] => [
  {
    rule: 'has(self.matchExpressions) || has(self.matchLabels)',
    message: `a ${what} selector needs matchLabels or matchExpressions`,
  },
];

const bandwidth = (description: string) =>
  intOrString(description, {
    pattern: String.raw`^([0-9]+|([0-9]+(\.[0-9]+)?|\.[0-9]+)(M|Mi|G|Gi))$`,
    rules: [
      {
        rule: 'type(self) != int || (self >= 0 && self <= 9223372036854)',
        message: 'a bandwidth given as an integer is in Mbit/s, from 0 to 9223372036854',
      },
    ],
  });

const policy = object(
  '',
  {
    ipBlocks: stringSet('Networks whose traffic goes through the gateway'),
    snat: boolean('Translate it to the address of the gateway', { default: false }),
    subnets: stringSet('Subnets whose traffic goes through the gateway'),
  },
  { rules: [{ rule: 'has(self.subnets) || has(self.ipBlocks)', message: 'a policy needs ipBlocks or subnets' }] },
);

const selector = object('', {
  namespaceSelector: labelSelector('Namespaces of the pods', selectsSomething('namespace')),
  podSelector: labelSelector('The pods', selectsSomething('pod')),
});

const observability = object('Metrics of the gateway', {
  conntrack: object('Connections', {
    log: conntrackLog,
    metrics: object('Metrics of connections', { enabled: boolean('Whether to serve them') }),
  }),
  interfaceMetrics: object('Metrics of interfaces', { enabled: boolean('Whether to serve them') }),
  resources: resources('Resources of the container that observes'),
  serviceMonitor: object('ServiceMonitor to make', {
    annotations: map('Its annotations', string()),
    labels: map('Its labels', string()),
  }),
});

const spec = object(
  'Desired state of the gateway',
  {
    bandwidth: object('Limits of each pod', { egress: bandwidth('Egress traffic'), ingress: bandwidth('Ingress traffic') }),
    bfd: bfdSettings(3_600_000),
    bgpConf: string('BgpConf to announce by'),
    evpnConf: string('EvpnConf to announce into'),
    externalIPPool: string('IPPool of the external addresses'),
    externalIPs: stringSet('External addresses'),
    externalSubnet: required(string('External Subnet')),
    image: string('Image of its pods'),
    internalIPPool: string('IPPool of the internal addresses'),
    internalIPs: stringSet('Internal addresses'),
    internalSubnet: string('Subnet inside the Vpc; empty for the default one'),
    nodeSelector: nodeTerms('Nodes that it may run on'),
    observability,
    podAntiAffinity: string('Whether its pods must run on different nodes', {
      enum: ['Required', 'Preferred'],
      default: 'Required',
    }),
    policies: list('Traffic by network', policy),
    prefix: string('Prefix of the name of its workload', {
      pattern: String.raw`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*[-\.]?$`,
      rules: [{ rule: 'self == oldSelf', message: 'prefix cannot change: the workload is found by it' }],
    }),
    replicas: integer('Number of pods', { format: 'int32', minimum: 0, maximum: 10, default: 1 }),
    resources: resources('Resources of its pods'),
    selectors: list('Traffic by pod', selector),
    tolerations,
    trafficPolicy: string('Cluster, or Local: go through the pod on the same node where there is one', {
      enum: ['Local', 'Cluster'],
      default: 'Cluster',
    }),
    vpc: string('Vpc that it serves; empty for the default one'),
  },
  {
    rules: [
      enoughAddresses('internalIPs'),
      enoughAddresses('externalIPs'),
      listOrPool('internalIPs', 'internalIPPool'),
      listOrPool('externalIPs', 'externalIPPool'),
      {
        rule: '(has(self.selectors) && self.selectors.size() > 0) || (has(self.policies) && self.policies.size() > 0)',
        message: 'a VpcEgressGateway needs a policy or a selector, else no traffic goes through it',
      },
    ],
  },
);

const status = object('Observed state of the gateway', {
  conditions: required(conditions),
  externalIPs: strings('External addresses in use'),
  internalIPs: strings('Internal addresses in use'),
  labelSelector: string('Labels of its pods, for autoscalers'),
  phase: required(string('Phase: Pending, Processing or Completed', { enum: ['Pending', 'Processing', 'Completed'], default: 'Pending' })),
  ready: boolean('Whether it is ready', { default: false }),
  replicas: integer('Number of pods', { format: 'int32', minimum: 0, maximum: 10 }),
  workload,
});

export const vpcEgressGatewayKind = defineKind({
  kind: 'VpcEgressGateway',
  plural: 'vpc-egress-gateways',
  singular: 'vpc-egress-gateway',
  shortNames: ['vpc-egress-gw', 'veg'],
  scope: 'Namespaced',
  description: 'Pods through which chosen traffic of a Vpc leaves',
  columns: [
    column('Vpc', '.spec.vpc'),
    column('Replicas', '.spec.replicas', 'integer'),
    column('bfd', '.spec.bfd.enabled', 'boolean'),
    column('External Subnet', '.spec.externalSubnet'),
    column('Phase', '.status.phase'),
    column('Ready', '.status.ready', 'boolean'),
    { ...column('Internal IPs', '.status.internalIPs'), priority: 1 },
    { ...column('External IPs', '.status.externalIPs'), priority: 1 },
    { ...column('Working Nodes', '.status.workload.nodes'), priority: 1 },
    ageColumn(),
  ],
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.labelSelector',
    },
  },
  spec,
  status,
});

export type VpcEgressGateway = ObjectOf<typeof vpcEgressGatewayKind>;
export type VpcEgressGatewaySpec = TypeOf<typeof spec>;
export type VpcEgressGatewayStatus = TypeOf<typeof status>;
