/** Runs jobs side by side on a machine of so many cores: those that mostly wait beside those that compute. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from './job.ts';
import type { Tally } from './tally.ts';

/** Cores add up to what was given but for errors of rounding. */
const ROUNDING = 1e-9;
/**
 * A machine that is idle all the same gets more jobs, until they would keep busy so many times its cores: each has its servers and takes memory,
 * and what is measured may be a machine of which this is only a part.
 */
const MOST_TIMES = 1.6;
/** So much of what a job keeps busy is to be idle before it begins: it waits by turns itself, and shares what is left. */
const IDLE_SHARE = 0.5;
const LOOK_MS = 2_000;

export interface ScheduleOptions {
  /** What jobs that run side by side may keep busy. One that wants more than there are runs by itself. */
  readonly cores: number;
  /** Once aborted, nothing more begins; what runs is told, and waited for. */
  readonly stop: AbortSignal;
  readonly onEnd: (job: Job, tally: Tally, seconds: number) => void;
  /** How many cores were idle since it was last asked, on the average. Without it, only what jobs say of themselves counts. */
  readonly idle?: () => number;
  /** So often it is asked. */
  readonly lookMs?: number;
}

/**
 * Runs every job: each begins, in the order given, as soon as it fits beside those that run; one that does not fit lets later ones by. Jobs
 * keep cores busy by turns, so as many as fit may leave a part of the machine idle: then one more begins for which that is enough.
 */
export async function runJobs(jobs: readonly Job[], options: ScheduleOptions): Promise<void> {
  const { cores, stop, onEnd, idle, lookMs = LOOK_MS } = options;
  const waiting = [...jobs];
  const running = new Set<Promise<void>>();
  let busy = 0;
  const run = async (job: Job): Promise<void> => {
    const begun = performance.now();
    busy += job.cores;
    try {
      onEnd(job, await job.run(stop), (performance.now() - begun) / 1000);
    } finally {
      busy -= job.cores;
    }
  };
  const begin = (fits: (job: Job) => boolean): boolean => {
    const next = stop.aborted ? -1 : waiting.findIndex(fits);
    const [job] = next === -1 ? [] : waiting.splice(next, 1);
    if (job === undefined) return false;
    const ended: Promise<void> = run(job).finally(() => running.delete(ended));
    running.add(ended);
    return true;
  };
  const fits = ({ cores: own }: Job): boolean => running.size === 0 || busy + own <= cores + ROUNDING;
  let looked = performance.now();
  try {
    for (;;) {
      if (begin(fits)) continue;
      if (running.size === 0) return;
      const untilLook = idle === undefined || waiting.length === 0 ? undefined : looked + lookMs - performance.now();
      if (idle === undefined || untilLook === undefined || untilLook > 0) {
        await firstOf(running, untilLook);
        continue;
      }
      looked = performance.now();
      const spare = idle();
      begin(({ cores: own }) => own * IDLE_SHARE <= spare && busy + own <= MOST_TIMES * cores);
    }
  } finally {
    await Promise.allSettled(running);
  }
}

/** Waits until one of these has ended, or for so long. */
async function firstOf(running: ReadonlySet<Promise<void>>, milliseconds: number | undefined): Promise<void> {
  if (milliseconds === undefined) {
    await Promise.race(running);
    return;
  }
  const enough = new AbortController();
  const passed = sleep(milliseconds, undefined, { signal: enough.signal }).catch(() => undefined);
  await Promise.race([...running, passed]).finally(() => enough.abort());
}
