/** A real `ovsdb-server relay:` between the session and the database, whose connection to it is lost. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../testing/until.ts';
import { insert, newUuid } from './index.ts';
import { commit, openSession } from './testing/open-session.ts';
import { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';
import { TamperingProxy } from './testing/tampering-proxy.ts';

/** @returns its endpoint */
async function relayOf(t: TestContext, source: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ovsdb-relay-'));
  const endpoint = `punix:${join(directory, 'relay.sock')}`;
  const quiet = ['-vconsole:off', '-vsyslog:off', '-vfile:off', `--unixctl=${join(directory, 'ctl')}`];
  const child = spawn('ovsdb-server', [...quiet, `--remote=${endpoint}`, `relay:OVN_Northbound:${source}`], { stdio: 'ignore' });
  t.after(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await rm(directory, { recursive: true, force: true });
  });
  return endpoint.slice(1);
}

for (const [what, arrives] of [
  ['before the source had it', false],
  ['after the source had committed it', true],
] as const)
  test(`a transaction that a relay cancels ${what} may have taken effect, and the session reads again`, async (t) => {
    const server = await OvsdbServerProcess.start();
    t.after(() => server.stop());
    const source = await TamperingProxy.start(server.unix);
    t.after(() => source.stop());
    const { session, errors } = openSession(t, [await relayOf(t, source.endpoint)]);
    await session.untilSynced();
    await commit(session, [insert('Logical_Switch', { name: 'before' }, newUuid())]);

    let sent = false;
    source.onClientMessage = ({ method }) => {
      if (method !== 'transact') return 'pass';
      sent = true;
      return arrives ? 'pass' : 'swallow';
    };
    source.onServerMessage = () => (sent ? 'swallow' : 'pass');
    const uuid = newUuid();
    const transaction = session.transact([insert('Logical_Switch', { name: 'in doubt' }, uuid)]);
    const { session: direct } = openSession(t, [server.unix]);
    await until('the relay has sent it on, and the source has what it was sent', () =>
      arrives ? direct.replica.table('Logical_Switch').has(uuid) : sent,
    );
    source.onClientMessage = source.onServerMessage = () => 'pass';
    source.disconnectAll();

    const outcome = await transaction;
    assert.ok(!outcome.ok);
    assert.deepEqual([outcome.error.code, outcome.error.outcome], ['OVSDB_CANCELED', 'unknown']);
    assert.match(outcome.error.message, /^the transaction may have taken effect: the server canceled it/);
    await until('the connection was given up', () => errors.some(({ code }) => code === 'OVSDB_CANCELED'));
    await session.untilSynced();
    await until('what took effect is there', () => session.replica.table('Logical_Switch').has(uuid) === arrives);
    if (!arrives) await commit(session, [insert('Logical_Switch', { name: 'in doubt' }, uuid)]);
    assert.ok(session.replica.table('Logical_Switch').has(uuid));
  });
