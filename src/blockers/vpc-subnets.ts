/** Subnets that have a network in the router of a Vpc, and whether a Vpc takes another one. */
import { isOvnProvider } from '../api/names.ts';
import { FINALIZER } from '../api/well-known.ts';
import { rowId } from '../nb/row-id.ts';
import type { SubnetIntent } from '../world/intent.ts';
import { subnetIntent } from '../world/intent.ts';
import type { Query, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import { deletionOfVpc, isTooLateForVpc } from './late-dependents.ts';
import { orphanedNetworks } from './orphaned-networks.ts';
import { SUBNET_DEPENDENCIES } from './subnet-dependents.ts';
import { hasSwitch, OF_SUBNET } from './subnet-switch.ts';

/** The Vpc whose router has the network of a Subnet, and which waits for it: none, or one. */
export function vpcOfSubnet(world: World, subnet: string): readonly string[] {
  if (!isInOvn(world, subnet)) return [];
  const vpc = world.vpcOf(world.ask(subnetIntent, subnet) as SubnetIntent);
  return isTooLateForVpc(world, vpc, subnet) ? [] : [vpc];
}

function isInOvn(world: World, subnet: string): boolean {
  if (world.ask(isLetGo, subnet)) return false;
  const object = world.ask(subnetIntent, subnet);
  if (object === undefined || isOvnProvider(object.spec.provider ?? '')) return object !== undefined;
  // A provider edited away from OVN does not take a running network along.
  return hasSwitch(world, subnet, object.metadata.uid);
}

export function subnetsInRouter(world: World, vpc: string): readonly string[] {
  return [...world.subnetVpcs.in(vpc)].filter((name) => isInOvn(world, name) && !isTooLateForVpc(world, vpc, name));
}

/**
 * Its network is gone and Kiln has let it go: what still keeps the object is another's finalizer, which may wait for the Vpc itself (an owner that
 * is deleted in the foreground waits for what it owns).
 */
const isLetGo: Query<boolean> = defineQuery('subnet-let-go', (world, name) => {
  const metadata = world.subnets.get(name)?.metadata;
  if (metadata?.deletionTimestamp === undefined || metadata.finalizers?.includes(FINALIZER) === true) return false;
  return world.rows.ownedBy(`${OF_SUBNET}${name}`).size === 0 && !hasDependents(world, name);
});

function hasDependents(world: World, subnet: string): boolean {
  return SUBNET_DEPENDENCIES.some(({ holders }) => !isEmpty(holders(world, subnet)));
}

function isEmpty(keys: Iterable<string>): boolean {
  for (const _ of keys) return false;
  return true;
}

/**
 * A Vpc is being deleted and takes no new Subnet. The default one, which the cluster stands on, takes them as long as there is anything in
 * it, another program's row in its router included: its deletion cannot be carried out then. With nothing in it it goes at once, and a new
 * Subnet is in the one that is made again.
 */
export const takesNoSubnet: Query<boolean> = defineQuery('vpc-takes-no-subnet', (world, vpc) => {
  if (world.ask(deletionOfVpc, vpc) === '') return false;
  if (vpc !== world.settings.defaultVpc) return true;
  return subnetsInRouter(world, vpc).length === 0 && world.ask(orphanedNetworks, vpc).length === 0 && !world.ask(routerKeepsOthers, vpc);
});

/**
 * Rows of other programs in the router of a Vpc, or in a second one of its name that somebody made: it stays for them. Of the rows themselves,
 * since what the diff says of the router follows from this.
 */
const routerKeepsOthers: Query<boolean> = defineQuery('router-keeps-others', (world, vpc) =>
  world.rows.children(rowId('Logical_Router', vpc)).some(({ ownership }) => ownership.kind === 'foreign'),
);
