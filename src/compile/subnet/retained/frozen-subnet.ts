/**
 * The rows of a running Subnet whose spec is refused, and whose last accepted spec is unknown (Kiln never accepted one, or a client removed
 * the annotation): they stay as they are.
 */
import { ownerText } from '../../../nb/ownership.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { Rule } from '../../rule.ts';
import { retainedRows } from '../../retained-row.ts';
import { retainedBalancers, linked } from './orphaned-network.ts';
import { subnetRows } from '../validity/subnet-state.ts';
import { subnetOwner, subnetView } from '../validity/subnet-view.ts';

export const frozenSubnet: Rule = {
  name: 'frozen-subnet',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = world.ask(subnetView, name);
    if (view === undefined || world.ask(subnetRows, name) !== 'frozen') return [];
    // Rows of an older Subnet of the name, which this one did not take over, do not belong to its network.
    const rows = retainedRows(world, ownerText(subnetOwner(view))).filter(({ owner }) => owner.uid === view.uid);
    return [...linked(world, rows, name), ...retainedBalancers(world, name)];
  },
};
