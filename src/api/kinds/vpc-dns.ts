/** VpcDns: a DNS server inside a custom Vpc. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, integer, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions } from '../schema/shapes.ts';

const spec = object('Desired state of the server', {
  corefile: string('ConfigMap with its configuration', { default: 'vpc-dns-corefile' }),
  replicas: integer('Number of pods', { format: 'int32' }),
  subnet: string('Subnet of its pods'),
  vpc: string('Vpc that it serves'),
});

const status = object('Observed state of the server', {
  active: boolean('Whether it is the one that serves the Vpc'),
  conditions,
});

export const vpcDnsKind = defineKind({
  kind: 'VpcDns',
  plural: 'vpc-dnses',
  singular: 'vpc-dns',
  shortNames: ['vpc-dns'],
  scope: 'Cluster',
  description: 'A DNS server inside a custom Vpc',
  columns: [
    column('Active', '.status.active', 'boolean'),
    column('Vpc', '.spec.vpc'),
    column('Subnet', '.spec.subnet'),
    column('Corefile', '.spec.corefile'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type VpcDns = ObjectOf<typeof vpcDnsKind>;
export type VpcDnsSpec = TypeOf<typeof spec>;
export type VpcDnsStatus = TypeOf<typeof status>;
