import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prunedPaths, withoutPruned } from './pruned-paths.ts';

test('pruned is what an answer lacks, not what it has otherwise', () => {
  const patch = { a: 1, gone: 'x', nothing: null, map: { k: 1, l: 2 }, list: [{ type: 'A', seen: 1 }, { type: 'B' }], short: [{ x: 1 }] };
  const answer = { a: 2, map: { k: 1 }, list: [{ type: 'A' }, { type: 'B' }], short: [] };
  assert.deepEqual(prunedPaths(patch, answer, 'status'), ['status.gone', 'status.map.l', 'status.list[].seen']);
  assert.deepEqual(prunedPaths(patch, patch, 'status'), []);
  assert.deepEqual(prunedPaths(undefined, answer, 'status'), []);
});

test('without what is pruned, the answer is as it was emitted', () => {
  const emitted = { gone: 'x', map: { k: 1, l: 2 }, list: [{ type: 'A', seen: 1 }] };
  const answer = { map: { k: 1 }, list: [{ type: 'A' }] };
  assert.deepEqual(withoutPruned(emitted, new Set(prunedPaths(emitted, answer, 'status')), 'status'), answer);
});
