/** A controller in a process of its own: its time, memory and requests are counted separately from those of the load generator. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { ControllerStatus } from '../src/controller/controller.ts';
import { NODE_FLAGS } from '../src/runtime/heap.ts';
import { measuredProgram } from './measured-program.ts';
import type { Timeline } from './pod-timeline.ts';
import { NotMeasured } from './progress-watch.ts';
import type { LongestTurn } from './turn-watch.ts';

/** Sent instead of a report. */
export interface Failure {
  readonly kind: 'failure';
  readonly problem: string;
}

export interface Report {
  readonly kind: 'report';
  /** Milliseconds since the process began; likewise `leadingMs` and `cpuMs`. */
  readonly upMs: number;
  readonly leadingMs: number | undefined;
  /** Processor time of all its threads. */
  readonly cpuMs: number;
  /** Its resident memory now. */
  readonly residentMb: number;
  /** Its largest resident memory. */
  readonly peakMb: number;
  readonly heapMb: number;
  /** Collections of its whole heap since the process began. */
  readonly collections: number;
  /** The longest turn of the event loop until the first report; later reports have none. */
  readonly longestTurn: LongestTurn;
  /** Requests to the API server by `watch`, `lease`, `read` and `write`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Operations sent to the Northbound database. */
  readonly operations: number;
  readonly status: ControllerStatus;
  /** Timelines of the followed pods since the last report. */
  readonly timelines: Readonly<Record<string, Timeline>>;
}

/** `now`: a report at once; `quiet`: one when nothing is left to do. */
export type Question = 'now' | 'quiet' | 'stop';

export class MeasuredController {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('exit', () => resolve()));
  }

  /**
   * @param name of the profile, if `KILN_BENCH_PROFILES` names a folder for `--cpu-prof`
   * @param followed prefix of pod names in namespace `default` whose steps are recorded
   */
  static async start(kubeconfig: string, ovnNb: string, name: string, followed?: string): Promise<MeasuredController> {
    const profiles = process.env['KILN_BENCH_PROFILES'];
    const execArgv =
      profiles === undefined
        ? [...NODE_FLAGS]
        : [...NODE_FLAGS, '--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}.cpuprofile`];
    const { file, env } = await measuredProgram('controller');
    const controller = new MeasuredController(
      fork(file, [kubeconfig, ovnNb, ...(followed === undefined ? [] : [followed])], {
        execArgv,
        env: { ...env, ...process.env },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    );
    await controller.#next();
    return controller;
  }

  async report(question: 'now' | 'quiet' = 'now'): Promise<Report> {
    this.#child.send(question);
    const answer = (await this.#next()) as Report | Failure;
    if (answer.kind === 'failure') throw new NotMeasured(answer.problem);
    return answer;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Releases the Lease and ends. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.send('stop');
    await this.#ended;
  }

  #next(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const exited = (code: number | null): void => reject(new Error(`the controller's process ended with ${code ?? 'a signal'}`));
      this.#child.once('exit', exited);
      this.#child.once('message', (message) => {
        this.#child.off('exit', exited);
        resolve(message);
      });
    });
  }
}
