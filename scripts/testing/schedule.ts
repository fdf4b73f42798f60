/** Runs jobs side by side on a machine of so many cores: those that mostly wait beside those that compute. */
import type { Job } from './job.ts';
import type { Tally } from './tally.ts';

/** Cores add up to what was given but for errors of rounding. */
const ROUNDING = 1e-9;

export interface ScheduleOptions {
  /** What jobs that run side by side may keep busy. One that wants more than there are runs by itself. */
  readonly cores: number;
  /** Once aborted, nothing more begins; what runs is told, and waited for. */
  readonly stop: AbortSignal;
  readonly onEnd: (job: Job, tally: Tally, seconds: number) => void;
}

/** Runs every job: each begins, in the order given, as soon as it fits beside those that run; one that does not fit lets later ones by. */
export async function runJobs(jobs: readonly Job[], { cores, stop, onEnd }: ScheduleOptions): Promise<void> {
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
  try {
    for (;;) {
      const next = stop.aborted ? -1 : waiting.findIndex((job) => running.size === 0 || busy + job.cores <= cores + ROUNDING);
      const [job] = next === -1 ? [] : waiting.splice(next, 1);
      if (job !== undefined) {
        const ended: Promise<void> = run(job).finally(() => running.delete(ended));
        running.add(ended);
      } else if (running.size > 0) await Promise.race(running);
      else return;
    }
  } finally {
    await Promise.allSettled(running);
  }
}
