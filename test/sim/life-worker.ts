/** One worker of `lives.ts`: draws each life that it is sent. */
import { parentPort } from 'node:worker_threads';
import { drawnLife } from './drawn-life.ts';
import type { LifeOrder, LifeReport } from './lives.ts';

async function lived(order: LifeOrder): Promise<LifeReport> {
  // Most errors of a life are answers, and nobody reads where they were made. One that ends it comes again, with its stack.
  Error.stackTraceLimit = 0;
  try {
    return await drawnLife(order);
  } catch {
    Error.stackTraceLimit = 50;
    return drawnLife(order);
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.on('message', (order: LifeOrder) => void lived(order).then((report) => parentPort?.postMessage(report)));
