/** Which lives are in a rush, and how long those are that are not: told by the seed alone, so that who orders lives knows it before they are drawn. */
import type { Draws } from '../lives/life.ts';
import { Random } from './random.ts';

/** Lives in which nearly all comes in crowds, and no scene but before and after a rest. */
const RUSHED = { staged: 0.75, dense: 0.92 } as const;
/** The others have so many times fewer operations where lives are dense: each costs four times as much, and a history of theirs takes longer to be made short. */
const CALM = 3;

/** Whether a life of these draws, of which lives in a rush are some, is in a rush. */
export function isRushed(seed: number, pace: keyof typeof RUSHED): boolean {
  return new Random(seed ^ 0x7b2049).chance(RUSHED[pace]);
}

/** Operations that a life draws of those that were ordered (whole numbers; scenes may add some). */
export function operationsOf(seed: number, ordered: number, only?: Draws): number {
  return (only === undefined || only === 'honest') && !isRushed(seed, 'dense') ? Math.ceil(ordered / CALM) : ordered;
}
