/** Lives on all cores: each worker draws one after the other, and the caller hears of each as it ends. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Draws } from './life.ts';
import type { History } from './step.ts';

export interface LifeOrder {
  readonly seed: number;
  readonly operations: number;
  readonly only?: Draws;
  /** Name of a known fault that is put into the rules. */
  readonly fault?: string;
  /** Replays at most to make a history that fails shorter; 0 keeps it as it is. */
  readonly shrink?: number;
  /** When that ends at the latest, in milliseconds since the epoch. */
  readonly shrinkUntil?: number;
}

export interface LifeReport {
  readonly order: LifeOrder;
  readonly operations: number;
  /** Of everything that happened: the same for the same order. */
  readonly hash: string;
  /** Steps of the life as it was drawn. */
  readonly steps: number;
  /** Empty where all went well. */
  readonly messages: readonly string[];
  /** Of one that failed, made short. */
  readonly history?: History;
  readonly tried: number;
  /** The time was up before the history was as short as it can be. */
  readonly cut?: boolean;
}

/**
 * Has lives drawn until there are no more orders.
 * @param orders asked for the next one whenever a worker has nothing to do
 * @throws Error with which a worker ended
 */
export async function drawLives(
  orders: Iterable<LifeOrder>,
  onReport: (report: LifeReport) => void,
  workers = availableParallelism(),
): Promise<void> {
  const next = orders[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: workers }, async () => {
      const worker = new Worker(new URL('./life-worker.ts', import.meta.url));
      try {
        for (let order = next.next(); order.done !== true; order = next.next()) onReport(await answer(worker, order.value));
      } finally {
        await worker.terminate();
      }
    }),
  );
}

function answer(worker: Worker, order: LifeOrder): Promise<LifeReport> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (report: LifeReport) => {
      worker.off('error', reject);
      resolve(report);
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(order);
  });
}
