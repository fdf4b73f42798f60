/**
 * The IP object of an interface: the durable word on who has an address. It is made when the address is reserved, before any row.
 */
import { kilnAnnotation } from '../api/well-known.ts';
import type { World } from '../world/world.ts';
import type { IpIdentity } from './ip-object.ts';
import { addressesOf, createIp, keepIp } from './ip-object.ts';
import type { Output } from './output.ts';
import type { Binding } from './pod-binding.ts';
import type { PodInterface } from './pod-interface.ts';
import { bearerOf } from './pod-view.ts';

export function ipOutputs(world: World, { nic, ip, reservation }: Binding): readonly Output[] {
  const addresses = addressesOf(reservation);
  if (addresses === undefined) return [];
  if (ip !== undefined) return [keepIp(ip, identityOf(nic), addresses)];
  return world.ips.has(nic.port) ? [] : [createIp(identityOf(nic), addresses)];
}

function identityOf({ pod, port }: PodInterface): IpIdentity {
  const { statefulSet, machine } = pod;
  const owner = machine?.uid ?? statefulSet?.statefulSetUid;
  return {
    name: port,
    podName: bearerOf(pod),
    namespace: pod.namespace,
    podType: machine !== undefined ? 'VirtualMachine' : statefulSet === undefined ? '' : 'StatefulSet',
    node: pod.node,
    annotations: {
      [kilnAnnotation.podUid]: pod.uid,
      ...(owner !== undefined && { [kilnAnnotation.ownerUid]: owner }),
    },
  };
}
