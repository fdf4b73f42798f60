/** Whether the rows of a Subnet are emitted from the spec in effect, frozen because no accepted spec is known, or none. */
import { blockersOf } from '../../../blockers/blockers.ts';
import { ownerText } from '../../../nb/ownership.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { acceptedSpec } from './accepted-spec.ts';
import { subnetAcceptance } from './subnet-acceptance.ts';
import type { SubnetView } from './subnet-view.ts';
import { subnetOwner, subnetView, switchId } from './subnet-view.ts';

export type SubnetRows = 'emitted' | 'frozen' | 'none';

export const subnetRows: Query<SubnetRows> = defineQuery('subnet-rows', (world, name) => {
  const view = world.ask(subnetView, name);
  if (view === undefined || (view.terminating && blockersOf(world, 'subnets', name).count === 0)) return 'none';
  const { kind } = world.ask(subnetAcceptance, name);
  if (kind === 'invalid') return 'none';
  return kind === 'accepted' || world.ask(acceptedSpec, name) !== undefined ? 'emitted' : 'frozen';
});

/** The view of a Subnet with rows emitted from the spec in effect, else undefined. */
export function emittedSubnet(world: World, name: string): SubnetView | undefined {
  return world.ask(subnetRows, name) === 'emitted' ? world.ask(subnetView, name) : undefined;
}

/**
 * The view of the Subnet that owns the network of its name. Undefined without such a Subnet, and if the running network is orphaned: an
 * older Subnet of that name left it, and the present one cannot take it over, since it is invalid or not in OVN.
 */
export function owningSubnet(world: World, name: string): SubnetView | undefined {
  return world.ask(hasOrphanedNetwork, name) ? undefined : world.ask(subnetView, name);
}

const hasOrphanedNetwork: Query<boolean> = defineQuery('subnet-has-orphaned-network', (world, name) => {
  const view = world.ask(subnetView, name);
  if (view === undefined) return false;
  const rows = world.ask(subnetRows, name);
  if (rows === 'frozen' || (rows === 'emitted' && view.isOvn)) return false;
  if (view.terminating && blockersOf(world, 'subnets', name).count === 0) return false;
  const { owner, uid } = ownerOfSwitch(world, name);
  if (owner !== ownerText(subnetOwner(view)) || uid === view.uid) return false;
  // A Subnet outside of OVN cannot take over a switch with ports.
  return rows === 'none' || hasPortsOfOthers(world, name);
});

function ownerOfSwitch(world: World, name: string): { readonly owner?: string; readonly uid?: string } {
  const ownership = world.rows.state(switchId(name))?.ownership;
  return ownership?.kind === 'ours' ? ownership : {};
}

function hasPortsOfOthers(world: World, name: string): boolean {
  const ports = world.rows.column(switchId(name), 'ports');
  return [...(ports instanceof Set ? ports : [])].some((uuid) => {
    const ownership = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0])?.ownership;
    return ownership?.kind === 'ours' && !ownership.owner.startsWith('subnet//');
  });
}
