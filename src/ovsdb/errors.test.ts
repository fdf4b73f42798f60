import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OvsdbError } from './index.ts';
import { readServerError, toOvsdbError } from './errors.ts';

test('a bare string is read as an error', () => {
  assert.deepEqual(readServerError('unknown database'), { code: 'OVSDB_UNKNOWN_DATABASE', error: 'unknown database', details: undefined });
  assert.equal(readServerError(7).code, 'OVSDB_SERVER_ERROR');
});

test("the texts of the client's own codes are not taken for error strings of a server", () => {
  assert.equal(readServerError({ error: 'the session was closed' }).code, 'OVSDB_SERVER_ERROR');
});

test('a thrown value is wrapped once', () => {
  const error = new OvsdbError('OVSDB_PROTOCOL', 'x');
  assert.equal(toOvsdbError(error, 'OVSDB_BAD_VALUE'), error);
  const cause = new RangeError('y');
  const wrapped = toOvsdbError(cause, 'OVSDB_BAD_VALUE');
  assert.deepEqual([wrapped.code, wrapped.message, wrapped.cause], ['OVSDB_BAD_VALUE', 'y', cause]);
});
