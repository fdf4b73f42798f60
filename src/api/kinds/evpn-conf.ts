/** EvpnConf: the EVPN instance that an egress gateway announces into. */

import { defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { integer, object } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { strings } from '../schema/shapes.ts';

const spec = object('Desired state of the instance', {
  routeTargets: strings('Route targets to import and export'),
  vni: integer('VXLAN network identifier', { format: 'int32' }),
});

export const evpnConfKind = defineKind({
  kind: 'EvpnConf',
  plural: 'evpn-confs',
  singular: 'evpn-conf',
  scope: 'Cluster',
  description: 'The EVPN instance that egress gateways announce into',
  spec,
});

export type EvpnConf = ObjectOf<typeof evpnConfKind>;
export type EvpnConfSpec = TypeOf<typeof spec>;
