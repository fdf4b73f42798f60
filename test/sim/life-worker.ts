/** One worker of `lives.ts`: draws each life that it is sent. */
import { parentPort } from 'node:worker_threads';
import { drawnLife } from './drawn-life.ts';
import type { LifeOrder } from './lives.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.on('message', (order: LifeOrder) => void drawnLife(order).then((report) => parentPort?.postMessage(report)));
