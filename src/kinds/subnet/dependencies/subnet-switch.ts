/** Whether the network of a Subnet runs: it has a logical switch, or was accepted before. */
import { rowId } from '../../../nb/row-id.ts';
import { hasLostOwnershipKeys } from '../../../world/lost-ownership-keys.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';

/** Prefix of the owner text of a Subnet's rows. */
export const OF_SUBNET = 'subnet//';

export function hasSwitch(world: World, subnet: string, uid: string): boolean {
  const id = rowId('Logical_Switch', subnet);
  const owner = world.rows.state(id)?.ownership;
  if (owner?.kind === 'ours') return owner.uid === uid;
  return hasLostOwnershipKeys(world.rows, { id, owner: { kind: 'subnet', namespace: '', name: subnet, uid } });
}

/** The Subnet has a switch, or was accepted: it does not count as new after its switch was deleted by hand. */
export const isEstablished: Query<boolean> = defineQuery('subnet-established', (world, name) => {
  const subnet = world.subnets.get(name);
  if (subnet === undefined) return false;
  const accepted = subnet.status?.conditions?.some(({ type, status }) => type === 'Accepted' && status === 'True') === true;
  return accepted || hasSwitch(world, name, subnet.metadata.uid);
});
