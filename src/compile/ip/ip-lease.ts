/**
 * The lease of an IP object: a pod or a node uses its address; a user's reservation and a StatefulSet only keep one.
 */
import type { IP } from '../../api/ip.ts';
import type { Condition } from '../../api/meta.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
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
    conditions: conditionsOf(annotations[kilnAnnotation.conditions]),
    address: ip.spec.ipAddress ?? '',
    used: holder.kind !== 'reservation' && holder.kind !== 'statefulset',
  });
}

function conditionsOf(text: string | undefined): readonly Partial<Condition>[] {
  if (text === undefined) return [];
  try {
    const conditions: unknown = JSON.parse(text);
    return Array.isArray(conditions) ? (conditions as readonly Partial<Condition>[]) : [];
  } catch {
    // Somebody wrote nonsense into the annotation; it is written again, and the lease begins anew.
    return [];
  }
}
