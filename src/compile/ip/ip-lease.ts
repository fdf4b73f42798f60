/**
 * The lease of an IP object. It runs while no pod or node uses the address: while only a user or a StatefulSet reserves it.
 */
import type { IP } from '../../api/kinds/ip.ts';
import { conditionsOf } from '../../world/conditions.ts';
import type { World } from '../../world/world.ts';
import type { Lease } from '../lease.ts';
import { leaseOf } from '../lease.ts';
import type { IpHolder } from './ip-holder.ts';

export function leaseOfIp(world: World, ip: IP, holder: IpHolder): Lease {
  const { name, uid, annotations = {} } = ip.metadata;
  return leaseOf(world, {
    resource: 'ips',
    name,
    uid,
    annotations,
    conditions: conditionsOf('ips', ip),
    address: ip.spec.ipAddress ?? '',
    used: holder.kind !== 'reservation' && holder.kind !== 'statefulset',
  });
}
