import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const PERIOD_S = 0.05;
/** For one that nobody ends. */
const MOST_S = 120;
const PATIENCE_MS = 30_000;
/** Fewer answers tell nothing about the time between two. */
const LEAST = 3;

/** How echo requests were answered. */
export interface Answered {
  /** The longest time between two answers, in milliseconds. */
  readonly longestMs: number;
  /** When the last one came, in milliseconds since the epoch. */
  readonly last: number;
}

/** Echo requests, one every 50 ms, until it ends. */
export class Pinging {
  readonly #ping: ReturnType<typeof spawn>;
  #shown = '';

  /** @param command runs a program where the requests come from */
  constructor(command: (...program: readonly [string, ...string[]]) => readonly [string, ...string[]], address: string) {
    const [program, ...args] = command('ping', '-n', '-D', '-i', String(PERIOD_S), '-w', String(MOST_S), address);
    this.#ping = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    this.#ping.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#shown += text));
  }

  /** Waits until so many more requests are answered. @throws Error after 30 seconds */
  async answered(count = LEAST): Promise<void> {
    const [from, end] = [this.#answers().length, performance.now() + PATIENCE_MS];
    while (this.#answers().length < from + count) {
      if (performance.now() > end) throw new Error(`echo requests are not answered: ${this.#shown}`);
      await sleep(20);
    }
  }

  #answers(): readonly number[] {
    return [...this.#shown.matchAll(/^\[(\d+\.\d+)\] \d+ bytes from/gm)].map(([, at]) => Number(at) * 1_000);
  }

  /** @throws Error if hardly any request was answered */
  async end(): Promise<Answered> {
    if (this.#ping.exitCode === null) {
      this.#ping.kill('SIGINT');
      await once(this.#ping, 'close');
    }
    const answers = this.#answers();
    if (answers.length < LEAST) throw new Error(`hardly any echo request was answered: ${this.#shown}`);
    return { longestMs: Math.max(...answers.slice(1).map((at, index) => at - (answers[index] ?? 0))), last: answers.at(-1) ?? 0 };
  }
}
