/** One worker of `lives.ts`: draws each life that it is sent. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { compiledDirectory } from '../../src/lab/programs/cache-directory.ts';
import type { LifeOrder, LifeReport } from './lives.ts';

// Reading the sources takes as long as some hundred operations.
enableCompileCache(compiledDirectory());
const { drawnLife } = await import('./drawn-life.ts');
flushCompileCache();

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
