import type { World } from '../world/world.ts';
import type { HoldersBySubnet } from './address-holders.ts';
import type { Violation } from './violation.ts';

/** The part `invariants` of the record of a kind: what its objects violate when the system has converged. */
export type KindInvariants = (world: World, holders: HoldersBySubnet) => readonly Violation[];
