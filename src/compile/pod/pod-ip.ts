/**
 * The IP object of an interface: the durable record of its address. It is created after the reservation and before any row.
 */
import { kilnAnnotation } from '../../api/well-known.ts';
import type { World } from '../../world/world.ts';
import { vipView } from '../vip-eip/vip-view.ts';
import type { Addresses, IpIdentity } from '../ip/ip-object.ts';
import { addressesOf, createIp, keepIp } from '../ip/ip-object.ts';
import { ipRejection } from '../ip/ip-rejection.ts';
import { FROM_NAMESPACE } from './address/misbound.ts';
import type { Output } from '../output.ts';
import type { Binding } from './address/pod-binding.ts';
import type { PodInterface } from './interface/pod-interface.ts';
import { isAllocated, leavesSubnetOpen } from './interface/pod-interface.ts';
import { podOrMachineName } from './view/pod-view.ts';
import { vipNamed } from './address/pod-vip.ts';

export function ipOutputs(world: World, binding: Binding): readonly Output[] {
  const { nic, ip, durable, port, reservation } = binding;
  // If the Subnet was removed by force, or recreated with another network, nothing can be reserved: a running pod keeps its address, and
  // its IP object records it, also after an edit or a removal.
  const stays = reservation?.kind === 'failed' && (ip !== undefined || port !== undefined);
  const addresses = addressesOf(reservation) ?? (stays ? durable?.addresses : undefined);
  if (addresses === undefined) return [];
  const identity = identityOf(world, nic, addresses);
  const from = subnetFrom(nic);
  if (ip !== undefined) {
    const kept = keepIp(ip, identity, addresses);
    // One of an earlier pod of the name may have another network there.
    const wasOther = nic.replacesOwn !== true && ip.metadata.annotations?.[kilnAnnotation.replacesOwn] !== undefined;
    return [
      {
        ...kept,
        annotations: {
          ...kept.annotations,
          ...(from !== undefined && { [kilnAnnotation.subnetFrom]: from }),
          ...(wasOther && { [kilnAnnotation.replacesOwn]: null }),
        },
      },
    ];
  }
  // An IP object of an earlier pod of this name is being deleted.
  if (world.ips.has(nic.port)) return [];
  const marked = from === FROM_NAMESPACE ? { ...identity.annotations, [kilnAnnotation.subnetFrom]: from } : identity.annotations;
  return [createIp({ ...identity, annotations: marked }, addresses), ...rejectedInUse(world, binding)];
}

/** The IP object of a running pod was removed by force and cannot be created again: the pod keeps its address. */
function rejectedInUse(world: World, { nic, ownRow }: Binding): readonly Output[] {
  if (!ownRow && !isAllocated(nic)) return [];
  const { key, uid } = nic.pod;
  const rejection = ipRejection(world, nic.port, uid, `Pod ${key}`, true);
  if (rejection === undefined) return [];
  return [{ kind: 'report', resource: 'pods', key, uid, type: 'Warning', reason: 'IPRefused', message: rejection.message }];
}

/** What decided the Subnet, as long as the pod's annotations are the user's; undefined (no change) once they are Kiln's. */
function subnetFrom(nic: PodInterface): string | null | undefined {
  if (isAllocated(nic)) return undefined;
  return leavesSubnetOpen(nic) ? FROM_NAMESPACE : null;
}

function identityOf(world: World, nic: PodInterface, { subnet, v4, v6 }: Addresses): IpIdentity {
  const { pod, port } = nic;
  const name = vipNamed(world, nic);
  const vip = name === undefined ? undefined : world.ask(vipView, name);
  const isOfVip = vip?.subnet === subnet && vip.addresses?.v4 === v4 && vip.addresses.v6 === v6;
  const { statefulSet, machine } = pod;
  const owner = machine?.uid ?? statefulSet?.statefulSetUid;
  return {
    name: port,
    podName: podOrMachineName(pod),
    namespace: pod.namespace,
    podType: machine !== undefined ? 'VirtualMachine' : statefulSet === undefined ? '' : 'StatefulSet',
    node: pod.node,
    annotations: {
      [kilnAnnotation.podUid]: pod.uid,
      ...(owner !== undefined && { [kilnAnnotation.ownerUid]: owner }),
      ...(isOfVip && { [kilnAnnotation.vip]: vip.name }),
      ...(nic.replacesOwn && { [kilnAnnotation.replacesOwn]: 'true' }),
    },
  };
}
