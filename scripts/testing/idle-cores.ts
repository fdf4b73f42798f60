import { cpus } from 'node:os';

/** Milliseconds since the machine started, summed over its cores: idle time, and all time. */
export interface CoreTimes {
  readonly idle: number;
  readonly all: number;
}

/** Measures a machine with this many cores: each call returns how many were idle on average since the call before; the first returns 0. */
export function idleCores(cores: number, read: () => CoreTimes = coreTimes): () => number {
  let last: CoreTimes | undefined;
  return () => {
    const now = read();
    const { idle, all } = last ?? now;
    last = now;
    return now.all > all ? (cores * (now.idle - idle)) / (now.all - all) : 0;
  };
}

function coreTimes(): CoreTimes {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { idle, all };
}
