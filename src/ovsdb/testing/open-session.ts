import type { TestContext } from 'node:test';
import type { RowChange } from '../row-change.ts';
import { OvsdbSession } from '../session.ts';
import type { OvsdbOptions } from '../session-options.ts';
import type { OvsdbError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import type { OperationResult } from '../transaction.ts';

export interface OpenedSession {
  readonly session: OvsdbSession;
  /** All batches so far. */
  readonly batches: (readonly RowChange[])[];
  readonly errors: OvsdbError[];
}

/** The tables of OVN's Northbound database that the tests of this folder use. */
export const testTables = {
  Logical_Switch: 'all',
  Logical_Switch_Port: 'all',
  Logical_Router: 'all',
  Load_Balancer: 'all',
  NB_Global: 'all',
  Meter: 'all',
  Meter_Band: 'all',
  QoS: 'all',
} as const;

/** Starts a session that ends with the test, with short durations. */
export function openSession(t: TestContext, endpoints: readonly string[], options: Partial<OvsdbOptions> = {}): OpenedSession {
  const session = new OvsdbSession({
    endpoints,
    database: 'OVN_Northbound',
    tables: testTables,
    backoff: { baseMs: 20, maxMs: 200 },
    ...options,
  });
  const batches: (readonly RowChange[])[] = [];
  const errors: OvsdbError[] = [];
  session.onChanges((batch) => batches.push(batch));
  session.onError((error) => errors.push(error));
  session.start();
  t.after(() => session.close());
  return { session, batches, errors };
}

/** The results of a transaction that has to succeed. @throws {OvsdbError} */
export async function commit(session: OvsdbSession, operations: readonly Operation[]): Promise<readonly OperationResult[]> {
  const outcome = await session.transact(operations);
  if (!outcome.ok) throw outcome.error;
  return outcome.results;
}
