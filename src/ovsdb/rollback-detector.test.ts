import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RollbackDetector } from './rollback-detector.ts';

test('a server that is behind is accepted after the patience, and not before', () => {
  const detector = new RollbackDetector(1_000);
  assert.deepEqual(
    [0, 400, 999, 1_000].map((now) => detector.olderServerSeen(now)),
    [false, false, false, true],
  );
});

test('a current server in between resets the patience', () => {
  const detector = new RollbackDetector(1_000);
  detector.olderServerSeen(0);
  detector.reset();
  assert.equal(detector.olderServerSeen(1_000), false);
  assert.equal(detector.olderServerSeen(2_000), true);
});

test('two sightings far apart, with no server in between, do not count as one period', () => {
  const detector = new RollbackDetector(1_000);
  detector.olderServerSeen(0);
  assert.equal(detector.olderServerSeen(1_001), false);
});
