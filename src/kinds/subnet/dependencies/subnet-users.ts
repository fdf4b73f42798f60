/** Kinds whose objects use addresses of a Subnet. */
import type { Dependency } from '../../../blockers/dependency.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { rowId } from '../../../nb/row-id.ts';
import type { SetDefinition } from '../../../engine/sets/set-definition.ts';
import type { World } from '../../../world/world.ts';
import { defineSet } from '../../../world/world.ts';
import { orphanedNetworks, vpcOfOrphanedNetwork } from './orphaned-networks.ts';

/**
 * The dependencies of a kind whose objects use addresses of a Subnet. They block the Subnet. A Subnet that was removed by force cannot block
 * its Vpc, so the users of its network do: they need the router.
 */
export function usesSubnet({ dependent, dependents, dependsOn }: Omit<Dependency, 'on' | 'blocks'>): readonly Dependency[] {
  return [
    { on: 'subnets', dependent, dependents, dependsOn },
    {
      on: 'vpcs',
      dependent,
      dependents: defineSet(`${dependent}-of-orphaned-networks`, (world, vpc) =>
        world.ask(orphanedNetworks, vpc).map((key) => ({ kind: 'set', of: dependents, key })),
      ),
      dependsOn: (world, key) =>
        [...dependsOn(world, key)].map((subnet) => world.ask(vpcOfOrphanedNetwork, subnet)).filter((vpc) => vpc !== ''),
    },
  ];
}

/** Row owners of the ports in a Subnet's switch, of one kind. @param kind prefix of the owner text */
export function ownersOfPorts(name: string, kind: string): SetDefinition<World> {
  return defineSet(
    name,
    ({ rows }, subnet) => [{ kind: 'children', rows, parent: rowId('Logical_Switch', subnet), column: 'ports' }],
    (world, _, port) => {
      const ownership = world.rows.state(port as RowId)?.ownership;
      return ownership?.kind === 'ours' && ownership.owner.startsWith(kind) ? ownership.owner.slice(kind.length) : undefined;
    },
  );
}
