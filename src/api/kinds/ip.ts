/** IP: one interface's addresses, named like its OVN port. It has neither status nor status subresource. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { strings } from '../schema/shapes.ts';

const spec = object('The addresses of an interface', {
  attachIps: strings('No longer used'),
  attachMacs: strings('No longer used'),
  attachSubnets: strings('Further Subnets that count it'),
  containerID: string('No longer used'),
  ipAddress: string('Its address, or one for each family with a comma'),
  macAddress: string('Its MAC'),
  namespace: string('Namespace of the pod'),
  nodeName: string('Node of the pod'),
  podName: string('Pod, virtual machine or node that has it'),
  podType: string('Empty, StatefulSet or VirtualMachine: the kind that retains the address while no pod runs'),
  subnet: string('Subnet that it is from'),
  v4IpAddress: string('IPv4 address'),
  v6IpAddress: string('IPv6 address'),
});

export const ipKind = defineKind({
  kind: 'IP',
  plural: 'ips',
  singular: 'ip',
  shortNames: ['ip'],
  scope: 'Cluster',
  description: 'Addresses of one interface',
  columns: [
    column('V4IP', '.spec.v4IpAddress'),
    column('V6IP', '.spec.v6IpAddress'),
    column('Mac', '.spec.macAddress'),
    column('Node', '.spec.nodeName'),
    column('Subnet', '.spec.subnet'),
  ],
  subresources: {},
  spec,
});

export type IP = ObjectOf<typeof ipKind>;
export type IPSpec = TypeOf<typeof spec>;
