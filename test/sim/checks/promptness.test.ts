import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ListWatchCache } from '../../../src/kube/cache/list-watch-cache.ts';
import { WriteDelays } from '../../../src/commit/write-delays.ts';
import { objectId } from '../../../src/compile/output.ts';
import { BY_TIME, GATHER, siteHere } from '../cluster/product-timers.ts';
import { Promptness } from './promptness.ts';
import { ProcessClock, VirtualTime } from '../cluster/virtual-time.ts';

function bench(): { readonly time: VirtualTime; readonly clock: ProcessClock; readonly promptness: Promptness } {
  const time = new VirtualTime();
  const promptness = new Promptness(time);
  promptness.quietly(true);
  return { time, clock: new ProcessClock(time, 'a'), promptness };
}

test('a change caused by a step is prompt, through all messages between', async () => {
  const { time, clock, promptness } = bench();
  clock.carry(5, () => clock.carry(2_000, () => promptness.changed('pods', 'ns/p')));
  await time.runUntil(10_000);
  assert.deepEqual(promptness.whenConverged(), []);
});

test('a change caused by a timer is late, unless the timer was set for an injected fault', async () => {
  for (const inflicted of [false, true]) {
    const { time, clock, promptness } = bench();
    time.after(1, () => {
      if (inflicted) clock.noteFault();
      clock.setTimeout(() => clock.carry(1, () => promptness.changed('pods', 'ns/p')), 200);
    });
    await time.runUntil(1_000);
    const [found] = promptness.whenConverged();
    if (inflicted) assert.equal(found, undefined);
    else assert.match(found?.message ?? '', /^a changed pods ns\/p at 202 only because the timer of 200 ms at /);
  }
});

test('a timer of the product is named by the function that sets it, not by those that pass it on', async () => {
  const { time, clock } = bench();
  const sites: string[] = [];
  const noting = (ms: number): void => void sites.push(`${ms} ${siteHere()()}`);
  const cache = new ListWatchCache({
    client: {} as never,
    resource: { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
    clock: {
      now: () => clock.now(),
      wallTime: () => clock.wallTime(),
      setTimeout: (_run, ms) => noting(ms),
      clearTimeout: () => undefined,
    },
  });
  cache.expectEvent('7');
  const holds = new WriteDelays({
    observed: () => undefined,
    unanswered: () => false,
    mayWrite: () => true,
    monotonicNow: () => time.now,
    later: noting,
    look: () => undefined,
  });
  holds.backOff(objectId('pods', 'ns/p'), 'soon');
  await time.runUntil(1);
  assert.deepEqual(sites, ['15000 src/kube/cache/cache-watch.ts expectEvent', '200 src/commit/write-delays.ts backOff']);
});

test('each function listed as one that may wait exists, and sets a timer', () => {
  for (const { file, function: name } of [...GATHER, ...BY_TIME]) {
    const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    const at = text.search(new RegExp(`^  (async )?${name.replace('#', '\\#')}\\(.*\\{$`, 'm'));
    assert.ok(at >= 0, `${file} ${name}`);
    assert.match(text.slice(at, text.indexOf('\n  }\n', at)), /setTimeout|later|schedule|sleep/, `${file} ${name}`);
  }
});
