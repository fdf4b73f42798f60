/**
 * Draws close calls: what hits a controller between its decision and the write that follows from it. Chance alone meets so short a time
 * hardly ever, and what guards it (the fence, the uid of an object) is missed by nobody until then.
 *
 * From a generator of its own, as `draw-broad.ts`.
 */
import type { Random } from './random.ts';
import type { Fault } from '../steps/step.ts';

export function drawCloseCall(random: Random): Fault {
  switch (random.weighted({ stop: 1, overtake: 3 })) {
    // It wakes when another leads, its transaction arrives only then, and its clock did not count the time.
    case 'stop':
      return { fault: 'stop-sending', controller: random.pick(['a', 'b']), ms: random.pick([36_000, 45_000]) };
    case 'overtake':
      return { fault: 'overtake', how: random.pick(['recreate', 'recreate', 'vanish', 'delete']) };
  }
}
