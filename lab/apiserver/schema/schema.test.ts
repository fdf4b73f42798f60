import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../json.ts';
import { parseJson } from '../json.ts';
import { applyDefaults } from './default.ts';
import { prune } from './prune.ts';
import { readSchema } from './schema.ts';
import { validate } from './validate.ts';

function faults(schema: JsonObject, value: Json): string[] {
  return validate(readSchema(schema), value).map((error) => `${error.field}: ${error.message}`);
}

test('combinations', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    oneOf: [{ required: ['a'] }, { required: ['b'] }],
  };
  assert.deepEqual(faults(schema, { a: 'x' }), []);
  assert.match(faults(schema, {})[0] ?? '', /must validate one and only one schema \(oneOf\)\. Found none valid/);
  assert.match(faults(schema, { a: 'x', b: 'x' })[0] ?? '', /Found 2 valid alternatives/);
  assert.match(faults({ type: 'object', anyOf: [{ required: ['a'] }] }, {})[0] ?? '', /anyOf/);
  assert.match(faults({ type: 'object', not: { required: ['a'] } }, { a: 1 })[0] ?? '', /must not validate the schema \(not\)/);
});

test('integers of 64 bits are integers, larger ones are not', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer', format: 'int64' }, f: { type: 'number' } } };
  assert.deepEqual(faults(schema, parseJson('{"n":9223372036854775807,"f":18446744073709551614}')), []);
  assert.deepEqual(faults(schema, parseJson('{"n":9223372036854775808}')).length > 0, true);
});

test('the format of numbers is not checked, and a tiny fraction counts as an integer', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer', format: 'int32' } } };
  for (const taken of ['2147483648', '-2147483649', '9007199254740993', '123456789.123456789', '2.0'])
    assert.deepEqual(faults(schema, parseJson(`{"n":${taken}}`)), [], taken);
  for (const refused of ['1234567.123456789', '0.5', '1e-12', '1e30'])
    assert.equal(faults(schema, parseJson(`{"n":${refused}}`)).length, 1, refused);
});

test('sets and maps have a key once', () => {
  assert.deepEqual(faults({ type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } }, ['a', 'a']), [
    '[1]: Duplicate value: "a"',
  ]);
  const map = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', properties: { k: { type: 'string' } } },
  };
  assert.deepEqual(faults(map, [{ k: 'a' }, { k: 'b' }]), []);
  assert.deepEqual(faults(map, [{ k: 'a' }, { k: 'a' }]), ['[1]: Duplicate value: {"k":"a"}']);
});

test('pruning names what it drops, and keeps what the schema preserves', () => {
  const schema = readSchema({
    type: 'object',
    properties: {
      keep: { type: 'array', items: { type: 'object', properties: { a: {} } } },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: { type: 'object' } } },
    },
  });
  const value: Json = { keep: [{ a: 1, b: 2 }], free: { any: 1, known: { gone: 1 } }, other: 1 };
  assert.deepEqual(prune(schema, value).sort(), ['free.known.gone', 'keep[0].b', 'other']);
  assert.deepEqual(value, { keep: [{ a: 1 }], free: { any: 1, known: {} } });
});

test('defaults reach into defaults', () => {
  const schema = readSchema({
    type: 'object',
    properties: { a: { type: 'object', default: {}, properties: { b: { type: 'integer', default: 3 } } } },
  });
  const value: Json = {};
  applyDefaults(schema, value);
  assert.deepEqual(value, { a: { b: 3 } });
});
