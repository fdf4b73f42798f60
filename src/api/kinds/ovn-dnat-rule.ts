/** OvnDnatRule: one port of an OvnEip to one internal address and port (a Load_Balancer of the rule's name). */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions } from '../schema/shapes.ts';

const spec = object('Desired state of the rule', {
  externalPort: string('Port outside'),
  internalPort: string('Port inside'),
  ipName: string('IP or Vip that has the internal address'),
  ipType: string('vip when ipName is a Vip; else it is an IP'),
  ovnEip: string('OvnEip'),
  protocol: string('tcp or udp'),
  v4Ip: string('Internal IPv4 address, instead of ipName'),
  v6Ip: string('Internal IPv6 address, instead of ipName'),
  vpc: string('Vpc of an internal address that is set without ipName'),
});

const status = object('Observed state of the rule', {
  conditions,
  externalPort: string('Port outside in use'),
  internalPort: string('Port inside in use'),
  ipName: string('IP or Vip in use'),
  protocol: string('Protocol in use'),
  ready: boolean('Whether it is in effect'),
  v4Eip: string('External IPv4 address'),
  v4Ip: string('Internal IPv4 address'),
  v6Eip: string('External IPv6 address'),
  v6Ip: string('Internal IPv6 address'),
  vpc: string('Vpc whose router translates'),
});

export const ovnDnatRuleKind = defineKind({
  kind: 'OvnDnatRule',
  plural: 'ovn-dnat-rules',
  singular: 'ovn-dnat-rule',
  shortNames: ['odnat'],
  scope: 'Cluster',
  description: 'One port of an OvnEip to one internal address and port',
  columns: [
    column('Vpc', '.status.vpc'),
    column('Eip', '.spec.ovnEip'),
    column('Protocol', '.status.protocol'),
    column('V4Eip', '.status.v4Eip'),
    column('V6Eip', '.status.v6Eip'),
    column('V4Ip', '.status.v4Ip'),
    column('V6Ip', '.status.v6Ip'),
    column('InternalPort', '.status.internalPort'),
    column('ExternalPort', '.status.externalPort'),
    column('IpName', '.spec.ipName'),
    column('Ready', '.status.ready', 'boolean'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type OvnDnatRule = ObjectOf<typeof ovnDnatRuleKind>;
export type OvnDnatRuleSpec = TypeOf<typeof spec>;
export type OvnDnatRuleStatus = TypeOf<typeof status>;
