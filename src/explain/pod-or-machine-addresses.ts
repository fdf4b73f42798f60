/** The addresses of objects that have them through IP objects: pods, nodes, virtual machines. */
import { DEPENDENCIES } from '../blockers/dependencies.ts';
import { heldTexts } from '../world/claimants.ts';
import type { ResourceName } from '../world/resources.ts';
import type { World } from '../world/world.ts';

const TO_IPS = DEPENDENCIES.filter(({ on }) => on === 'ips');
/** A stopped machine keeps its IP objects, which have its name. */
const MACHINES: ReadonlySet<ResourceName> = new Set(['virtualmachines', 'virtualmachineinstances']);

export function isMachine(resource: ResourceName): boolean {
  return MACHINES.has(resource);
}

/** The IP objects of a pod, a node or a virtual machine, sorted; none for other kinds. Cost: the IP objects of that name. */
export function ipsOfPodOrMachine(world: World, resource: ResourceName, key: string): readonly string[] {
  if (isMachine(resource))
    return [...world.ips.bucket('pod', key)].filter((ip) => world.ips.peek(ip)?.spec.podType === 'VirtualMachine').toSorted();
  return TO_IPS.filter(({ dependent }) => dependent === resource)
    .flatMap(({ dependsOn }) => [...dependsOn(world, key)])
    .toSorted();
}

export function addressesOfPodOrMachine(world: World, resource: ResourceName, key: string): readonly string[] {
  return ipsOfPodOrMachine(world, resource, key).flatMap((name) => {
    const ip = world.ips.peek(name);
    return ip === undefined ? [] : heldTexts(ip);
  });
}
