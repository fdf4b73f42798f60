import assert from 'node:assert/strict';
import { test } from 'node:test';
import { humanDuration } from './duration.ts';
import { equal, parseJson } from './json.ts';
import { compileJsonPath } from './jsonpath.ts';

test('ages', () => {
  const second = 1000;
  const [minute, hour, day] = [60 * second, 3600 * second, 86400 * second];
  const cases: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [3 * minute + 20 * second, '3m20s'],
    [10 * minute + 5 * second, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [47 * hour, '47h'],
    [49 * hour, '2d1h'],
    [9 * day, '9d'],
    [729 * day, '729d'],
    [800 * day, '2y70d'],
    [9 * 365 * day, '9y'],
    [-5 * second, '<invalid>'],
  ];
  for (const [milliseconds, shown] of cases) assert.equal(humanDuration(milliseconds), shown);
});

test('numbers are read as they were written', () => {
  for (const text of ['{"a":9007199254740993}', '{"a":-9223372036854775808}', '[1,2.5,"9007199254740993"]'])
    assert.equal(JSON.stringify(parseJson(text)), text);
  assert.equal(JSON.stringify(parseJson('{"a":18446744073709551614}')), '{"a":18446744073709552000}');
  assert.ok(equal(parseJson('[9007199254740993]'), parseJson('[9007199254740993]')));
  assert.ok(!equal(parseJson('[9007199254740993]'), parseJson('[9007199254740992]')));
});

test('printer column paths', () => {
  const object = {
    status: {
      conditions: [
        { type: 'A', status: 'False' },
        { type: 'Ready', status: 'True' },
      ],
      list: ['x', 'y'],
    },
    metadata: { annotations: { 'a.b/c': 'd' } },
  };
  const read = (path: string): unknown => compileJsonPath(path)?.(object);
  assert.deepEqual(read('.status.conditions[?(@.type=="Ready")].status'), ['True']);
  assert.deepEqual(read(".status.conditions[?(@.type != 'Ready')].status"), ['False']);
  assert.deepEqual(read('.status.list[*]'), ['x', 'y']);
  assert.deepEqual(read('.status.list[-1]'), ['y']);
  assert.deepEqual(read('.metadata.annotations.a\\.b/c'), ['d']);
  assert.deepEqual(read(".metadata.annotations['a.b/c']"), ['d']);
  assert.deepEqual(read('.nothing.here'), []);
  assert.equal(read('.status[('), undefined);
});
