import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVICTION_RETRY_MS, EvictionLimit } from './eviction-limit.ts';

test('five evictions of a namespace at a time; one ends when its pod is gone or replaced, was rejected, or took too long', () => {
  const limit = new EvictionLimit();
  const there = new Map(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((key) => [`pods/shop/${key}`, `uid-${key}`]));
  const take = (key: string, now = 0): string => limit.take(`pods/shop/${key}`, `uid-${key}`, now, (one) => there.get(one));
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => take(key)),
    ['now', 'now', 'now', 'now', 'now', 'later'],
  );
  assert.equal(take('a'), 'asked');
  there.delete('pods/shop/a');
  assert.deepEqual([take('f'), take('g')], ['now', 'later']);
  there.set('pods/shop/b', 'another uid');
  assert.deepEqual([take('g'), take('h')], ['now', 'later']);
  limit.rejected('pods/shop/c');
  assert.deepEqual([take('h'), take('i')], ['now', 'later']);
  assert.equal(take('i', EVICTION_RETRY_MS), 'now');
});

test('pods of one namespace that do not end block none of another; if those of many do not, namespaces take turns', () => {
  const limit = new EvictionLimit();
  const gone = new Set<string>();
  const take = (namespace: string, name: number, now: number): string =>
    limit.take(`pods/${namespace}/${name}`, 'uid', now, (key) => (gone.has(key) ? undefined : 'uid'));
  const all = (namespace: string, now: number): number => {
    let sent = 0;
    for (let name = 0; name < 20; name++) if (take(namespace, name, now) === 'now') sent++;
    return sent;
  };
  assert.equal(all('hangs', 0), 5);
  assert.equal(take('quiet', 1, 0), 'now');
  gone.add('pods/quiet/1');
  assert.equal(all('stuck', 1_000), 5);
  assert.equal(take('quiet', 2, 1_000), 'later', 'ten leave at a time');
  // The evictions of the first end; it calls first, and the waiting namespace gets the turn.
  assert.equal(take('quiet', 2, EVICTION_RETRY_MS - 1), 'later');
  assert.equal(take('hangs', 1, EVICTION_RETRY_MS), 'soon');
  assert.equal(take('quiet', 2, EVICTION_RETRY_MS), 'now');
  assert.equal(take('hangs', 1, EVICTION_RETRY_MS), 'now');
  // A waiting namespace that no longer calls `take` delays others only for a moment.
  assert.equal(all('hangs', EVICTION_RETRY_MS), 3);
  assert.equal(take('quiet', 3, EVICTION_RETRY_MS), 'later');
  for (const name of [0, 1, 2, 3, 4]) gone.add(`pods/stuck/${name}`);
  assert.equal(take('stuck', 5, EVICTION_RETRY_MS + 100), 'now');
  assert.equal(take('hangs', 6, EVICTION_RETRY_MS + 100), 'soon');
  assert.equal(take('hangs', 6, EVICTION_RETRY_MS + 2_100), 'now');
});
