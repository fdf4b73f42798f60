import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restored, withRecord } from './settings-before.ts';

test('what a key was before is recorded once, and restored', () => {
  const first = withRecord(new Map([['system-id', 'a']]), { 'system-id': 'b', 'ovn-remote': 'tcp:1' });
  const present = new Map(Object.entries({ hostname: 'h', ...first }));
  const again = new Map([...present, ...Object.entries(withRecord(present, { 'ovn-remote': 'tcp:2', 'ovn-encap-ip': '192.0.2.1' }))]);
  assert.deepEqual(restored(again), { set: { 'system-id': 'a' }, unset: ['ovn-remote', 'ovn-encap-ip', 'kiln.io/before'] });
});

test('without a record nothing is restored; one that was written by hand and cannot be read is only removed', () => {
  assert.deepEqual(restored(new Map([['system-id', 'a']])), { set: {}, unset: [] });
  for (const text of ['{', '7', '{"system-id":7}'])
    assert.deepEqual(restored(new Map([['kiln.io/before', text]])), { set: {}, unset: ['kiln.io/before'] });
});
