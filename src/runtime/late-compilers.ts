/**
 * V8's optimizing compilers, off while a process has little to do. With them a controller of a small cluster takes some 6 MB more, their own
 * pages of Node's program file included, and there the processor time that they save (half of it) is of no account.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

const COMPILERS = ['opt', 'maglev', 'sparkplug'] as const;
const WINDOW_MS = 10_000;
const LOOK_MS = 100;

export interface Busy {
  /** Bytes in use. An empty cluster has 23 MB, one of 500 pods some 34 MB. */
  readonly heap: number;
  /** Processor time within ten seconds. A start in an empty cluster takes one to two seconds. */
  readonly cpuMs: number;
}

/**
 * From now on nothing is optimized, until the heap is large or the process has been busy: then always. Code that ran before is optimized
 * once it runs again.
 */
export function optimizeWhenBusy({ heap, cpuMs }: Busy = { heap: 30e6, cpuMs: 3_000 }): void {
  switchCompilers(false);
  let began = performance.now();
  let before = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    if (getHeapStatistics().used_heap_size > heap || user + system > cpuMs * 1_000) {
      clearInterval(timer);
      switchCompilers(true);
    } else if (performance.now() - began > WINDOW_MS) {
      began = performance.now();
      before = process.cpuUsage();
    }
  }, LOOK_MS);
  timer.unref();
}

function switchCompilers(on: boolean): void {
  for (const compiler of COMPILERS) setFlagsFromString(on ? `--${compiler}` : `--no-${compiler}`);
}
