/** BgpConf: the BGP session of an egress gateway's speaker with its neighbours. */

import { defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, integer, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { strings } from '../schema/shapes.ts';

const spec = object('Desired state of the configuration', {
  connectTime: string('Time between attempts to connect, as a duration'),
  ebgpMultiHop: boolean('Whether neighbours may be more than one hop away'),
  gracefulRestart: boolean('Keep routes while a speaker restarts'),
  holdTime: string('Time without a message until a neighbour counts as down'),
  keepaliveTime: string('Time between keepalive messages'),
  localASN: integer('Own autonomous system', { format: 'int32' }),
  neighbours: strings('Addresses of the neighbours'),
  password: string('Password of the sessions'),
  peerASN: integer('Autonomous system of the neighbours', { format: 'int32' }),
  routerId: string('Router id'),
});

export const bgpConfKind = defineKind({
  kind: 'BgpConf',
  plural: 'bgp-confs',
  singular: 'bgp-conf',
  scope: 'Cluster',
  description: 'BGP settings of egress gateways',
  spec,
});

export type BgpConf = ObjectOf<typeof bgpConfKind>;
export type BgpConfSpec = TypeOf<typeof spec>;
