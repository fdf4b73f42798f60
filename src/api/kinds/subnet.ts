/** Subnet: a range of addresses and the OVN Logical_Switch (or foreign network) that uses it. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, count, integer, list, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions, labelSelector, strings } from '../schema/shapes.ts';

const acl = object('', {
  action: string('allow, allow-related, allow-stateless, drop or reject'),
  direction: string('from-lport or to-lport'),
  match: string('Match expression of OVN'),
  priority: integer('A higher value has precedence'),
});

const natRuleFields = {
  action: string('nat or forward'),
  match: object('Packets that the rule is for', {
    dstIPs: string('Destinations: addresses or networks with commas'),
    srcIPs: string('Sources: addresses or networks with commas'),
  }),
} as const;

const natOutgoingPolicyRule = object('', natRuleFields);

const spec = object('Desired state of the Subnet', {
  acls: list('Access rules of the switch', acl),
  allowEWTraffic: boolean('With acls: let members of the Subnet talk to each other'),
  allowSubnets: strings('Networks that may reach a private Subnet'),
  cidrBlock: string('Its network, or one for each family with a comma'),
  default: boolean('Whether it is the default Subnet of the default Vpc'),
  dhcpV4Options: string('DHCP options as k=v with commas'),
  dhcpV6Options: string('DHCPv6 options as k=v with commas'),
  disableGatewayCheck: boolean('Do not probe the gateway when a pod starts'),
  disableInterConnection: boolean('Do not announce it between clusters'),
  enableDHCP: boolean('Answer DHCP'),
  enableEcmp: boolean('Use all gateway nodes at once'),
  enableExternalLBAddress: boolean('Give addresses to Services of type LoadBalancer'),
  enableIPv6RA: boolean('Send router advertisements'),
  enableLb: boolean('Attach the load balancers of the Vpc'),
  enableMulticastSnoop: boolean('Snoop multicast groups'),
  excludeIps: strings('Addresses, or ranges as a..b, that are never allocated'),
  externalEgressGateway: string('Next hop outside for what leaves the Subnet, or one for each family with a comma'),
  gateway: string('Address of the gateway, or one for each family with a comma'),
  gatewayNode: string('Nodes of a centralized gateway, with commas, each optionally with an egress address after a colon'),
  gatewayNodeSelectors: list('Nodes of a centralized gateway by label', labelSelector('')),
  gatewayType: string('distributed or centralized'),
  ipv6RAConfigs: string('Router advertisement options as k=v with commas'),
  logicalGateway: boolean('Route an underlay Subnet in OVN'),
  mtu: integer('MTU of its ports in bytes', { format: 'int32' }),
  namespaceSelectors: list('Namespaces bound to it by label', labelSelector('')),
  namespaces: strings('Namespaces bound to it'),
  natOutgoing: boolean('Translate what leaves to the address of the node'),
  natOutgoingPolicyRules: list('Exceptions to natOutgoing, first match wins', natOutgoingPolicyRule),
  nodeNetwork: string('Network of the nodes that an underlay Subnet maps to'),
  policyRoutingPriority: integer('Priority of the routing rule for externalEgressGateway', { format: 'int32' }),
  policyRoutingTableID: integer('Routing table for externalEgressGateway', { format: 'int32' }),
  private: boolean('Let in only members and allowSubnets'),
  protocol: string('IPv4, IPv6, Dual, or Mac for an underlay Subnet without addresses; follows from cidrBlock'),
  provider: string('ovn, or the network attachment that it serves'),
  routeTable: string('Routing table of its router port'),
  u2oFeatures: object('Variants of u2oInterconnection', {
    overlayOnlyRouting: boolean('Route only between underlay and overlay, not between underlays'),
  }),
  u2oInterconnection: boolean('Connect an underlay Subnet to the overlay'),
  u2oInterconnectionIP: string('Address of that connection'),
  vips: strings('Addresses that move between ports'),
  vlan: string('Vlan of an underlay Subnet'),
  vpc: string('Vpc that it belongs to'),
});

const status = object('Observed state of the Subnet', {
  activateGateway: string('Node that is the gateway now'),
  conditions,
  dhcpV4OptionsUUID: string('Row of its DHCP options'),
  dhcpV6OptionsUUID: string('Row of its DHCPv6 options'),
  mcastQuerierIP: string('Address of the multicast querier'),
  mcastQuerierMAC: string('MAC of the multicast querier'),
  natOutgoingPolicyRules: list('Rules in effect', object('', { ...natRuleFields, ruleID: string('Name of the rule on nodes') })),
  u2oInterconnectionIP: string('Address that connects it to the overlay'),
  u2oInterconnectionMAC: string('MAC of that address'),
  u2oInterconnectionVPC: string('Vpc that it is connected to'),
  v4availableIPrange: string('Free IPv4 addresses'),
  v4availableIPs: count('Number of free IPv4 addresses'),
  v4usingIPrange: string('IPv4 addresses in use'),
  v4usingIPs: count('Number of IPv4 addresses in use'),
  v6availableIPrange: string('Free IPv6 addresses'),
  v6availableIPs: count('Number of free IPv6 addresses'),
  v6usingIPrange: string('IPv6 addresses in use'),
  v6usingIPs: count('Number of IPv6 addresses in use'),
});

export const subnetKind = defineKind({
  kind: 'Subnet',
  plural: 'subnets',
  singular: 'subnet',
  shortNames: ['subnet'],
  scope: 'Cluster',
  description: 'A range of addresses and the network that uses it',
  columns: [
    column('Provider', '.spec.provider'),
    column('Vpc', '.spec.vpc'),
    column('Vlan', '.spec.vlan'),
    column('Protocol', '.spec.protocol'),
    column('CIDR', '.spec.cidrBlock'),
    column('Private', '.spec.private', 'boolean'),
    column('NAT', '.spec.natOutgoing', 'boolean'),
    column('Default', '.spec.default', 'boolean'),
    column('GatewayType', '.spec.gatewayType'),
    column('V4Used', '.status.v4usingIPs', 'number'),
    column('V4Available', '.status.v4availableIPs', 'number'),
    column('V6Used', '.status.v6usingIPs', 'number'),
    column('V6Available', '.status.v6availableIPs', 'number'),
    column('ExcludeIPs', '.spec.excludeIps'),
    column('U2OInterconnectionIP', '.status.u2oInterconnectionIP'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type Subnet = ObjectOf<typeof subnetKind>;
export type SubnetSpec = TypeOf<typeof spec>;
export type SubnetStatus = TypeOf<typeof status>;
export type SubnetAcl = TypeOf<typeof acl>;
export type NatOutgoingPolicyRule = TypeOf<typeof natOutgoingPolicyRule>;
