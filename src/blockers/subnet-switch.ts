/** Whether the network of a Subnet runs: by its logical switch, or because it was accepted once. */
import { rowId } from '../nb/row-id.ts';
import { hasLostOwnershipKeys } from '../world/lost-ownership-keys.ts';
import type { Query, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';

/** How the owner of a Subnet's rows begins, before the Subnet's name. */
export const OF_SUBNET = 'subnet//';

export function hasSwitch(world: World, subnet: string, uid: string): boolean {
  const id = rowId('Logical_Switch', subnet);
  const owner = world.rows.state(id)?.ownership;
  if (owner?.kind === 'ours') return owner.uid === uid;
  return hasLostOwnershipKeys(world.rows, { id, owner: { kind: 'subnet', namespace: '', name: subnet, uid } });
}

/** Its network runs, or it was accepted: one whose switch somebody deletes by hand is no new Subnet. */
export const isSettled: Query<boolean> = defineQuery('subnet-settled', (world, name) => {
  const subnet = world.subnets.get(name);
  if (subnet === undefined) return false;
  const accepted = subnet.status?.conditions?.some(({ type, status }) => type === 'Accepted' && status === 'True') === true;
  return accepted || hasSwitch(world, name, subnet.metadata.uid);
});
