/** The IP objects of those that have their addresses through them: pods, nodes, virtual machines. Cost: the IP objects of that name. */
import { DEPENDENCIES } from '../../../blockers/dependencies.ts';
import type { KindWords, NamedObjects } from '../../../explain/kind-words.ts';
import { heldTexts } from '../../../world/claimants.ts';
import type { ResourceName } from '../../../world/resources.ts';
import type { World } from '../../../world/world.ts';

/** Of a kind that depends on IP objects. */
export function addressesByIps(resource: ResourceName): Required<Pick<KindWords, 'addresses'>> {
  return {
    addresses: (world, key) => {
      const lines = DEPENDENCIES.filter(({ on, dependent }) => on === 'ips' && dependent === resource);
      return addressesOf(world, lines.flatMap(({ dependsOn }) => [...dependsOn(world, key)]).toSorted());
    },
  };
}

/** Of a virtual machine: a stopped one keeps its IP objects, which have its name. */
export const machineWords: Required<Pick<KindWords, 'addresses' | 'created'>> = {
  addresses: (world, key) => addressesOf(world, ipsOfMachine(world, key).keys),
  created: ipsOfMachine,
};

function ipsOfMachine(world: World, key: string): NamedObjects {
  const named = [...world.ips.bucket('pod', key)].filter((ip) => world.ips.peek(ip)?.spec.podType === 'VirtualMachine');
  return { resource: 'ips', keys: named.toSorted() };
}

function addressesOf(world: World, ips: readonly string[]): readonly string[] {
  return ips.flatMap((name) => {
    const ip = world.ips.peek(name);
    return ip === undefined ? [] : heldTexts(ip);
  });
}
