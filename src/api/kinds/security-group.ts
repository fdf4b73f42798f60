/** SecurityGroup: the traffic that ports with this group may receive and send. */

import { defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, integer, list, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';

const rule = object('', {
  ipVersion: string('ipv4 or ipv6'),
  localAddress: string('Address or network on the side of the group'),
  policy: string('allow, drop, or pass on to what comes after the group'),
  portRangeMax: integer('Last destination port'),
  portRangeMin: integer('First destination port'),
  priority: integer('1 to 16384; a lower value has precedence'),
  protocol: string('all, icmp, tcp or udp'),
  remoteAddress: string('Address or network on the other side'),
  remoteSecurityGroup: string('SecurityGroup on the other side'),
  remoteType: string('address or securityGroup'),
  sourcePortRangeMax: integer('Last source port'),
  sourcePortRangeMin: integer('First source port'),
});

const spec = object('Desired state of the group', {
  allowSameGroupTraffic: boolean('Let members talk to each other'),
  egressRules: list('Rules for egress traffic of members', rule),
  ingressRules: list('Rules for ingress traffic of members', rule),
  tier: integer('0 or 1; 0 has precedence'),
});

const status = object('Observed state of the group', {
  allowSameGroupTraffic: boolean('Whether members may talk to each other'),
  egressLastSyncSuccess: boolean('Whether the egress rules are in effect'),
  egressMd5: string('Hash of the egress rules in effect'),
  ingressLastSyncSuccess: boolean('Whether the ingress rules are in effect'),
  ingressMd5: string('Hash of the ingress rules in effect'),
  portGroup: string('Port group of the members'),
});

export const securityGroupKind = defineKind({
  kind: 'SecurityGroup',
  plural: 'security-groups',
  singular: 'security-group',
  shortNames: ['sg'],
  scope: 'Cluster',
  description: 'Rules for the ingress and egress traffic of the ports that name it',
  subresources: { status: {} },
  spec,
  status,
});

export type SecurityGroup = ObjectOf<typeof securityGroupKind>;
export type SecurityGroupSpec = TypeOf<typeof spec>;
export type SecurityGroupStatus = TypeOf<typeof status>;
export type SecurityGroupRule = TypeOf<typeof rule>;
