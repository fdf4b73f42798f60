/** One worker of `lives.ts`: draws each life that it is sent. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { compiledDirectory } from '../../../src/runtime/cache-directory.ts';
import type { LifeOrder } from './lives.ts';

// Compiling the sources takes as long as some hundred operations.
enableCompileCache(compiledDirectory());
const { drawnLife } = await import('./ordered-life.ts');
flushCompileCache();

// Most errors of a life are answers, whose stacks are never read; a replay of a life that threw shows its stack.
Error.stackTraceLimit = 0;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.on('message', (order: LifeOrder) => void drawnLife(order).then((report) => parentPort?.postMessage(report)));
