import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyProblem, MOST_VALUES } from './review-bounds.ts';

const problem = (text: string, most: number = MOST_VALUES.proven): string | undefined => bodyProblem(Buffer.from(text), most);

test('arrays and objects may be 100 levels deep; brackets in a string have no depth', () => {
  assert.equal(problem('['.repeat(100) + ']'.repeat(100)), undefined);
  assert.equal(problem('{"a":['.repeat(50) + ']}'.repeat(50)), undefined);
  assert.equal(problem('['.repeat(101)), 'the body is nested deeper than 100 levels');
  assert.equal(problem('{"a":['.repeat(51)), 'the body is nested deeper than 100 levels');
  assert.equal(problem('[],'.repeat(1_000)), undefined);
  assert.equal(problem(JSON.stringify({ a: `\\"${'['.repeat(1_000)}"\\`, b: ','.repeat(1_000) }), 10), undefined);
  assert.equal(
    problem(`["\\\\",${'['.repeat(100)}`),
    'the body is nested deeper than 100 levels',
    'the text ends behind an escaped backslash',
  );
});

test('members and elements are counted', () => {
  assert.equal(problem(JSON.stringify(Array(50).fill(1)), 50), undefined);
  assert.equal(problem(JSON.stringify(Array(51).fill(1)), 50), 'the body has more than 50 values');
  assert.equal(problem(JSON.stringify(Array.from({ length: 26 }, () => ({}))), 50), 'the body has more than 50 values');
});
