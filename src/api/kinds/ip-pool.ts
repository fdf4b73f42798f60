/** IPPool: addresses of a Subnet that are reserved for pods and namespaces that name the pool. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, count, object, required, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions, strings } from '../schema/shapes.ts';

const spec = object('Desired state of the pool', {
  enableAddressSet: boolean('Keep an OVN address set of the same addresses', { default: false }),
  ips: required(strings('Addresses, ranges as a..b, or networks')),
  namespaces: strings('Namespaces whose pods use the pool'),
  subnet: required(string('Subnet that the addresses are from')),
});

const status = object('Observed state of the pool', {
  conditions,
  v4AvailableIPRange: string('Free IPv4 addresses'),
  v4AvailableIPs: count('Number of free IPv4 addresses'),
  v4UsingIPRange: string('IPv4 addresses in use'),
  v4UsingIPs: count('Number of IPv4 addresses in use'),
  v6AvailableIPRange: string('Free IPv6 addresses'),
  v6AvailableIPs: count('Number of free IPv6 addresses'),
  v6UsingIPRange: string('IPv6 addresses in use'),
  v6UsingIPs: count('Number of IPv6 addresses in use'),
});

export const ipPoolKind = defineKind({
  kind: 'IPPool',
  plural: 'ippools',
  singular: 'ippool',
  shortNames: ['ippool'],
  scope: 'Cluster',
  description: 'Addresses of a Subnet for pods that name the pool',
  columns: [
    column('Subnet', '.spec.subnet'),
    column('enableAddressSet', '.spec.enableAddressSet', 'boolean'),
    column('IPs', '.spec.ips'),
    column('V4Used', '.status.v4UsingIPs', 'number'),
    column('V4Available', '.status.v4AvailableIPs', 'number'),
    column('V6Used', '.status.v6UsingIPs', 'number'),
    column('V6Available', '.status.v6AvailableIPs', 'number'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type IPPool = ObjectOf<typeof ipPoolKind>;
export type IPPoolSpec = TypeOf<typeof spec>;
export type IPPoolStatus = TypeOf<typeof status>;
