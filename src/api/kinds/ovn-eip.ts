/** OvnEip: an address on an external network, for NAT in OVN, for a router port or for a node's gateway port. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions } from '../schema/shapes.ts';

const spec = object('Desired state of the address', {
  externalSubnet: string('Subnet that it is from; empty for the default external one'),
  macAddress: string('Its MAC; empty for any'),
  type: string('nat, lrp (a router port) or lsp (a gateway node); empty means nat'),
  v4Ip: string('Requested IPv4 address; empty for any'),
  v6Ip: string('Requested IPv6 address; empty for any'),
});

const status = object('Observed state of the address', {
  conditions,
  macAddress: string('MAC in use'),
  nat: string('Kinds of rules that use it, with commas'),
  ready: boolean('Whether it can be used'),
  type: string('Type in effect'),
  v4Ip: string('IPv4 address in use'),
  v6Ip: string('IPv6 address in use'),
});

export const ovnEipKind = defineKind({
  kind: 'OvnEip',
  plural: 'ovn-eips',
  singular: 'ovn-eip',
  shortNames: ['oeip'],
  scope: 'Cluster',
  description: 'An address on an external network',
  columns: [
    column('V4IP', '.status.v4Ip'),
    column('V6IP', '.status.v6Ip'),
    column('Mac', '.status.macAddress'),
    column('Type', '.status.type'),
    column('Nat', '.status.nat'),
    column('Ready', '.status.ready', 'boolean'),
    column('ExternalSubnet', '.spec.externalSubnet'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type OvnEip = ObjectOf<typeof ovnEipKind>;
export type OvnEipSpec = TypeOf<typeof spec>;
export type OvnEipStatus = TypeOf<typeof status>;
