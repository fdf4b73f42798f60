/**
 * What becomes of a Subnet's rows: stated from its spec, kept as they are, or none.
 */
import { blockersOf } from '../../../blockers/blockers.ts';
import { ownerText } from '../../../nb/ownership.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { subnetAcceptance } from './subnet-acceptance.ts';
import type { SubnetView } from './subnet-view.ts';
import { claimantOfSubnet, subnetView, switchId } from './subnet-view.ts';

export type SubnetRows = 'emitted' | 'frozen' | 'none';

export const subnetRows: Query<SubnetRows> = defineQuery('subnet-rows', (world, name) => {
  const view = world.ask(subnetView, name);
  if (view === undefined || (view.terminating && blockersOf(world, 'subnets', name).count === 0)) return 'none';
  const { kind } = world.ask(subnetAcceptance, name);
  return kind === 'accepted' ? 'emitted' : kind === 'frozen' ? 'frozen' : 'none';
});

/** The view of a Subnet whose rows rules are to state from its spec, else undefined. */
export function emittedSubnet(world: World, name: string): SubnetView | undefined {
  return world.ask(subnetRows, name) === 'emitted' ? world.ask(subnetView, name) : undefined;
}

/**
 * The view of a Subnet that has the say over the network of its name. Undefined where there is none, and where the network that runs is
 * left from an older Subnet of that name while this one, made again, cannot carry it on: refused, or not in OVN.
 */
export function owningSubnet(world: World, name: string): SubnetView | undefined {
  return world.ask(isLeftBehind, name) ? undefined : world.ask(subnetView, name);
}

const isLeftBehind: Query<boolean> = defineQuery('subnet-left-behind', (world, name) => {
  const view = world.ask(subnetView, name);
  if (view === undefined) return false;
  const rows = world.ask(subnetRows, name);
  if (rows === 'frozen' || (rows === 'emitted' && view.isOvn)) return false;
  if (view.terminating && blockersOf(world, 'subnets', name).count === 0) return false;
  const { owner, uid } = ownerOfSwitch(world, name);
  if (owner !== ownerText(claimantOfSubnet(view)) || uid === view.uid) return false;
  // Addresses for other plugins are of no use to a switch.
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
