import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, until } from './until.ts';

test('a wait returns the first value that is neither undefined nor false', async () => {
  const answers = [undefined, false, 0];
  assert.equal(await until('an answer', () => answers.shift()), 0);
  assert.deepEqual(answers, []);
});

test('after the timeout the error names the condition and the state; a probe that throws ends the wait', async () => {
  await assert.rejects(
    until(
      'the row',
      () => false,
      20,
      () => 'two rows',
    ),
    /^Error: not after 0.02 s: the row: two rows$/,
  );
  const failure = new Error('broken');
  await assert.rejects(
    until('the row', () => {
      throw failure;
    }),
    failure,
  );
});

test('eventually takes a failing assertion as not yet, and names the last one', async () => {
  let calls = 0;
  const equalsThree = (): number => {
    assert.equal(++calls, 3);
    return calls;
  };
  assert.equal(await eventually('three calls', equalsThree), 3);
  await assert.rejects(
    eventually('never', () => Promise.reject(new Error('not there')), 20),
    /^Error: not after 0.02 s: never: not there$/,
  );
});
