/** The Northbound writer on a cluster of three ovsdb-servers; the leader is killed during a transaction. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { RowOwner, Output } from '../compile/output.ts';
import { rowId } from '../nb/row-id.ts';
import { insert, newUuid } from '../ovsdb/index.ts';
import { OvsdbCluster } from '../ovsdb/testing/ovsdb-cluster.ts';
import { until } from '../testing/until.ts';
import { WriterProcess } from './testing/writer-process.ts';

const run = promisify(execFile);
const owner: RowOwner = { kind: 'subnet', namespace: '', name: 's1', uid: 'uid-1', created: '2026-01-01T00:00:00Z' };
const ls = rowId('Logical_Switch', 's1');
const group = rowId('Port_Group', 'g1');

/** A switch, and ports in it that are also in a group; each is three changes which belong together. */
function ports(count: number): readonly Output[] {
  return [
    { kind: 'row', id: ls, owner, rule: 'test', columns: { name: 's1' } },
    { kind: 'row', id: group, owner, rule: 'test', columns: { name: 'g1' } },
    ...Array.from({ length: count }, (_, at): readonly Output[] => {
      const name = `p${at}`;
      const id = rowId('Logical_Switch_Port', name);
      return [
        {
          kind: 'row',
          id,
          owner,
          rule: 'test',
          parent: { id: ls, column: 'ports' },
          columns: { name, addresses: [`00:00:00:00:00:01 10.0.0.${at}`], type: '' },
        },
        { kind: 'member', row: group, column: 'ports', member: { ref: id } },
      ];
    }).flat(),
  ];
}

test('a leader killed during commits, again and again: no row is doubled or lost, no foreign row is touched', async (t) => {
  const cluster = await OvsdbCluster.start();
  t.after(() => cluster.stop());
  const kiln = await new WriterProcess(cluster.endpoints).start();
  t.after(() => kiln.close());
  const foreign = await kiln.session.transact([insert('Logical_Switch', { name: 'of another program' }, newUuid())]);
  assert.ok(foreign.ok);
  let wanted = 0;
  for (let round = 0; round < 4; round++) {
    wanted += 40;
    let leader = await cluster.leader();
    // On a loaded machine the leadership moves by itself, and the session follows.
    await until('the session is at the leader', async () => {
      leader = await cluster.leader();
      return kiln.session.state === 'synced' && kiln.session.endpoint === leader.unix;
    });
    const followers = cluster.members.filter((member) => member !== leader);
    // Without a majority the leader accepts a transaction and cannot commit it: its outcome is unknown when the leader dies.
    for (const follower of followers) follower.pause();
    const done = kiln.want(ports(wanted));
    await until('a transaction is under way', () => kiln.writer.inFlight);
    await sleep(round * 15);
    await leader.kill();
    for (const follower of followers) follower.resume();
    await done;
    await leader.restart();
  }
  await kiln.want(ports((wanted -= 30)));
  const unknown = kiln.reports.filter(({ error }) => error?.outcome === 'unknown').length;
  assert.ok(unknown >= 3, `${unknown} transactions had an unknown outcome`);
  assert.equal(kiln.deposed, false);

  const names = Array.from({ length: wanted }, (_, at) => `p${at}`).toSorted();
  const { unix } = await cluster.leader();
  const nbctl = async (...args: string[]): Promise<string[]> =>
    (await run('ovn-nbctl', ['--no-leader-only', `--db=${unix}`, '--bare', ...args])).stdout.split(/\s+/).filter((word) => word !== '');
  assert.deepEqual((await nbctl('--columns=name', 'list', 'Logical_Switch_Port')).toSorted(), names);
  assert.equal((await nbctl('--columns=ports', 'list', 'Logical_Switch', 's1')).length, wanted);
  assert.equal((await nbctl('--columns=ports', 'list', 'Port_Group', 'g1')).length, wanted);
  assert.deepEqual(await nbctl('--columns=name', 'find', 'Logical_Switch', 'name="of another program"'), ['of', 'another', 'program']);
});
