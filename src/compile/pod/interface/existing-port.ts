/** Whether a port row is observed as its pod's: it shows what the port had before a rule became stricter. */
import type { RowId } from '../../../nb/row-id.ts';
import type { World } from '../../../world/world.ts';
import { isOurs } from '../../vpc/vpc-view.ts';
import { primaryPodOf } from './machine.ts';
import type { PodInterface } from './pod-interface.ts';
import { podOwner } from '../view/pod-view.ts';

/** Also a legacy row that a rule is about to adopt: tenants cannot write rows. */
export function isObservedAsPods(world: World, id: RowId, nic: PodInterface): boolean {
  return world.rows.state(id)?.ownership.kind === 'legacy' || isOurs(world, id, podOwner(primaryPodOf(world, nic)));
}
