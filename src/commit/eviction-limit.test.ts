import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVICTION_RETRY_MS, EvictionLimit } from './eviction-limit.ts';

test('five pods leave at a time; a place is free when a pod is gone, was replaced, was refused or took too long', () => {
  const limit = new EvictionLimit();
  const there = new Map(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((key) => [key, `uid-${key}`]));
  const take = (key: string, now = 0): string => limit.take(key, `uid-${key}`, now, (one) => there.get(one));
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => take(key)),
    ['now', 'now', 'now', 'now', 'now', 'later'],
  );
  assert.equal(take('a'), 'asked');
  there.delete('a');
  assert.deepEqual([take('f'), take('g')], ['now', 'later']);
  there.set('b', 'another uid');
  assert.deepEqual([take('g'), take('h')], ['now', 'later']);
  limit.refused('c');
  assert.deepEqual([take('h'), take('i')], ['now', 'later']);
  assert.equal(take('i', EVICTION_RETRY_MS), 'now');
});
