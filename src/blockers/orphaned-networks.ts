/** Networks in OVN whose Subnet object vanished, by their router ports. */
import { identityOf, rowId, tableOf } from '../nb/row-id.ts';
import { subnetIntent } from '../world/intent.ts';
import type { Query } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import { OF_SUBNET } from './subnet-switch.ts';

/**
 * Networks in a Vpc's router whose Subnets vanished: their router port is of a Subnet that is not there, or of an older one of its name.
 * Whether anybody still needs them is another question.
 */
export const orphanedNetworks: Query<readonly string[]> = defineQuery('networks-left', (world, vpc) => {
  // Whoever took its marks: until they are back it has the networks all the same.
  const ports = world.rows.column(rowId('Logical_Router', vpc), 'ports');
  const left = [...(ports instanceof Set ? ports : [])].flatMap((uuid) => {
    const port = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0])?.ownership;
    if (port?.kind !== 'ours' || !port.owner.startsWith(OF_SUBNET)) return [];
    const subnet = port.owner.slice(OF_SUBNET.length);
    return world.ask(uidOfSubnet, subnet) === port.uid ? [] : [subnet];
  });
  return left.toSorted();
});

/** The Vpc in whose router a network is whose Subnet vanished; empty for none. */
export const vpcOfOrphanedNetwork: Query<string> = defineQuery('vpc-of-network-left', (world, subnet) => {
  const ports = [...world.rows.ownedBy(`${OF_SUBNET}${subnet}`)].filter((id) => tableOf(id) === 'Logical_Router_Port');
  const routers = ports.flatMap((id) => world.rows.state(id)?.parent?.uuid ?? []).flatMap((uuid) => world.rows.byUuid(uuid)?.id ?? []);
  const vpcs = routers.map(identityOf);
  return vpcs.find((vpc) => world.ask(orphanedNetworks, vpc).includes(subnet)) ?? '';
});

/** Values, not objects: a status that comes back runs nobody's rule. */
const uidOfSubnet: Query<string> = defineQuery('uid-of-subnet', (world, name) => world.ask(subnetIntent, name)?.metadata.uid ?? '');
