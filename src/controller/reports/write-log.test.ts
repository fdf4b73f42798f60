import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../kube/testing/manual-clock.ts';
import { OvsdbError } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';
import { SILENT } from '../../runtime/log.ts';
import { NorthboundRefusals } from '../outages/northbound-refusals.ts';
import { logTransaction } from './write-log.ts';

test('a transaction that OVN refused, and one that nobody knows the end of, are told apart', () => {
  const lines: string[] = [];
  const log: Log = { ...SILENT, warn: (message) => void lines.push(message) };
  const report = { ok: false, rows: 1, operations: 2, counts: {} } as const;
  const refusal = new OvsdbError('OVSDB_CONSTRAINT_VIOLATION', 'Transaction causes multiple rows', { outcome: 'rejected' });
  const refusals = new NorthboundRefusals(log, new ManualClock());
  logTransaction(log, refusals, { ...report, error: refusal });
  logTransaction(log, refusals, {
    ...report,
    error: new OvsdbError('OVSDB_DISCONNECTED', 'the server closed the connection', { outcome: 'unknown' }),
  });
  assert.deepEqual(lines, ['transaction refused', 'transaction without an answer']);
});

test('a database that refuses everything is two lines, however often it is asked', () => {
  const lines: string[] = [];
  const line = (message: string): void => void lines.push(message);
  const log: Log = { ...SILENT, info: line, warn: line, error: line };
  const clock = new ManualClock();
  const refusals = new NorthboundRefusals(log, clock);
  const report = { rows: 1, operations: 2, counts: {} } as const;
  const details = 'db: write failed: No space left on device';
  const full = new OvsdbError('OVSDB_IO_ERROR', 'the commit failed', { outcome: 'rejected', serverError: 'I/O error', details });
  for (let at = 0; at < 5; at++) logTransaction(log, refusals, { ...report, ok: false, error: full });
  assert.equal(refusals.reason, `I/O error: ${details}`);
  logTransaction(log, refusals, { ...report, ok: true });
  logTransaction(log, refusals, { ...report, ok: true });
  assert.equal(refusals.reason, undefined);
  assert.deepEqual(lines, [
    'the Northbound database refuses every transaction; each is sent again until it takes one',
    'the Northbound database carries out transactions again',
  ]);
});
