import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OvsdbError, OvsdbSession } from '../../ovsdb/index.ts';
import type { SessionState } from '../../ovsdb/index.ts';
import { OvsdbServerProcess } from '../../ovsdb/testing/ovsdb-server-process.ts';
import { until } from '../../testing/until.ts';
import { systemClock } from '../../timing/clock.ts';
import { SILENT } from '../../runtime/log.ts';
import { NorthboundLoss } from './northbound-loss.ts';

test('the reason of a lost connection is known until the next sync', async (t) => {
  const server = await OvsdbServerProcess.start();
  t.after(() => server.stop());
  const session = new OvsdbSession({ endpoints: [server.unix], database: 'OVN_Northbound', tables: { NB_Global: 'all' } });
  t.after(() => session.close());
  const loss = new NorthboundLoss(session, SILENT, systemClock);
  session.start();
  await session.untilSynced();
  assert.equal(loss.reason, undefined);
  await server.kill();
  await until('it is lost', () => loss.reason?.startsWith('OVSDB_CONNECT_FAILED: cannot connect to unix:') === true);
  await server.restart();
  await session.untilSynced();
  assert.equal(loss.reason, undefined);
});

test('the answer of a member that does not lead does not hide the error of another', () => {
  let fail: (error: OvsdbError) => void = assert.fail;
  let turn: (state: SessionState) => void = assert.fail;
  const loss = new NorthboundLoss(
    {
      onError: (listener) => ((fail = listener), () => undefined),
      onState: (listener) => ((turn = listener), () => undefined),
    },
    SILENT,
    systemClock,
  );
  fail(new OvsdbError('OVSDB_NOT_LEADER', 'a: it is not the leader'));
  assert.equal(loss.reason, 'OVSDB_NOT_LEADER: a: it is not the leader');
  fail(new OvsdbError('OVSDB_STALE_SERVER', 'b: it is behind'));
  fail(new OvsdbError('OVSDB_NOT_LEADER', 'a: it is not the leader'));
  assert.equal(loss.reason, 'OVSDB_STALE_SERVER: b: it is behind');
  turn('stale');
  assert.notEqual(loss.reason, undefined);
  turn('synced');
  assert.equal(loss.reason, undefined);
});
