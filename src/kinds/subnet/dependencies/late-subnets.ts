/**
 * Subnets that were created after the deletion of their Vpc began. They do not block it: else the deletion would never end while new
 * Subnets are created.
 */
import { subnetIntent, vpcIntent } from '../../../world/intent.ts';
import type { DeclaredQuery, Query, World } from '../../../world/world.ts';
import { declareQuery, defineQuery } from '../../../world/world.ts';
import { isEstablished } from './subnet-switch.ts';

/**
 * Whether a Subnet is valid, has no network yet, and is not accepted only since its Vpc is being deleted; defined by the rules for Subnets.
 */
export const isSubnetLateForVpc: DeclaredQuery<boolean> = declareQuery('subnet-late-for-vpc');

/**
 * A Subnet does not block the deletion of a Vpc if it was created afterwards and has no network, or is not accepted because of that
 * deletion. An older one that is not accepted for another reason blocks. Both times are the API server's, in whole seconds.
 */
export function isLateForVpc(world: World, vpc: string, subnet: string): boolean {
  const deleted = world.ask(deletionOfVpc, vpc);
  if (deleted === '' || world.ask(isEstablished, subnet)) return false;
  if ((world.ask(subnetIntent, subnet)?.metadata.creationTimestamp ?? '') > deleted) return true;
  // The default Vpc accepts Subnets as long as it has any.
  return vpc !== world.settings.defaultVpc && world.ask(isSubnetLateForVpc, subnet);
}

export const deletionOfVpc: Query<string> = defineQuery(
  'deletion-of-vpc',
  (world, name) => world.ask(vpcIntent, name)?.metadata.deletionTimestamp ?? '',
);
