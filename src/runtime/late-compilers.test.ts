import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { optimizeWhenBusy } from './late-compilers.ts';

setFlagsFromString('--allow-natives-syntax');
/** V8's bits for code of Maglev and of TurboFan. */
const OPTIMIZED = (1 << 4) | (1 << 5) | (1 << 6);
const status = runInThisContext('(code) => %GetOptimizationStatus(code)') as (code: () => number) => number;
const isOptimized = (code: () => number): boolean => (status(code) & OPTIMIZED) !== 0;

test('code is optimized only once the process was busy', async () => {
  let sum = 0;
  const step = (): number => {
    for (let at = 0; at < 1_000; at++) sum = (sum * 31 + at) % 65_521;
    return sum;
  };
  const work = (ms: number): void => {
    const { user } = process.cpuUsage();
    while (process.cpuUsage().user - user < ms * 1_000) step();
  };
  optimizeWhenBusy({ heap: Infinity, cpuMs: 400 });
  work(100);
  assert.equal(isOptimized(step), false);
  for (let left = 100; left > 0 && !isOptimized(step); left--) {
    work(50);
    await sleep(20);
  }
  assert.equal(isOptimized(step), true);
});
