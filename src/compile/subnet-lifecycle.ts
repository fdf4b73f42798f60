/**
 * How a Subnet goes: while somebody has an address in it, it stays with all its rows and says who; then its rows go, then its
 * finalizer. Nothing else is asked: neither its Vpc nor a sound spec.
 */
import { blockedSentence, blockersOf } from '../blockers/graph.ts';
import { ownerText } from '../nb/ownership.ts';
import { keysOf } from '../world/domain.ts';
import type { Rule } from './compiler.ts';
import type { PatchOutput } from './output.ts';
import { claimantOfSubnet, subnetView } from './subnet-view.ts';

export const subnetLifecycle: Rule = {
  name: 'subnet-lifecycle',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = world.ask(subnetView, name);
    if (view === undefined) return [];
    const patch = { kind: 'patch', resource: 'subnets', key: name, uid: view.uid } as const;
    if (!view.terminating) return [{ ...patch, finalizer: true, withoutConditions: ['DeletionBlocked'] }];
    const blockers = blockersOf(world, 'subnets', name);
    if (blockers.count > 0) {
      const message = blockedSentence('subnets', name, blockers);
      return [
        {
          ...patch,
          finalizer: true,
          conditions: [{ type: 'DeletionBlocked', status: 'True', reason: 'InUse', message, event: 'Warning' }],
        },
      ];
    }
    const released: PatchOutput = {
      ...patch,
      finalizer: world.rows.ownedBy(ownerText(claimantOfSubnet(view))).size > 0,
      withoutConditions: ['DeletionBlocked'],
    };
    return [released];
  },
};
