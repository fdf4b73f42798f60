/**
 * What a pod is told of its interfaces, and node agents read: its addresses when the port is observed with them, `routed` when it is also
 * in its port groups. Derived from the observed row, so that it never comes before the row. And the condition of a pod that waits.
 */
import { podAnnotation, POD_CONDITION } from '../api/well-known.ts';
import type { World } from '../world/world.ts';
import type { Addresses } from './ip-object.ts';
import { ipText } from './ip-object.ts';
import { misboundOf, misboundOutputs } from './misbound.ts';
import { nodeExists } from './node-view.ts';
import type { Output, PatchOutput } from './output.ts';
import type { Binding } from './pod-binding.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf, portId } from './pod-interface.ts';
import { portGroupsOf, stationText } from './pod-port.ts';
import type { PodView } from './pod-view.ts';
import type { SubnetView } from './subnet-view.ts';

export function annotationOutputs(world: World, binding: Binding): readonly Output[] {
  const { nic, port } = binding;
  if (port?.subnet === undefined || !isCarried(world, binding)) return [];
  const { addresses, subnet } = port;
  const message = `provider=${nic.provider} subnet=${addresses.subnet} ip=${ipText(addresses)} mac=${addresses.mac} logicalSwitchPort=${nic.port}`;
  const allocated: PatchOutput = {
    ...patchOf(nic.pod),
    annotations: allocatedAnnotations(world, nic, addresses, subnet),
    event: { type: 'Normal', reason: 'PodNetworkAllocated', message },
  };
  if (!isRouted(world, binding)) return [allocated];
  return [allocated, { ...patchOf(nic.pod), annotations: { [podAnnotation(nic.provider, 'routed')]: 'true' } }];
}

/** Only a pod that waits or is misbound has the condition; it turns true where it is there. */
export function conditionOutputs(world: World, pod: PodView, bindings: readonly Binding[]): readonly Output[] {
  for (const binding of bindings) {
    const obstacle = obstacleOf(world, binding);
    if (obstacle === undefined) continue;
    return [{ ...patchOf(pod), conditions: [{ type: POD_CONDITION, status: 'False', ...obstacle, event: 'Warning' }] }];
  }
  if (!bindings.every((binding) => isCarried(world, binding))) return [];
  for (const { ip } of bindings) {
    const misbound = misboundOf(world, pod, ip);
    if (misbound !== undefined) return misboundOutputs(world, pod, misbound);
  }
  if (pod.bound === undefined) return [];
  return [
    {
      ...patchOf(pod),
      conditions: [
        { type: POD_CONDITION, status: 'True', reason: 'Bound', message: 'all interfaces have their addresses', event: 'Normal' },
      ],
    },
  ];
}

/** Whether the port is observed, as this pod's, with these addresses. */
function isCarried(world: World, { nic, port, ownRow }: Binding): boolean {
  if (port === undefined || !ownRow) return false;
  const stations = world.rows.column(portId(nic.port), 'addresses');
  return stations instanceof Set && stations.has(stationText(port.addresses));
}

function isRouted(world: World, binding: Binding): boolean {
  const { nic } = binding;
  if (nic.pod.node === '' || !world.ask(nodeExists, nic.pod.node)) return false;
  return portGroupsOf(binding).every((group) => world.rows.holds(group, 'ports', portId(nic.port)));
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

interface Obstacle {
  readonly reason: string;
  readonly message: string;
}

function obstacleOf(world: World, { nic, claimant, demand, reservation }: Binding): Obstacle | undefined {
  if (demand.kind === 'none') return undefined;
  if (demand.kind === 'waiting') return { reason: demand.reason, message: demand.message };
  if (reservation?.kind === 'refused') return { reason: reservation.code, message: reservation.message };
  const conflict = world.rowConflicts.get(portId(nic.port));
  if (conflict !== undefined) return { reason: 'RowConflict', message: conflict.message };
  const others = world.addressConflicts.get(claimant) ?? [];
  if (others.length === 0) return undefined;
  return {
    reason: 'AddressConflict',
    message: `an address of port ${nic.port} is also held by ${others.join(', ')}; delete the pod or the object that should not have it`,
  };
}

function patchOf(pod: PodView): Pick<PatchOutput, 'kind' | 'resource' | 'key' | 'uid'> {
  return { kind: 'patch', resource: 'pods', key: pod.key, uid: pod.uid };
}
