/** Whether a port is observed as that of its pod: what it was given before a rule became stricter can be read from it. */
import type { World } from '../../world/world.ts';
import { isOurs } from '../vpc/vpc-view.ts';
import { leadOf } from './machine.ts';
import type { PodInterface } from './pod-interface.ts';
import { podOwner } from './pod-view.ts';

export function isThere(world: World, nic: PodInterface): boolean {
  return isOurs(world, nic.row, podOwner(leadOf(world, nic)));
}
