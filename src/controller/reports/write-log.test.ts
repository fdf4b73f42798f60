import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { OvsdbError } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';
import { SILENT } from '../../runtime/log.ts';
import { NorthboundFailures } from '../outages/northbound-failures.ts';
import { logTransaction } from './write-log.ts';

test('a failed transaction and one with unknown outcome are different lines', () => {
  const lines: string[] = [];
  const log: Log = { ...SILENT, warn: (message) => void lines.push(message) };
  const report = { ok: false, rows: 1, operations: 2, counts: {} } as const;
  const failure = new OvsdbError('OVSDB_CONSTRAINT_VIOLATION', 'Transaction causes multiple rows', { outcome: 'rejected' });
  const northboundFailures = new NorthboundFailures(log, new ManualClock());
  logTransaction(log, northboundFailures, { ...report, error: failure });
  logTransaction(log, northboundFailures, {
    ...report,
    error: new OvsdbError('OVSDB_DISCONNECTED', 'the server closed the connection', { outcome: 'unknown' }),
  });
  assert.deepEqual(lines, ['transaction failed', 'transaction without an answer']);
});

test('a database that fails every transaction is two lines, however many are sent', () => {
  const lines: string[] = [];
  const line = (message: string): void => void lines.push(message);
  const log: Log = { ...SILENT, info: line, warn: line, error: line };
  const clock = new ManualClock();
  const northboundFailures = new NorthboundFailures(log, clock);
  const report = { rows: 1, operations: 2, counts: {} } as const;
  const details = 'db: write failed: No space left on device';
  const full = new OvsdbError('OVSDB_IO_ERROR', 'the commit failed', { outcome: 'rejected', serverError: 'I/O error', details });
  for (let at = 0; at < 5; at++) logTransaction(log, northboundFailures, { ...report, ok: false, error: full });
  assert.equal(northboundFailures.reason, `I/O error: ${details}`);
  logTransaction(log, northboundFailures, { ...report, ok: true });
  logTransaction(log, northboundFailures, { ...report, ok: true });
  assert.equal(northboundFailures.reason, undefined);
  assert.deepEqual(lines, [
    'the Northbound database fails every transaction; each is repeated until one succeeds',
    'the Northbound database accepts transactions again',
  ]);
});
