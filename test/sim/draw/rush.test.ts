import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRushed, operationsOf } from './rush.ts';

test('eleven dense lives of twelve are in a rush, and the others are a third as long', () => {
  const seeds = Array.from({ length: 2_400 }, (_, at) => 5_000 + at);
  const calm = seeds.filter((seed) => !isRushed(seed, 'dense'));
  assert.ok(calm.length > 120 && calm.length < 280, `${calm.length} of 2400`);
  for (const seed of seeds) assert.equal(operationsOf(seed, 2_000), isRushed(seed, 'dense') ? 2_000 : 667);
});

test('whoever names the draws gets as many operations as were ordered', () => {
  for (const only of ['plain', 'crowds', 'rush', 'staged'] as const)
    for (let seed = 0; seed < 50; seed++) assert.equal(operationsOf(seed, 500, only), 500);
});
