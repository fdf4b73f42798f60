import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Setback } from './setback.ts';

test('a server that is behind is taken once that has lasted, and not before', () => {
  const setback = new Setback(1_000);
  assert.deepEqual(
    [0, 400, 999, 1_000].map((now) => setback.met(now)),
    [false, false, false, true],
  );
});

test('one that is ahead, found in between, ends the count', () => {
  const setback = new Setback(1_000);
  setback.met(0);
  setback.over();
  assert.equal(setback.met(1_000), false);
  assert.equal(setback.met(2_000), true);
});

test('two that are met far from each other, with no server in between, are not one that lasts', () => {
  const setback = new Setback(1_000);
  setback.met(0);
  assert.equal(setback.met(1_001), false);
});
