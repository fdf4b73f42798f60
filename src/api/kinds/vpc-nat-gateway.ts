/** VpcNatGateway: pods that translate between a Vpc and external networks with iptables. */

import { ageColumn, column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { affinity, tolerations } from '../schema/pod-shapes.ts';
import { boolean, integer, list, map, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { bfdSettings, strings, workload } from '../schema/shapes.ts';

const bgpSpeaker = object('Announce external addresses with BGP', {
  asn: integer('Own autonomous system', { format: 'int32' }),
  enableGracefulRestart: boolean('Keep routes while the speaker restarts'),
  enabled: boolean('Whether to announce'),
  extraArgs: strings('Further arguments of the speaker'),
  holdTime: string('Time without a message until a neighbour counts as down'),
  neighbors: strings('Addresses of the neighbours'),
  password: string('Password of the sessions'),
  remoteAsn: integer('Autonomous system of the neighbours', { format: 'int32' }),
  routerId: string('Router id'),
});

const spec = object('Desired state of the gateway', {
  affinity,
  annotations: map('Annotations of its pods', string()),
  bfd: bfdSettings(255),
  bgpSpeaker,
  externalSubnets: strings('Subnets of the external networks'),
  internalCIDRs: strings('Networks that it serves'),
  internalSubnets: strings('Subnets that it serves'),
  lanIp: string('Its address inside the Vpc'),
  namespace: string('Namespace of its workload'),
  noDefaultEIP: boolean('Start without an external address'),
  qosPolicy: string('QoSPolicy that limits it'),
  replicas: integer('Number of pods; more than one makes it highly available', { format: 'int32', minimum: 1, default: 1 }),
  routes: list('Further routes of its pods', object('', { cidr: string('Network'), nextHopIP: string('Address of the next hop') })),
  selector: strings('Labels of its nodes as key:value'),
  subnet: string('Subnet of its pods inside the Vpc'),
  tolerations,
  vpc: string('Vpc that it serves'),
});

const status = object('Observed state of the gateway', {
  affinity,
  externalSubnets: strings('External Subnets in use'),
  internalCIDRs: strings('Networks served'),
  internalSubnets: strings('Subnets served'),
  lanIp: string('Addresses inside the Vpc'),
  qosPolicy: string('QoSPolicy in effect'),
  ready: boolean('Whether it is ready'),
  replicas: integer('Number of pods', { format: 'int32' }),
  selector: strings('Labels of its nodes in effect'),
  tolerations,
  workload,
});

export const vpcNatGatewayKind = defineKind({
  kind: 'VpcNatGateway',
  plural: 'vpc-nat-gateways',
  singular: 'vpc-nat-gateway',
  shortNames: ['vpc-nat-gw'],
  scope: 'Cluster',
  description: 'Pods that translate between a Vpc and external networks',
  columns: [
    column('Namespace', '.spec.namespace'),
    column('Vpc', '.spec.vpc'),
    column('Subnet', '.spec.subnet'),
    column('IPs', '.status.lanIp'),
    column('Replicas', '.spec.replicas', 'integer'),
    column('Ready', '.status.ready', 'boolean'),
    column('BFD', '.spec.bfd.enabled', 'boolean'),
    ageColumn(),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type VpcNatGateway = ObjectOf<typeof vpcNatGatewayKind>;
export type VpcNatGatewaySpec = TypeOf<typeof spec>;
export type VpcNatGatewayStatus = TypeOf<typeof status>;
