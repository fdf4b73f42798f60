import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectorMatches, selectorProblem } from './label-selector.ts';

const labels = { app: 'web', tier: 'front' };

test('labels', () => {
  assert.ok(selectorMatches({}, labels));
  assert.ok(selectorMatches({}, undefined));
  assert.ok(selectorMatches({ matchLabels: { app: 'web' } }, labels));
  assert.ok(!selectorMatches({ matchLabels: { app: 'web', zone: 'a' } }, labels));
  assert.ok(!selectorMatches({ matchLabels: { constructor: 'x' } }, labels));
});

test('expressions', () => {
  const one = (key: string, operator: string, values?: readonly string[]): boolean =>
    selectorMatches({ matchExpressions: [{ key, operator, ...(values && { values }) }] }, labels);
  assert.deepEqual([one('app', 'In', ['web', 'db']), one('app', 'In', ['db']), one('zone', 'In', ['a'])], [true, false, false]);
  assert.deepEqual([one('app', 'NotIn', ['web']), one('app', 'NotIn', ['db']), one('zone', 'NotIn', ['a'])], [false, true, true]);
  assert.deepEqual([one('app', 'Exists'), one('zone', 'Exists')], [true, false]);
  assert.deepEqual([one('app', 'DoesNotExist'), one('zone', 'DoesNotExist')], [false, true]);
  assert.deepEqual([one('app', 'Like', ['w']), one('toString', 'Exists')], [false, false]);
});

test('problems', () => {
  const problem = (operator: string, values?: readonly string[]): string | undefined =>
    selectorProblem({ matchExpressions: [{ key: 'app', operator, ...(values && { values }) }] });
  assert.equal(problem('In', ['a']), undefined);
  assert.equal(problem('Exists'), undefined);
  assert.match(problem('In') ?? '', /no values/);
  assert.match(problem('DoesNotExist', ['a']) ?? '', /does not compare/);
  assert.match(problem('Gt', ['1']) ?? '', /operator "Gt"/);
});
