/**
 * What a pod is told of its interfaces, and node agents read: its addresses when the port is observed with them, `routed` when it is also
 * in its port groups. Derived from the observed row, so that it never comes before the row. And the condition of a pod that waits.
 */
import { podAnnotation, POD_CONDITION } from '../api/well-known.ts';
import { keysOf } from '../world/domain.ts';
import type { World } from '../world/world.ts';
import type { Rule } from './compiler.ts';
import type { Addresses } from './ip-object.ts';
import { ipText } from './ip-object.ts';
import { nodeExists } from './node-view.ts';
import type { Output, PatchOutput } from './output.ts';
import { demandOf, reservationOf } from './pod-address.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf, claimantOf, interfacesOf, portId } from './pod-interface.ts';
import { hasPodNetwork } from './pod-life.ts';
import { portGroupsOf, portOf, stationText } from './pod-port.ts';
import type { PodView } from './pod-view.ts';
import { podOwner, podView } from './pod-view.ts';
import type { SubnetView } from './subnet-view.ts';
import { isOurs } from './vpc-view.ts';

export const podAnnotations: Rule = {
  name: 'pod-annotations',
  over: (world) => keysOf(world.pods, hasPodNetwork),
  run: (world, key) => {
    const pod = world.ask(podView, key);
    if (pod === undefined || !pod.alive) return [];
    const nics = interfacesOf(pod);
    return [...nics.flatMap((nic) => interfaceOutputs(world, nic)), ...conditionOutputs(world, pod, nics)];
  },
};

function interfaceOutputs(world: World, nic: PodInterface): readonly Output[] {
  const port = portOf(world, nic);
  if (port?.subnet === undefined || !carries(world, nic, port.addresses)) return [];
  const { addresses, subnet } = port;
  const message = `provider=${nic.provider} subnet=${addresses.subnet} ip=${ipText(addresses)} mac=${addresses.mac} logicalSwitchPort=${nic.port}`;
  const allocated: PatchOutput = { ...patchOf(nic.pod), annotations: allocatedAnnotations(world, nic, addresses, subnet), event: { type: 'Normal', reason: 'PodNetworkAllocated', message } };
  if (!isRouted(world, nic, addresses)) return [allocated];
  return [allocated, { ...patchOf(nic.pod), annotations: { [podAnnotation(nic.provider, 'routed')]: 'true' } }];
}

/** Whether the port is observed, as this pod's, with these addresses. */
function carries(world: World, nic: PodInterface, addresses: Addresses): boolean {
  const id = portId(nic.port);
  if (!isOurs(world, id, podOwner(nic.pod))) return false;
  const stations = world.rows.column(id, 'addresses');
  return stations instanceof Set && stations.has(stationText(addresses));
}

function isRouted(world: World, nic: PodInterface, addresses: Addresses): boolean {
  if (nic.pod.node === '' || !world.ask(nodeExists, nic.pod.node)) return false;
  return portGroupsOf(world, nic, addresses).every((group) => world.rows.holds(group, 'ports', portId(nic.port)));
}

/** Kube-OVN's keys, in its order. */
function allocatedAnnotations(world: World, nic: PodInterface, addresses: Addresses, subnet: SubnetView): Readonly<Record<string, string>> {
  const key = (suffix: Parameters<typeof podAnnotation>[1]): string => podAnnotation(nic.provider, suffix);
  return {
    [key('ip_address')]: ipText(addresses),
    [key('mac_address')]: addresses.mac,
    [key('cidr')]: subnet.cidr,
    [key('gateway')]: subnet.gateway,
    [key('logical_switch')]: addresses.subnet,
    ...(annotationOf(nic, 'pod_nic_type') === '' && { [key('pod_nic_type')]: world.settings.podNicType }),
    [key('allocated')]: 'true',
    ...(subnet.routed && { [key('logical_router')]: subnet.vpc }),
  };
}

/** Only a pod that waits has the condition; it turns true where it is there. */
function conditionOutputs(world: World, pod: PodView, nics: readonly PodInterface[]): readonly Output[] {
  for (const nic of nics) {
    const obstacle = obstacleOf(world, nic);
    if (obstacle === undefined) continue;
    return [{ ...patchOf(pod), conditions: [{ type: POD_CONDITION, status: 'False', ...obstacle, event: 'Warning' }] }];
  }
  if (pod.bound === undefined || !nics.every((nic) => hasPort(world, nic))) return [];
  return [{ ...patchOf(pod), conditions: [{ type: POD_CONDITION, status: 'True', reason: 'Bound', message: 'all interfaces have their addresses', event: 'Normal' }] }];
}

function hasPort(world: World, nic: PodInterface): boolean {
  const port = portOf(world, nic);
  return port !== undefined && carries(world, nic, port.addresses);
}

function obstacleOf(world: World, nic: PodInterface): { readonly reason: string; readonly message: string } | undefined {
  const demand = demandOf(world, nic);
  if (demand.kind === 'none') return undefined;
  if (demand.kind === 'waiting') return { reason: demand.reason, message: demand.message };
  const reservation = reservationOf(world, nic);
  if (reservation?.kind === 'refused') return { reason: reservation.code, message: reservation.message };
  return rowConflictOf(world, nic) ?? addressConflictOf(world, nic);
}

/** Two hold one address, from whatever source: both say so, and whoever has a port keeps it. */
function addressConflictOf(world: World, nic: PodInterface): { readonly reason: string; readonly message: string } | undefined {
  const others = world.addressConflicts.get(claimantOf(world, nic));
  if (others === undefined || others.length === 0) return undefined;
  return { reason: 'AddressConflict', message: `an address of port ${nic.port} is also held by ${others.join(', ')}; delete the pod or the object that should not have it` };
}

/** Somebody else's row has the name of the port. */
function rowConflictOf(world: World, nic: PodInterface): { readonly reason: string; readonly message: string } | undefined {
  const conflict = world.rowConflicts.get(portId(nic.port));
  return conflict === undefined ? undefined : { reason: 'RowConflict', message: conflict.message };
}

function patchOf(pod: PodView): Pick<PatchOutput, 'kind' | 'resource' | 'key' | 'uid'> {
  return { kind: 'patch', resource: 'pods', key: pod.key, uid: pod.uid };
}
