/**
 * Virtual machines. Their interfaces have the machine's name and outlive its pods. During a live migration two pods run one machine and
 * share its interfaces: the primary pod owns the rows, the other one has the same addresses in its annotations.
 */
import { parseNetworkSelections } from '../../../api/pod/network-selection.ts';
import type { NetworkSelection } from '../../../api/pod/network-selection.ts';
import type { Labels } from '../../../api/kubernetes/meta.ts';
import type { MachineNetwork } from '../../../api/kubernetes/virtual-machine.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { ChassisOptions } from '../view/migration.ts';
import { primaryFirst, chassisOptionsOf } from '../view/migration.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf, isAllocated } from './pod-interface.ts';
import { interfacesOf } from './pod-interfaces.ts';
import type { PodView } from '../view/pod-view.ts';
import { podOwner, podView } from '../view/pod-view.ts';
import { isOurs } from '../../vpc/vpc-view.ts';

/** The next pod of a machine, and the uid of the machine if known. */
export interface MachinePlan {
  readonly uid: string | undefined;
  readonly annotations: Labels;
  readonly networks: readonly NetworkSelection[];
}

/** Undefined if no pod of that machine will be created again: neither the machine nor an instance of it stays. */
export const machinePlan: Query<MachinePlan | undefined> = defineQuery('machine-plan', (world, key) => {
  const namespace = key.slice(0, key.indexOf('/'));
  const machine = world.virtualMachines.get(key);
  if (machine !== undefined && machine.metadata.deletionTimestamp === undefined) {
    const { metadata, spec } = machine.spec.template ?? {};
    return {
      uid: machine.metadata.uid,
      annotations: metadata?.annotations ?? {},
      networks: attachedNetworks(spec?.networks ?? [], namespace),
    };
  }
  const instance = world.virtualMachineInstances.get(key);
  if (instance === undefined || instance.metadata.deletionTimestamp !== undefined) return undefined;
  return {
    uid: undefined,
    annotations: instance.metadata.annotations ?? {},
    networks: attachedNetworks(instance.spec.networks ?? [], namespace),
  };
});

function attachedNetworks(networks: readonly MachineNetwork[], namespace: string): readonly NetworkSelection[] {
  return networks.flatMap(({ multus }) => {
    const parsed = parseNetworkSelections(multus?.networkName ?? '', namespace);
    return parsed.ok ? parsed.selections : [];
  });
}

/** Pods that run a machine, or ran it. */
const machinePods: Query<readonly string[]> = defineQuery('machine-pods', (world, key) =>
  [...world.pods.bucket('instance', key)].toSorted(),
);

/** Live pods that run a machine, the primary pod first. */
const launchers: Query<readonly string[]> = defineQuery('machine-launchers', (world, key) => {
  const alive = viewsOf(world, world.ask(machinePods, key)).filter((view) => view.alive);
  return primaryFirst(world, alive).map((view) => view.key);
});

function viewsOf(world: World, keys: readonly string[]): readonly PodView[] {
  return keys.flatMap((key) => world.ask(podView, key) ?? []);
}

export function launchersOf(world: World, key: string): readonly PodView[] {
  // Nearly all pods run no machine: no result is cached for them.
  if (world.pods.bucket('instance', key).size === 0) return [];
  return viewsOf(world, world.ask(launchers, key));
}

/** The pod that owns the rows of an interface: its own pod, except for a machine with two pods. */
export function primaryPodOf(world: World, { pod, port }: PodInterface): PodView {
  if (pod.machine === undefined) return pod;
  const all = launchersOf(world, `${pod.namespace}/${pod.machine.name}`);
  return all.find((one) => interfacesOf(world, one).interfaces.some((nic) => nic.port === port)) ?? pod;
}

/** Whether a live pod of its machine, primary or not, uses the interface in a Subnet: it has the port or the annotations. */
export function isInUse(world: World, nic: PodInterface, subnet: string): boolean {
  const { pod, row } = nic;
  if (pod.machine === undefined) return false;
  return launchersOf(world, `${pod.namespace}/${pod.machine.name}`).some((one) => {
    const its = { ...nic, pod: one };
    return isOurs(world, row, podOwner(one)) || (isAllocated(its) && annotationOf(its, 'logical_switch') === subnet);
  });
}

/** The chassis options of a machine's port. */
export function machineOptions(world: World, { pod }: PodInterface): ChassisOptions {
  if (pod.machine === undefined) return {};
  return chassisOptionsOf(world, pod, viewsOf(world, world.ask(machinePods, `${pod.namespace}/${pod.machine.name}`)));
}
