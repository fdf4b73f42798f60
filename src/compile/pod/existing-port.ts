/** Whether a row of a port is observed as that of its pod: what it was given before a rule became stricter can be read from it. */
import type { RowId } from '../../nb/row-id.ts';
import type { World } from '../../world/world.ts';
import { isOurs } from '../vpc/vpc-view.ts';
import { primaryPodOf } from './machine.ts';
import type { PodInterface } from './pod-interface.ts';
import { podOwner } from './pod-view.ts';

/** Also one of Kube-OVN's that a rule is about to take over: no tenant writes rows. */
export function isObservedAsPods(world: World, id: RowId, nic: PodInterface): boolean {
  return world.rows.state(id)?.ownership.kind === 'legacy' || isOurs(world, id, podOwner(primaryPodOf(world, nic)));
}
