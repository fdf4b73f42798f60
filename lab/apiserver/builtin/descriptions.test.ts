import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describedFields, descriptionOf } from './descriptions.ts';
import { builtinSchema } from './types.ts';

test('only existing fields are described', () => {
  for (const [type, field] of describedFields())
    assert.ok(field === '' || builtinSchema(type).properties?.has(field) === true, `${type}.${field}`);
});

test('the fields of every object are described wherever they are, and nowhere else', () => {
  assert.equal(descriptionOf('Lease', 'kind'), 'Kind of the object.');
  assert.equal(descriptionOf('RbacV1Subject', 'kind'), undefined, 'kind of a subject, not of the object');
  assert.equal(descriptionOf('Pod', 'status'), 'Observed state of the pod, written by the kubelet.');
});
