/** IptablesEIP: an external address on a VpcNatGateway. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions } from '../schema/shapes.ts';

const spec = object('Desired state of the address', {
  externalSubnet: string('Subnet that it is from'),
  macAddress: string('Its MAC'),
  namespace: string('Namespace of the gateway workload'),
  natGwDp: string('VpcNatGateway that has it'),
  qosPolicy: string('QoSPolicy that limits it'),
  v4ip: string('Requested IPv4 address; empty for any'),
  v6ip: string('Requested IPv6 address'),
});

const status = object('Observed state of the address', {
  conditions,
  ip: string('Address in use'),
  nat: string('Kinds of rules that use it, with commas'),
  qosPolicy: string('QoSPolicy in effect'),
  ready: boolean('Whether the address is configured on the gateway'),
  redo: string('When it was last applied'),
});

export const iptablesEipKind = defineKind({
  kind: 'IptablesEIP',
  plural: 'iptables-eips',
  singular: 'iptables-eip',
  shortNames: ['eip'],
  scope: 'Cluster',
  description: 'An external address on a VpcNatGateway',
  columns: [
    column('Namespace', '.spec.namespace'),
    column('ExternalSubnet', '.spec.externalSubnet'),
    column('IP', '.status.ip'),
    column('Mac', '.spec.macAddress'),
    column('Nat', '.status.nat'),
    column('NatGwDp', '.spec.natGwDp'),
    column('Ready', '.status.ready', 'boolean'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type IptablesEIP = ObjectOf<typeof iptablesEipKind>;
export type IptablesEIPSpec = TypeOf<typeof spec>;
export type IptablesEIPStatus = TypeOf<typeof status>;
