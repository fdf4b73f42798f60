/** OvnFip: all traffic of an OvnEip to and from one internal address (NAT `dnat_and_snat`). */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions } from '../schema/shapes.ts';

const spec = object('Desired state of the rule', {
  ipName: string('IP or Vip that has the internal address'),
  ipType: string('vip when ipName is a Vip; else it is an IP'),
  ovnEip: string('OvnEip'),
  type: string('distributed or centralized: where it is translated'),
  v4Ip: string('Internal IPv4 address, instead of ipName'),
  v6Ip: string('Internal IPv6 address, instead of ipName'),
  vpc: string('Vpc of an internal address that is set without ipName'),
});

const status = object('Observed state of the rule', {
  conditions,
  macAddress: string('MAC of the internal port'),
  ready: boolean('Whether it is in effect'),
  v4Eip: string('External IPv4 address'),
  v4Ip: string('Internal IPv4 address'),
  v6Eip: string('External IPv6 address'),
  v6Ip: string('Internal IPv6 address'),
  vpc: string('Vpc whose router translates'),
});

export const ovnFipKind = defineKind({
  kind: 'OvnFip',
  plural: 'ovn-fips',
  singular: 'ovn-fip',
  shortNames: ['ofip'],
  scope: 'Cluster',
  description: 'All traffic of an OvnEip to and from one internal address',
  columns: [
    column('Vpc', '.status.vpc'),
    column('Type', '.spec.type'),
    column('V4Eip', '.status.v4Eip'),
    column('V6Eip', '.status.v6Eip'),
    column('V4Ip', '.status.v4Ip'),
    column('V6Ip', '.status.v6Ip'),
    column('Ready', '.status.ready', 'boolean'),
    column('IpType', '.spec.ipType'),
    column('IpName', '.spec.ipName'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type OvnFip = ObjectOf<typeof ovnFipKind>;
export type OvnFipSpec = TypeOf<typeof spec>;
export type OvnFipStatus = TypeOf<typeof status>;
