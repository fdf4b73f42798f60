import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import type { Fields, Log } from '../../runtime/log.ts';
import { SILENT } from '../../runtime/log.ts';
import { SharedLog } from './shared-log.ts';

function lines(): { readonly log: Log; readonly logged: { readonly message: string; readonly fields: Fields }[] } {
  const logged: { readonly message: string; readonly fields: Fields }[] = [];
  return { logged, log: { ...SILENT, warn: (message, fields = {}) => void logged.push({ message, fields }) } };
}

test('a namespace with very many rejected writes has a limited number of lines, and another one has its own', () => {
  const { log, logged } = lines();
  const clock = new ManualClock();
  const shared = new SharedLog(log, clock);
  for (let second = 0; second < 60; second++) {
    for (let n = 0; n < 258; n++) shared.of('flood').warn('write rejected', { name: `pod-${n}` });
    clock.advance(1_000);
  }
  const flood = logged.length;
  assert.ok(flood >= 50 && flood <= 50 + 31, `${flood} lines in a minute`);
  shared.of('quiet').warn('write rejected', { name: 'web' });
  assert.deepEqual(logged.at(-1), { message: 'write rejected', fields: { name: 'web' } });
  clock.advance(2_000);
  shared.of('flood').warn('write rejected');
  const suppressed = logged.reduce((sum, { fields }) => sum + Number(fields['suppressed'] ?? 0), 0);
  assert.equal(suppressed + flood, 60 * 258, 'suppressed lines are counted');
});

test('a text of a line is cut', () => {
  const { log, logged } = lines();
  new SharedLog(log, new ManualClock()).of('shop').warn('write rejected', { name: 'web', error: 'x'.repeat(256_000) });
  assert.equal(logged[0]?.fields['name'], 'web');
  assert.equal(String(logged[0]?.fields['error']).length, 2_001);
});
