import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrongFields } from './finding.ts';

test('a wrong field makes the item of a list wrong that it is in, and no other', () => {
  const fields = ['spec.acls[2].match', 'spec.acls[12]', 'spec.mtu'];
  const wrong = wrongFields(fields.map((field) => ({ field })));
  for (const field of [...fields, 'spec.acls[2]']) assert.ok(wrong.has(field), field);
  for (const field of ['spec.acls[1]', 'spec.acls[12].match', 'spec.acls']) assert.ok(!wrong.has(field), field);
});
