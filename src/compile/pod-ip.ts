/**
 * The IP object of an interface: the durable word on who has an address. It is made when the address is reserved, before any row.
 */
import { kilnAnnotation } from '../api/well-known.ts';
import { keysOf } from '../world/domain.ts';
import type { World } from '../world/world.ts';
import type { Rule } from './compiler.ts';
import type { Addresses, IpIdentity } from './ip-object.ts';
import { addressesOf, addressesOfIp, createIp, keepIp, sameAddresses } from './ip-object.ts';
import type { Output } from './output.ts';
import { reservationOf } from './pod-address.ts';
import type { PodInterface } from './pod-interface.ts';
import { interfacesOf, ipOf } from './pod-interface.ts';
import { hasPodNetwork } from './pod-life.ts';
import { keepsIp } from './pod-subnet.ts';
import { podView } from './pod-view.ts';

export const podIp: Rule = {
  name: 'pod-ip',
  over: (world) => keysOf(world.pods, hasPodNetwork),
  run: (world, key) => {
    const pod = world.ask(podView, key);
    return pod === undefined || !pod.alive ? [] : interfacesOf(pod).flatMap((nic) => ipOutputs(world, nic));
  },
};

function ipOutputs(world: World, nic: PodInterface): readonly Output[] {
  const addresses = addressesOf(reservationOf(world, nic));
  if (addresses === undefined) return [];
  if (!world.ips.has(nic.port)) return [createIp(identityOf(nic), addresses)];
  const ip = ipOf(world, nic);
  if (ip === undefined || !keepsIp(world, nic, ip)) return [];
  return [keepIp(ip, identityOf(nic), addresses)];
}

function identityOf({ pod, port }: PodInterface): IpIdentity {
  const { statefulSet } = pod;
  return {
    name: port,
    podName: pod.name,
    namespace: pod.namespace,
    podType: statefulSet === undefined ? '' : 'StatefulSet',
    node: pod.node,
    annotations: { [kilnAnnotation.podUid]: pod.uid, ...(statefulSet !== undefined && { [kilnAnnotation.ownerUid]: statefulSet.statefulSetUid }) },
  };
}

/**
 * The addresses an interface has, durable: reserved and said by its IP object; or, when the reservation is refused because
 * somebody else names the same address, what its IP object says. Undefined before there is one.
 */
export function durableAddresses(world: World, nic: PodInterface): Addresses | undefined {
  const ip = ipOf(world, nic);
  if (ip === undefined || !keepsIp(world, nic, ip)) return undefined;
  const said = addressesOfIp(ip);
  const reservation = reservationOf(world, nic);
  if (reservation?.kind === 'refused') return said;
  return sameAddresses(said, addressesOf(reservation)) ? said : undefined;
}
