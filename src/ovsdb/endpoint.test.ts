import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEndpoint } from './endpoint.ts';

test('the notations of ovsdb(7)', () => {
  assert.deepEqual(parseEndpoint('unix:/run/ovn/ovnnb_db.sock'), {
    kind: 'unix',
    text: 'unix:/run/ovn/ovnnb_db.sock',
    path: '/run/ovn/ovnnb_db.sock',
  });
  assert.deepEqual(parseEndpoint('tcp:10.0.0.1:6641'), { kind: 'tcp', text: 'tcp:10.0.0.1:6641', host: '10.0.0.1', port: 6641 });
  assert.deepEqual(parseEndpoint('ssl:[fd00::1]:6641'), { kind: 'ssl', text: 'ssl:[fd00::1]:6641', host: 'fd00::1', port: 6641 });
  assert.deepEqual(parseEndpoint('tcp:nb.example'), { kind: 'tcp', text: 'tcp:nb.example', host: 'nb.example', port: 6640 });
});

for (const text of ['', 'unix:', 'tcp:', 'tcp::6641', 'tcp:fd00::1:6641', 'tcp:a:0', 'tcp:a:65536', 'http://a', 'ptcp:6641', 'tcp:[::1']) {
  test(`${JSON.stringify(text)} is rejected, by name`, () => {
    assert.throws(
      () => parseEndpoint(text),
      (error: Error & { code?: string }) => error.code === 'OVSDB_BAD_ENDPOINT' && error.message.includes(JSON.stringify(text)),
    );
  });
}
