/** IptablesDnatRule: one port of an IptablesEIP to one internal address and port. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { iptablesRuleStatus } from '../schema/shapes.ts';

const spec = object('Desired state of the rule', {
  eip: string('IptablesEIP'),
  externalPort: string('Port outside'),
  internalIp: string('Internal address'),
  internalPort: string('Port inside'),
  protocol: string('tcp or udp'),
  type: string('Whether the port is for this rule alone or shared among rules', {
    enum: ['exclusive', 'share'],
    default: 'exclusive',
  }),
});

const status = object('Observed state of the rule', {
  ...iptablesRuleStatus,
  externalPort: string('Port outside in use'),
  internalIp: string('Internal address in use'),
  internalPort: string('Port inside in use'),
  protocol: string('Protocol in use'),
});

export const iptablesDnatRuleKind = defineKind({
  kind: 'IptablesDnatRule',
  plural: 'iptables-dnat-rules',
  singular: 'iptables-dnat-rule',
  shortNames: ['dnat'],
  scope: 'Cluster',
  description: 'One port of an external address to one internal address and port',
  columns: [
    column('Eip', '.spec.eip'),
    column('Protocol', '.spec.protocol'),
    column('V4ip', '.status.v4ip'),
    column('V6ip', '.status.v6ip'),
    column('InternalIp', '.spec.internalIp'),
    column('ExternalPort', '.spec.externalPort'),
    column('InternalPort', '.spec.internalPort'),
    column('Type', '.spec.type'),
    column('NatGwDp', '.status.natGwDp'),
    column('Ready', '.status.ready', 'boolean'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type IptablesDnatRule = ObjectOf<typeof iptablesDnatRuleKind>;
export type IptablesDnatRuleSpec = TypeOf<typeof spec>;
export type IptablesDnatRuleStatus = TypeOf<typeof status>;
