/**
 * What becomes of a Subnet's rows: stated from its spec, kept as they are, or none.
 */
import { blockersOf } from '../../blockers/graph.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetAcceptance } from './subnet-acceptance.ts';
import type { SubnetView } from './subnet-view.ts';
import { subnetView } from './subnet-view.ts';

export type SubnetRows = 'stated' | 'kept' | 'none';

export const subnetRows: Query<SubnetRows> = defineQuery('subnet-rows', (world, name) => {
  const view = world.ask(subnetView, name);
  if (view === undefined || (view.terminating && blockersOf(world, 'subnets', name).count === 0)) return 'none';
  const { kind } = world.ask(subnetAcceptance, name);
  return kind === 'accepted' ? 'stated' : kind === 'frozen' ? 'kept' : 'none';
});

/** The view of a Subnet whose rows rules are to state from its spec, else undefined. */
export function statedSubnet(world: World, name: string): SubnetView | undefined {
  return world.ask(subnetRows, name) === 'stated' ? world.ask(subnetView, name) : undefined;
}
