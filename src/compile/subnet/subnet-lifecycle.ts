/** Deletion of a Subnet: while addresses of it are in use, it stays with all its rows and reports its blockers. */
import { keysOf } from '../../engine/domain.ts';
import type { Rule } from '../rule.ts';
import { deletionPatch } from '../deletion.ts';
import { subnetOwner, subnetView } from './validity/subnet-view.ts';

export const subnetLifecycle: Rule = {
  name: 'subnet-lifecycle',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = world.ask(subnetView, name);
    return view === undefined ? [] : [deletionPatch(world, 'subnets', name, subnetOwner(view), view.terminating)];
  },
};
