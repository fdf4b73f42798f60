import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateRules } from './rules.ts';
import { readSchema } from './schema.ts';

test('a broken rule names its field and its message', () => {
  const schema = readSchema({
    type: 'object',
    properties: {
      name: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'name is immutable' }] },
      n: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1' }] },
    },
  });
  assert.deepEqual(validateRules(schema, { name: 'a', n: 2 }, undefined), []);
  assert.deepEqual(validateRules(schema, { name: 'b', n: 2 }, { name: 'a', n: 2 }), [
    { type: 'Invalid', field: 'name', message: 'Invalid value: "string": name is immutable' },
  ]);
  assert.deepEqual(validateRules(schema, { n: 1 }, undefined), [
    { type: 'Invalid', field: 'n', message: 'Invalid value: "integer": failed rule: self > 1' },
  ]);
  const whole = readSchema({ type: 'object', 'x-kubernetes-validations': [{ rule: 'self.a == 1', reason: 'FieldValueForbidden' }] });
  assert.deepEqual(
    validateRules(whole, {}, undefined).map(({ type, field }) => [type, field]),
    [['Forbidden', '<nil>']],
  );
});
