/** Lives on all cores: each worker draws one after the other, and the caller receives each one's report as it ends. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Tenancy } from '../../../src/world/settings.ts';
import type { History } from '../steps/step.ts';

export interface LifeOrder {
  readonly seed: number;
  readonly operations: number;
  readonly tenancy?: Tenancy;
  /** Beside rows of other programs. */
  readonly neighbours?: boolean;
  /** Name of a known fault that is put into the rules. */
  readonly fault?: string;
  /** The most replays to shorten a failing history; 0 keeps it as it is. */
  readonly shrink?: number;
  /** When shortening ends at the latest, in milliseconds since the epoch. */
  readonly shrinkUntil?: number;
}

export interface LifeReport {
  readonly order: LifeOrder;
  readonly operations: number;
  /** Hash of everything that happened: the same for the same order. */
  readonly hash: string;
  /** Steps of the life as it was drawn. */
  readonly steps: number;
  /** Empty if nothing was found. */
  readonly messages: readonly string[];
  /** Names of the checks that found something. */
  readonly checks: readonly string[];
  /** The shortened history of a life that failed; undefined if its worker did not end by itself. */
  readonly history?: History;
  readonly tried: number;
  /** Time ran out before the history was as short as possible. */
  readonly cut?: boolean;
}

/**
 * Has workers draw lives until there are no more orders.
 * @param orders asked for the next one whenever a worker is free
 */
export async function drawLives(
  orders: Iterable<LifeOrder>,
  onReport: (report: LifeReport) => void,
  workers = availableParallelism(),
): Promise<void> {
  const next = orders[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: workers }, async () => {
      let worker = new Worker(LIFE_WORKER);
      try {
        for (let order = next.next(); order.done !== true; order = next.next()) {
          const answer = await answerOf(worker, order.value);
          if (typeof answer !== 'string') {
            onReport(answer);
            continue;
          }
          onReport({ order: order.value, operations: 0, hash: '', steps: 0, messages: [answer], checks: [], tried: 0 });
          await worker.terminate();
          worker = new Worker(LIFE_WORKER);
        }
      } finally {
        await worker.terminate();
      }
    }),
  );
}

const LIFE_WORKER = new URL('./life-worker.ts', import.meta.url);

/** Of the wall clock, not the simulated one: a life of 500 operations takes half a second, and some minutes to shorten. */
const MOST_MS = 300_000;
const MOST_MS_FOR_EACH = 200;

/** @returns the report on the life, or what happened to the worker if it ended without one */
function answerOf(worker: Worker, order: LifeOrder): Promise<LifeReport | string> {
  const most = MOST_MS + order.operations * MOST_MS_FOR_EACH;
  return new Promise((resolve) => {
    const failed = (error: unknown): void => end(`ended its process: ${error instanceof Error ? error.message : String(error)}`);
    const ended = (): void => end('stood still: nothing was left to run, and a promise was still pending');
    const timer = setTimeout(() => end(`did not come to an end within ${Math.round(most / 60_000)} minutes`), most);
    const end = (answer: LifeReport | string): void => {
      clearTimeout(timer);
      worker.off('message', end).off('error', failed).off('exit', ended);
      resolve(answer);
    };
    worker.on('message', end).on('error', failed).on('exit', ended);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(order);
  });
}
