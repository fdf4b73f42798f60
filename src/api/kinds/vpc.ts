/** Vpc: an isolated network, one OVN Logical_Router. */

import { ageColumn, column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, integer, list, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions, labelSelector, strings } from '../schema/shapes.ts';

const staticRoute = object('', {
  bfdId: string('UUID of the BFD session that keeps the route alive'),
  cidr: string('Network or address that the route is for'),
  ecmpMode: string('ecmp_symmetric_reply, or empty'),
  nextHopIP: string('Address of the next hop'),
  policy: string('policySrc or policyDst: which side of a packet is compared; empty means policyDst'),
  routeTable: string('Routing table; empty is the main one'),
});

const policyRoute = object('', {
  action: string('allow, drop or reroute'),
  match: string('Match expression of OVN'),
  nextHopIP: string('Next hops of action reroute, with commas'),
  priority: integer('A higher value has precedence'),
});

const vpcPeering = object('', {
  localConnectIP: string('Address with prefix of this side, or one for each family with a comma'),
  remoteVpc: string('Vpc on the other side'),
});

const spec = object('Desired state of the Vpc', {
  bfdPort: object('Router port that answers BFD', {
    enabled: boolean('Whether the port exists', { default: false }),
    ip: string('Its address, or one for each family with a comma'),
    nodeSelector: labelSelector('Nodes that may host it'),
  }),
  defaultSubnet: string('Subnet of pods that name none; for custom Vpcs'),
  enableBfd: boolean('Watch external gateways with BFD'),
  enableExternal: boolean('Connect to the external network'),
  extraExternalSubnets: strings('External Subnets to connect to instead of the default one'),
  namespaces: strings('Namespaces whose pods belong to this Vpc'),
  policyRoutes: list('Policy routes of the router', policyRoute),
  staticRoutes: list('Static routes of the router', staticRoute),
  vpcPeerings: list('Direct links to other Vpcs', vpcPeering),
});

const status = object('Observed state of the Vpc', {
  bfdPort: object('BFD port in use', {
    ip: string('Its address'),
    name: string('Its router port'),
    nodes: strings('Nodes that host it'),
  }),
  conditions,
  default: boolean('Whether it is the default Vpc'),
  defaultLogicalSwitch: string('Default Subnet in effect'),
  enableBfd: boolean('Whether BFD is in effect'),
  enableExternal: boolean('Whether the external network is connected'),
  extraExternalSubnets: strings('External Subnets connected'),
  router: string('Logical router'),
  sctpLoadBalancer: string('Load balancer for SCTP'),
  sctpSessionLoadBalancer: string('Load balancer for SCTP with session affinity'),
  standby: boolean('Whether Subnets may use it'),
  subnets: strings('Subnets in it'),
  tcpLoadBalancer: string('Load balancer for TCP'),
  tcpSessionLoadBalancer: string('Load balancer for TCP with session affinity'),
  udpLoadBalancer: string('Load balancer for UDP'),
  udpSessionLoadBalancer: string('Load balancer for UDP with session affinity'),
  vpcPeerings: strings('Vpcs linked'),
});

export const vpcKind = defineKind({
  kind: 'Vpc',
  plural: 'vpcs',
  singular: 'vpc',
  shortNames: ['vpc'],
  scope: 'Cluster',
  description: 'An isolated network with a router of its own',
  columns: [
    column('EnableExternal', '.status.enableExternal', 'boolean'),
    column('EnableBfd', '.status.enableBfd', 'boolean'),
    column('Standby', '.status.standby', 'boolean'),
    column('Subnets', '.status.subnets'),
    column('ExtraExternalSubnets', '.status.extraExternalSubnets'),
    column('Namespaces', '.spec.namespaces'),
    column('DefaultSubnet', '.status.defaultLogicalSwitch'),
    ageColumn(),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type Vpc = ObjectOf<typeof vpcKind>;
export type VpcSpec = TypeOf<typeof spec>;
export type VpcStatus = TypeOf<typeof status>;
export type StaticRoute = TypeOf<typeof staticRoute>;
export type PolicyRoute = TypeOf<typeof policyRoute>;
export type VpcPeering = TypeOf<typeof vpcPeering>;
