/** QoSPolicy: bandwidth limits for a VpcNatGateway or one of its addresses. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, integer, list, object, required, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions } from '../schema/shapes.ts';

const bandwidthLimitRule = object('', {
  burstMax: string('Burst in megabytes'),
  direction: string('ingress or egress'),
  interface: string('Interface of the gateway'),
  matchType: string('ip, or empty for all traffic'),
  matchValue: string('Direction and network, such as dst 192.0.2.0/24'),
  name: required(string('Name of the rule')),
  priority: integer('A lower value has precedence'),
  rateMax: string('Rate in megabits a second'),
});

const fields = {
  bandwidthLimitRules: list('Limits', bandwidthLimitRule),
  bindingType: string('EIP or NATGW: what may use it'),
  shared: boolean('Whether several may use it'),
} as const;

const spec = object('Desired state of the policy', fields);
const status = object('Observed state of the policy', { ...fields, conditions });

export const qosPolicyKind = defineKind({
  kind: 'QoSPolicy',
  plural: 'qos-policies',
  singular: 'qos-policy',
  shortNames: ['qos'],
  scope: 'Cluster',
  description: 'Bandwidth limits of a VpcNatGateway or of one of its addresses',
  columns: [column('Shared', '.spec.shared'), column('BindingType', '.spec.bindingType')],
  subresources: { status: {} },
  spec,
  status,
});

export type QoSPolicy = ObjectOf<typeof qosPolicyKind>;
export type QoSPolicySpec = TypeOf<typeof spec>;
export type QoSPolicyStatus = TypeOf<typeof status>;
export type BandwidthLimitRule = TypeOf<typeof bandwidthLimitRule>;
