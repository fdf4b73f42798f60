/**
 * Orphaned networks with addresses in use. No other Subnet of the Vpc can have such a network meanwhile: the router would have it at two
 * ports, and two pods could get one address.
 */
import { blockersOf } from '../../../blockers/blockers.ts';
import { orphanedNetworks } from '../../../kinds/subnet/dependencies/orphaned-networks.ts';
import { tableOf } from '../../../nb/row-id.ts';
import type { Cidr } from '../../../net/cidr.ts';
import { parseInterfaceAddress } from '../../../net/cidr.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';

export interface NetworkInUse {
  /** Name of the removed Subnet. */
  readonly subnet: string;
  readonly cidrs: readonly Cidr[];
}

export const orphanedInUse: Query<readonly NetworkInUse[]> = defineQuery('orphaned-networks-in-use', (world, vpc) =>
  [...new Set(world.ask(orphanedNetworks, vpc))]
    .filter((subnet) => blockersOf(world, 'subnets', subnet).count > 0)
    .map((subnet) => ({ subnet, cidrs: cidrsOf(world, subnet) })),
);

function cidrsOf(world: World, subnet: string): readonly Cidr[] {
  const ports = [...world.rows.ownedBy(`subnet//${subnet}`)].filter((id) => tableOf(id) === 'Logical_Router_Port').toSorted();
  return ports.flatMap((id) => {
    const networks = world.rows.column(id, 'networks');
    const texts = networks instanceof Set ? [...networks] : typeof networks === 'string' ? [networks] : [];
    return texts.flatMap((text) => parseInterfaceAddress(String(text))?.cidr ?? []);
  });
}
