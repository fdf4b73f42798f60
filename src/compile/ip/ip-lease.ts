/**
 * The lease of an IP object. It runs while no pod or node uses the address: while only a user or a StatefulSet reserves it.
 */
import type { IP } from '../../api/kinds/ip.ts';
import { conditionsOf } from '../../world/conditions.ts';
import type { World } from '../../world/world.ts';
import type { AddressLease } from '../address-lease.ts';
import { addressLease } from '../address-lease.ts';
import type { IpHolder } from './ip-holder.ts';

export function ipLease(world: World, ip: IP, holder: IpHolder): AddressLease {
  const { name, uid, annotations = {} } = ip.metadata;
  return addressLease(world, {
    resource: 'ips',
    name,
    uid,
    annotations,
    conditions: conditionsOf('ips', ip),
    address: ip.spec.ipAddress ?? '',
    used: holder.kind !== 'reservation' && holder.kind !== 'statefulset',
  });
}
