/** IptablesFIPRule: all traffic of an IptablesEIP to and from one internal address. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { iptablesRuleStatus } from '../schema/shapes.ts';

const spec = object('Desired state of the rule', {
  eip: string('IptablesEIP'),
  internalIp: string('Internal address'),
});

const status = object('Observed state of the rule', {
  ...iptablesRuleStatus,
  internalIp: string('Internal address in use'),
});

export const iptablesFipRuleKind = defineKind({
  kind: 'IptablesFIPRule',
  plural: 'iptables-fip-rules',
  singular: 'iptables-fip-rule',
  shortNames: ['fip'],
  scope: 'Cluster',
  description: 'All traffic of an external address to and from one internal address',
  columns: [
    column('Eip', '.spec.eip'),
    column('V4ip', '.status.v4ip'),
    column('InternalIp', '.spec.internalIp'),
    column('V6ip', '.status.v6ip'),
    column('Ready', '.status.ready', 'boolean'),
    column('NatGwDp', '.status.natGwDp'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type IptablesFIPRule = ObjectOf<typeof iptablesFipRuleKind>;
export type IptablesFIPRuleSpec = TypeOf<typeof spec>;
export type IptablesFIPRuleStatus = TypeOf<typeof status>;
