/** Runs jobs side by side on a machine's cores: those that mostly wait beside those that compute. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from './job.ts';
import type { Tally } from './tally.ts';

/** Tolerance: sums of cores have rounding errors. */
const ROUNDING = 1e-9;
/**
 * If the machine is idle all the same, more jobs begin, until they would keep this many times its cores busy. The limit is due to memory,
 * since each job has its servers, and because the measured machine may be shared.
 */
const MOST_TIMES = 1.6;
/** A job begins when this share of its cores is idle: it waits now and then itself, and shares what is left. */
const IDLE_SHARE = 0.5;
const LOOK_MS = 2_000;

export interface ScheduleOptions {
  /** The cores that jobs side by side may keep busy. A job that needs more runs alone. */
  readonly cores: number;
  /** Once aborted, no more jobs begin; running ones are aborted, and waited for. */
  readonly stop: AbortSignal;
  readonly onEnd: (job: Job, tally: Tally, seconds: number) => void;
  /** The average of idle cores since the last call. Without it, only the numbers of the jobs count. */
  readonly idle?: () => number;
  /** How often it is called. */
  readonly lookMs?: number;
}

/**
 * Runs all jobs: each begins, in the given order, as soon as it fits beside the running ones; a later one that fits may overtake one that
 * does not. Jobs keep cores busy only now and then, so part of the machine may be idle although no other job fits: then one more begins for
 * which the idle part is enough.
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

/** Waits until one of these has ended, or for this long. */
async function firstOf(running: ReadonlySet<Promise<void>>, milliseconds: number | undefined): Promise<void> {
  if (milliseconds === undefined) {
    await Promise.race(running);
    return;
  }
  const enough = new AbortController();
  const passed = sleep(milliseconds, undefined, { signal: enough.signal }).catch(() => undefined);
  await Promise.race([...running, passed]).finally(() => enough.abort());
}
