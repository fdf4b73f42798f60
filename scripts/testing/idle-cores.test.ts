import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idleCores } from './idle-cores.ts';

test('idle cores are counted since the last reading', () => {
  const readings = [
    { idle: 1_000, all: 5_000 },
    { idle: 2_000, all: 9_000 },
    { idle: 2_000, all: 13_000 },
    { idle: 2_000, all: 13_000 },
    { idle: 4_000, all: 15_000 },
  ];
  const look = idleCores(2, () => readings.shift() ?? assert.fail('no more readings'));
  assert.deepEqual([look(), look(), look(), look(), look()], [0, 0.5, 0, 0, 2]);
});

test('the readings of this host add up', () => {
  const look = idleCores(1);
  look();
  const until = performance.now() + 50;
  while (performance.now() < until);
  const idle = look();
  assert.ok(idle >= 0 && idle <= 1, `${idle}`);
});
