/** Vlan: a VLAN of a ProviderNetwork. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, integer, object, required, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions, strings } from '../schema/shapes.ts';

const spec = object('Desired state of the Vlan', {
  id: integer('Tag; 0 is untagged', { minimum: 0, maximum: 4095 }),
  provider: required(string('ProviderNetwork')),
  providerInterfaceName: string('Old name of provider'),
  vlanId: integer('Old name of id', { minimum: 0, maximum: 4095 }),
});

const status = object('Observed state of the Vlan', {
  conditions,
  conflict: boolean('Whether another Vlan has the same tag in the same network'),
  subnets: strings('Subnets in it'),
});

export const vlanKind = defineKind({
  kind: 'Vlan',
  plural: 'vlans',
  singular: 'vlan',
  shortNames: ['vlan'],
  scope: 'Cluster',
  description: 'A VLAN of a physical network',
  columns: [column('ID', '.spec.id'), column('Provider', '.spec.provider'), column('conflict', '.status.conflict', 'boolean')],
  subresources: { status: {} },
  spec,
  status,
});

export type Vlan = ObjectOf<typeof vlanKind>;
export type VlanSpec = TypeOf<typeof spec>;
export type VlanStatus = TypeOf<typeof status>;
