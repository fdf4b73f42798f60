/** The Subnets with a network in the router of a Vpc, and whether a Vpc accepts another one. */
import { isOvnProvider } from '../../../api/names.ts';
import { FINALIZER } from '../../../api/well-known.ts';
import { rowId } from '../../../nb/row-id.ts';
import type { SubnetIntent } from '../../../world/intent.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { SetDefinition } from '../../../engine/sets/set-definition.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery, defineSet, where } from '../../../world/world.ts';
import { isInUse } from '../../../blockers/in-use.ts';
import { deletionOfVpc, isLateForVpc } from './late-subnets.ts';
import { orphanedNetworks } from './orphaned-networks.ts';
import { hasSwitch, OF_SUBNET } from './subnet-switch.ts';

/** The Vpc that a Subnet blocks, since its router has the Subnet's network: none, or one. */
export function vpcOfSubnet(world: World, subnet: string): readonly string[] {
  if (!isInOvn(world, subnet)) return [];
  const vpc = world.vpcOf(world.ask(subnetIntent, subnet) as SubnetIntent);
  return isLateForVpc(world, vpc, subnet) ? [] : [vpc];
}

function isInOvn(world: World, subnet: string): boolean {
  if (world.ask(isReleased, subnet)) return false;
  const object = world.ask(subnetIntent, subnet);
  if (object === undefined || isOvnProvider(object.spec.provider ?? '')) return object !== undefined;
  // A running network stays if a user edits the provider to one outside of OVN.
  return hasSwitch(world, subnet, object.metadata.uid);
}

export const subnetsInRouter: SetDefinition<World> = defineSet(
  'subnets-in-router',
  (world, vpc) => [world.subnetVpcs.partOf(vpc)],
  where((world, vpc, name) => isInOvn(world, name) && !isLateForVpc(world, vpc, name)),
);

/**
 * The Subnet is being deleted, its network is gone, and Kiln has removed its finalizer. Another finalizer keeps the object, which may wait
 * for the Vpc itself (foreground deletion of an owner waits for its dependents).
 */
const isReleased: Query<boolean> = defineQuery('subnet-released', (world, name) => {
  const metadata = world.subnets.get(name)?.metadata;
  if (metadata?.deletionTimestamp === undefined || metadata.finalizers?.includes(FINALIZER) === true) return false;
  return world.rows.ownedBy(`${OF_SUBNET}${name}`).size === 0 && !world.ask(isInUse, `subnets/${name}`);
});

/**
 * Whether a Vpc is being deleted and accepts no new Subnet. The default Vpc, which the cluster needs, accepts them as long as it has
 * blockers, or a foreign row in its router: its deletion waits then. If it is empty it is deleted at once, and a new Subnet belongs to the
 * Vpc that is created again.
 */
export const acceptsNoSubnet: Query<boolean> = defineQuery('vpc-accepts-no-subnet', (world, vpc) => {
  if (world.ask(deletionOfVpc, vpc) === '') return false;
  if (vpc !== world.settings.defaultVpc) return true;
  return (
    world.set(subnetsInRouter, vpc).count === 0 && world.ask(orphanedNetworks, vpc).length === 0 && !world.ask(routerHasForeignRows, vpc)
  );
});

/**
 * Whether the router of a Vpc, or a duplicate of it, has foreign rows inside: it cannot be deleted then. Read from the rows, not from
 * `rowConflicts`, since the diff of the router depends on this query.
 */
const routerHasForeignRows: Query<boolean> = defineQuery('router-has-foreign-rows', (world, vpc) =>
  world.rows.children(rowId('Logical_Router', vpc)).some(({ ownership }) => ownership.kind === 'foreign'),
);
