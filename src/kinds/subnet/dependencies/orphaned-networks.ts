/** Orphaned networks: networks in OVN of Subnets that were removed by force, found by their router ports. */
import { identityOf, rowId, tableOf } from '../../../nb/row-id.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { OF_SUBNET } from './subnet-switch.ts';

/**
 * The orphaned networks in a Vpc's router, by the names of their Subnets: the owner of their router port does not exist, or has another
 * uid. They may have dependents or none.
 */
export const orphanedNetworks: Query<readonly string[]> = defineQuery('orphaned-networks', (world, vpc) => {
  // Also if the router has lost its ownership keys.
  const ports = world.rows.column(rowId('Logical_Router', vpc), 'ports');
  const left = [...(ports instanceof Set ? ports : [])].flatMap((uuid) => {
    const port = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0])?.ownership;
    if (port?.kind !== 'ours' || !port.owner.startsWith(OF_SUBNET)) return [];
    const subnet = port.owner.slice(OF_SUBNET.length);
    return world.ask(uidOfSubnet, subnet) === port.uid ? [] : [subnet];
  });
  return left.toSorted();
});

/** The Vpc with an orphaned network in its router; empty for none. */
export const vpcOfOrphanedNetwork: Query<string> = defineQuery('vpc-of-orphaned-network', (world, subnet) => {
  const ports = [...world.rows.ownedBy(`${OF_SUBNET}${subnet}`)].filter((id) => tableOf(id) === 'Logical_Router_Port');
  const routers = ports.flatMap((id) => world.rows.state(id)?.parent?.uuid ?? []).flatMap((uuid) => world.rows.byUuid(uuid)?.id ?? []);
  const vpcs = routers.map(identityOf);
  return vpcs.find((vpc) => world.ask(orphanedNetworks, vpc).includes(subnet)) ?? '';
});

/** The uid alone: a status write of the Subnet runs no reader again. */
const uidOfSubnet: Query<string> = defineQuery('uid-of-subnet', (world, name) => world.ask(subnetIntent, name)?.metadata.uid ?? '');
