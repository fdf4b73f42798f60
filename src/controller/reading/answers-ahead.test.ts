import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { AnswersAhead } from './answers-ahead.ts';

test('a kind is listed again if no event follows a conflict, at most every ten seconds', () => {
  const clock = new ManualClock();
  const listed: string[] = [];
  const versions = new Map<string, string>();
  const ahead = new AnswersAhead({
    seen: (resource, key) => versions.get(`${resource}/${key}`),
    relist: (resource) => listed.push(`${resource} at ${clock.now()}`),
    clock,
    later: (ms, run) => void clock.setTimeout(run, ms),
  });
  const began = clock.now();
  // Its event arrives in time.
  ahead.met('ips', 'soon');
  versions.set('ips/soon', '7');
  clock.advance(2_000);
  assert.deepEqual(listed, []);
  // The API server answered "already exists", and no list contains the object.
  ahead.met('ips', 'unseen');
  ahead.met('ips', 'unseen');
  clock.advance(2_000);
  assert.deepEqual(listed, [`ips at ${began + 4_000}`]);
  ahead.met('ips', 'unseen');
  clock.advance(9_900);
  assert.equal(listed.length, 1);
  clock.advance(200);
  assert.equal(listed.length, 2);
  // A conflict with a version that no event delivers.
  ahead.met('subnets', 'a');
  clock.advance(2_000);
  assert.equal(listed.length, 3);
});
