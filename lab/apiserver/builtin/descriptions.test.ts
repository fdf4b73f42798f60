import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describedFields, descriptionOf } from './descriptions.ts';
import { builtinSchema } from './types.ts';

test('only existing fields are described', () => {
  for (const [type, field] of describedFields())
    assert.ok(field === '' || builtinSchema(type).properties?.has(field) === true, `${type}.${field}`);
});

test('the fields of every object are described wherever they are, and nowhere else', () => {
  assert.equal(descriptionOf('Lease', 'kind'), 'What this object is.');
  assert.equal(descriptionOf('RbacV1Subject', 'kind'), undefined, 'that is the kind of somebody else');
  assert.equal(descriptionOf('Pod', 'status'), 'What became of it, told by the kubelet.');
});
