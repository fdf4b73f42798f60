import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Job } from './job.ts';
import { runJobs } from './schedule.ts';
import { NOTHING } from './tally.ts';

const never = new AbortController().signal;

test('each job runs once, side by side no more than the cores or one that is larger than all of them', async () => {
  const sizes = fc.array(fc.record({ cores: fc.constantFrom(0.1, 0.3, 0.7, 1, 2, 5), turns: fc.nat({ max: 5 }) }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.constantFrom(1, 2, 4), async (drawn, cores) => {
      const running = new Set<Job>();
      const ended: string[] = [];
      const jobs = drawn.map(({ cores: share, turns }, at): Job => {
        const job: Job = {
          step: 'all',
          name: `${at}`,
          cores: share,
          run: async () => {
            running.add(job);
            const busy = [...running].reduce((sum, each) => sum + each.cores, 0);
            assert.ok(running.size === 1 || busy <= cores + 1e-6, `${busy} of ${cores}`);
            for (let turn = 0; turn < turns; turn++) await Promise.resolve();
            running.delete(job);
            return NOTHING;
          },
        };
        return job;
      });
      await runJobs(jobs, { cores, stop: never, onEnd: ({ name }) => ended.push(name) });
      assert.deepEqual(ended.toSorted(), jobs.map(({ name }) => name).toSorted());
    }),
  );
});

test('jobs begin in their order; smaller ones overtake a job that does not fit', async () => {
  const begun: string[] = [];
  const job = (name: string, cores: number, milliseconds: number): Job => ({
    step: 'all',
    name,
    cores,
    run: async () => {
      begun.push(name);
      await sleep(milliseconds);
      return NOTHING;
    },
  });
  const jobs = [job('long', 1.2, 60), job('large', 1, 1), job('small', 0.5, 1), job('second small', 0.3, 1)];
  await runJobs(jobs, { cores: 2, stop: never, onEnd: () => undefined });
  assert.deepEqual(begun, ['long', 'small', 'second small', 'large']);
});

/** Which of the jobs of these sizes have begun, in order, after ten measurements of a machine with this many idle cores, if none ends. */
async function begunBeside(idle: number, sizes: readonly number[], cores: number): Promise<readonly string[]> {
  const begun: string[] = [];
  const stop = new AbortController();
  const jobs = sizes.map((own, at): Job => ({
    step: 'all',
    name: `${at}`,
    cores: own,
    run: async (signal) => {
      begun.push(`${at}`);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return NOTHING;
    },
  }));
  let looks = 0;
  const look = (): number => {
    looks += 1;
    if (looks === 10) stop.abort();
    return idle;
  };
  await runJobs(jobs, { cores, stop: stop.signal, onEnd: () => undefined, idle: look, lookMs: 1 });
  return begun;
}

test('beside as many as fit, one more begins at each look that finds enough of the machine idle, up to a limit', async () => {
  const sizes = [1, 0.9, 0.6, 0.4, 0.4, 0.4, 0.4, 0.4];
  assert.deepEqual(await begunBeside(0.15, sizes, 2), ['0', '1'], 'too little is idle for any');
  assert.deepEqual(await begunBeside(0.25, sizes, 2), ['0', '1', '3', '4', '5'], 'less than half of what the first keeps busy is idle');
  assert.deepEqual(await begunBeside(2, sizes, 2), ['0', '1', '2', '3'], '2.9 of 2: one more of 0.4 would be too many');
  assert.deepEqual(await begunBeside(2, [1, 5, 1, 1, 1], 2), ['0', '2', '3'], 'what is larger than the machine waits until nothing runs');
});

test('while jobs end one after another the idle cores are read nevertheless', async () => {
  let asked = 0;
  const idle = (): number => {
    asked += 1;
    return 0;
  };
  const jobs = Array.from({ length: 20 }, (_, at): Job => ({ step: 'all', name: `${at}`, cores: 1, run: () => sleep(5, NOTHING) }));
  await runJobs(jobs, { cores: 1, stop: never, onEnd: () => undefined, idle, lookMs: 20 });
  assert.ok(asked > 0);
});

test('once stopped no job begins, and running ones are interrupted and awaited', async () => {
  const stop = new AbortController();
  const ended: string[] = [];
  const job = (name: string): Job => ({
    step: 'all',
    name,
    cores: 1,
    run: async (signal) => {
      if (name === 'first') setTimeout(() => stop.abort(), 5);
      await new Promise((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 20)));
      return NOTHING;
    },
  });
  await runJobs(['first', 'second', 'third'].map(job), { cores: 2, stop: stop.signal, onEnd: ({ name }) => ended.push(name) });
  assert.deepEqual(ended, ['first', 'second']);
});
