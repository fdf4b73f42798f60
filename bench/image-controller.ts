/** `kiln start` in a process as the image starts it, looked at from the outside alone. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_FLAGS } from '../src/runtime/heap.ts';
import { measuredProgram } from './measured-program.ts';
import { NotMeasured } from './progress-watch.ts';

export interface ImageMemory {
  readonly residentMb: number;
  /** The most that was resident so far. */
  readonly peakMb: number;
  /** Of what is resident: pages of Node's program file, which processes share and the kernel may drop. */
  readonly fileMb: number;
  readonly heapMb: number;
  /** Processor time of all threads so far. */
  readonly cpuSeconds: number;
}

/** What a controller may take until it is quiet. */
const PATIENCE_MS = 10 * 60_000;
const LOOK_MS = 1_000;
/** The time of the last success is the present while nothing is left to do; looked at this much later. */
const SLACK_SECONDS = 3;

export class ImageController {
  readonly #child: ChildProcess;
  readonly #metrics: string;

  private constructor(child: ChildProcess, metrics: string) {
    this.#child = child;
    this.#metrics = metrics;
  }

  static async start(kubeconfig: string, ovnNb: string): Promise<ImageController> {
    const { file, env } = await measuredProgram('kiln');
    const flags = [`--kubeconfig=${kubeconfig}`, `--ovn-nb=${ovnNb}`, '--metrics-bind-address=127.0.0.1:0'];
    const child = spawn(process.execPath, [...NODE_FLAGS, file, 'start', ...flags], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface(child.stdout)) {
      const { msg, url } = JSON.parse(line) as { readonly msg: string; readonly url?: string };
      if (msg !== 'serving metrics and probes' || url === undefined) continue;
      child.stdout.resume();
      return new ImageController(child, `${url}/metrics`);
    }
    throw new NotMeasured('kiln start ended before it served metrics');
  }

  /** Until it leads and nothing was left to do in two looks at its metrics. */
  async untilQuiet(): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    for (let quiet = 0; quiet < 2;) {
      if (performance.now() > end) throw new NotMeasured(`the controller was not quiet after ${PATIENCE_MS / 60_000} minutes`);
      await sleep(LOOK_MS);
      const value = await this.#read();
      const late = Date.now() / 1_000 - value('kiln_reconcile_last_success_timestamp_seconds');
      quiet = value('kiln_leader') === 1 && value('kiln_api_writes_pending') === 0 && late < SLACK_SECONDS ? quiet + 1 : 0;
    }
  }

  /** Linux alone. */
  async memory(): Promise<ImageMemory> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8');
    const mb = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024;
    const memory = { residentMb: mb('VmRSS'), peakMb: mb('VmHWM'), fileMb: mb('RssFile') };
    // After these are read: a scrape takes memory.
    const value = await this.#read();
    return { ...memory, heapMb: value('nodejs_heap_size_used_bytes') / 1_048_576, cpuSeconds: value('process_cpu_seconds_total') };
  }

  /** Releases the Lease and ends. */
  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }

  /** @returns the value of a metric without labels, or NaN */
  async #read(): Promise<(name: string) => number> {
    const text = await (await fetch(this.#metrics)).text();
    return (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? NaN);
  }
}
