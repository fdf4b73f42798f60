import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { firstRead } from './first-read.ts';
import { OvsdbSession } from './session.ts';
import { OvsdbCluster } from './testing/ovsdb-cluster.ts';
import type { OvsdbServerProcess } from './testing/ovsdb-server-process.ts';

let cluster: OvsdbCluster;
before(async () => (cluster = await OvsdbCluster.start()));
after(() => cluster.stop());

async function membersByOffice(): Promise<{ leader: OvsdbServerProcess; followers: readonly OvsdbServerProcess[] }> {
  const leader = await cluster.leader();
  return { leader, followers: cluster.members.filter((member) => member !== leader) };
}

async function read(endpoints: readonly string[], timeoutMs = 20_000): Promise<number> {
  const session = new OvsdbSession({ endpoints, database: 'OVN_Northbound', tables: { NB_Global: 'all' }, leaderOnly: true });
  try {
    await firstRead(session, timeoutMs);
    return session.generation;
  } finally {
    await session.close();
  }
}

test('the leader is read, at any position among the endpoints', async () => {
  const { leader, followers } = await membersByOffice();
  assert.equal(await read([...followers, leader].map(({ unix }) => unix)), 1);
});

test('a member that does not answer is no failure while another one leads', async () => {
  const { leader } = await membersByOffice();
  assert.equal(await read(['unix:/nowhere/at/all', leader.unix]), 1);
});

test('without a leader each endpoint is tried once, and the most specific error is reported', async () => {
  const { followers } = await membersByOffice();
  await assert.rejects(read(['unix:/nowhere/at/all', ...followers.map(({ unix }) => unix)]), { code: 'OVSDB_CONNECT_FAILED' });
  await assert.rejects(read(followers.map(({ unix }) => unix)), { code: 'OVSDB_NOT_LEADER' });
});

test('a server that sends nothing is given up after the timeout', async (t) => {
  const path = join(mkdtempSync(join(tmpdir(), 'ovsdb-')), 'silent.sock');
  const silent = createServer((socket) => void socket.resume());
  await new Promise<void>((done) => silent.listen(path, done));
  t.after(() => silent.close());
  await assert.rejects(read([`unix:${path}`], 300), { code: 'OVSDB_CONNECT_TIMEOUT', message: /sent no contents in 0\.3 s/ });
});
