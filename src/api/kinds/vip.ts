/** Vip: an address of a Subnet that does not belong to a single pod. It has a status but no status subresource. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions, strings } from '../schema/shapes.ts';

const spec = object('Desired state of the address', {
  attachSubnets: strings('No longer used'),
  macAddress: string('Its MAC; empty for any'),
  namespace: string('Namespace of the pods that may take it'),
  selector: strings('Labels of these pods as key:value'),
  subnet: string('Subnet that it is from'),
  type: string('switch_lb_vip, kube_host_vm_vip, or empty for an address that moves between ports'),
  v4ip: string('Requested IPv4 address; empty for any'),
  v6ip: string('Requested IPv6 address; empty for any'),
});

const status = object('Observed state of the address', {
  conditions,
  mac: string('MAC in use'),
  selector: strings('Labels in effect'),
  type: string('Type in effect'),
  v4ip: string('IPv4 address in use'),
  v6ip: string('IPv6 address in use'),
});

export const vipKind = defineKind({
  kind: 'Vip',
  plural: 'vips',
  singular: 'vip',
  shortNames: ['vip'],
  scope: 'Cluster',
  description: 'An address of a Subnet that no single pod owns',
  columns: [
    column('Namespace', '.spec.namespace'),
    column('V4IP', '.status.v4ip'),
    column('V6IP', '.status.v6ip'),
    column('Mac', '.status.mac'),
    column('Subnet', '.spec.subnet'),
    column('Type', '.status.type'),
  ],
  subresources: {},
  spec,
  status,
});

export type Vip = ObjectOf<typeof vipKind>;
export type VipSpec = TypeOf<typeof spec>;
export type VipStatus = TypeOf<typeof status>;
