import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reconnectDelay } from './reconnect-delay.ts';

const options = { baseMs: 100, maxMs: 1_000 };
const delays = (endpoints: number, random: number): number[] =>
  Array.from({ length: 10 }, (_, failures) => reconnectDelay(failures, endpoints, options, random));

test('every endpoint is tried at once, then the rounds are spaced by a doubling delay with a bound', () => {
  assert.deepEqual(delays(1, 0), [0, 100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000, 1_000]);
  assert.deepEqual(delays(3, 0), [0, 0, 0, 100, 0, 0, 200, 0, 0, 400]);
});

test('the random number shortens the delay by up to half', () => {
  assert.equal(reconnectDelay(2, 1, options, 0.5), 150);
  assert.ok(reconnectDelay(2, 1, options, 0.999_999) > 100);
});
