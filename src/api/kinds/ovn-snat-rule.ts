/** OvnSnatRule: traffic of an internal network or address leaves with an OvnEip as its source address (NAT `snat`). */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions } from '../schema/shapes.ts';

const spec = object('Desired state of the rule', {
  ipName: string('IP whose address to translate'),
  ovnEip: string('OvnEip'),
  v4IpCidr: string('IPv4 address or network to translate; takes precedence over vpcSubnet and ipName'),
  v6IpCidr: string('IPv6 address or network to translate'),
  vpc: string('Vpc of v4IpCidr or v6IpCidr, where vpcSubnet is empty'),
  vpcSubnet: string('Subnet whose network to translate'),
});

const status = object('Observed state of the rule', {
  conditions,
  ready: boolean('Whether it is in effect'),
  v4Eip: string('External IPv4 address'),
  v4IpCidr: string('Internal IPv4 address or network'),
  v6Eip: string('External IPv6 address'),
  v6IpCidr: string('Internal IPv6 address or network'),
  vpc: string('Vpc whose router translates'),
});

export const ovnSnatRuleKind = defineKind({
  kind: 'OvnSnatRule',
  plural: 'ovn-snat-rules',
  singular: 'ovn-snat-rule',
  shortNames: ['osnat'],
  scope: 'Cluster',
  description: 'An OvnEip for what an internal network or address sends',
  columns: [
    column('Vpc', '.status.vpc'),
    column('V4Eip', '.status.v4Eip'),
    column('V6Eip', '.status.v6Eip'),
    column('V4IpCidr', '.status.v4IpCidr'),
    column('V6IpCidr', '.status.v6IpCidr'),
    column('Ready', '.status.ready', 'boolean'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type OvnSnatRule = ObjectOf<typeof ovnSnatRuleKind>;
export type OvnSnatRuleSpec = TypeOf<typeof spec>;
export type OvnSnatRuleStatus = TypeOf<typeof status>;
