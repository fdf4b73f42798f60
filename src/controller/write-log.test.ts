import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OvsdbError } from '../ovsdb/index.ts';
import type { Log } from '../runtime/log.ts';
import { SILENT } from '../runtime/log.ts';
import { logTransaction } from './write-log.ts';

test('a transaction that OVN refused, and one that nobody knows the end of, are told apart', () => {
  const lines: string[] = [];
  const log: Log = { ...SILENT, warn: (message) => void lines.push(message) };
  const report = { ok: false, rows: 1, operations: 2, counts: {} } as const;
  const refusal = new OvsdbError('OVSDB_CONSTRAINT_VIOLATION', 'Transaction causes multiple rows', { outcome: 'rejected' });
  logTransaction(log, { ...report, error: refusal });
  logTransaction(log, {
    ...report,
    error: new OvsdbError('OVSDB_DISCONNECTED', 'the server closed the connection', { outcome: 'unknown' }),
  });
  assert.deepEqual(lines, ['transaction refused', 'transaction without an answer']);
});
