/** IptablesSnatRule: traffic of an internal network leaves with an IptablesEIP as its source address. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { iptablesRuleStatus } from '../schema/shapes.ts';

const spec = object('Desired state of the rule', {
  eip: string('IptablesEIP'),
  internalCIDR: string('Internal network'),
});

const status = object('Observed state of the rule', {
  ...iptablesRuleStatus,
  internalCIDR: string('Internal network in use'),
});

export const iptablesSnatRuleKind = defineKind({
  kind: 'IptablesSnatRule',
  plural: 'iptables-snat-rules',
  singular: 'iptables-snat-rule',
  shortNames: ['snat'],
  scope: 'Cluster',
  description: 'An external address for what an internal network sends',
  columns: [
    column('EIP', '.spec.eip'),
    column('V4ip', '.status.v4ip'),
    column('V6ip', '.status.v6ip'),
    column('InternalCIDR', '.spec.internalCIDR'),
    column('NatGwDp', '.status.natGwDp'),
    column('Ready', '.status.ready', 'boolean'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type IptablesSnatRule = ObjectOf<typeof iptablesSnatRuleKind>;
export type IptablesSnatRuleSpec = TypeOf<typeof spec>;
export type IptablesSnatRuleStatus = TypeOf<typeof status>;
