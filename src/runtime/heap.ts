/** How V8 keeps the heap of a process that holds a whole cluster. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/**
 * The heap may grow by this much before all of it is looked at for what is not needed any more. V8's own choice lets a heap of 700 MB grow by
 * half and more, which is memory that a controller, whose heap hardly changes once it has read everything, never needs again.
 */
const GROWTH_PERCENT = 25;
/**
 * A smaller heap may grow by this much, in bytes: while a cluster is read, a quarter of little is soon full, and nearly all that is looked
 * at each time is still needed.
 */
const STEP = 160e6;
const LOOK_MS = 250;

/**
 * Trades a little processor time at the start for a quarter of the memory at its peak. Call once, before anything is read. Young objects are
 * tidied by one thread: while a cluster is read nearly all of them are kept, several threads take no less time for it and more of the processor,
 * which the API server needs then.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--no-parallel-scavenge');
  let before = 0;
  const look = (): void => {
    const percent = Math.max(GROWTH_PERCENT, Math.round((100 * STEP) / getHeapStatistics().used_heap_size));
    if (percent === before) return;
    before = percent;
    setFlagsFromString(`--heap-growing-percent=${percent}`);
  };
  look();
  setInterval(look, LOOK_MS).unref();
}
