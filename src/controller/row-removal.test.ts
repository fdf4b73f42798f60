/** What `kiln uninstall` removes from the database, against a real ovsdb-server. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { NeighbourPattern } from '../nb/neighbours.ts';
import { monitoredColumns } from '../nb/tables.ts';
import { OvsdbSession } from '../ovsdb/index.ts';
import { OvsdbServerProcess } from '../ovsdb/testing/ovsdb-server-process.ts';
import { RowRemoval } from './row-removal.ts';

let server: OvsdbServerProcess;
before(async () => {
  server = await OvsdbServerProcess.start();
});
after(() => server.stop());

async function removeAll(neighbours: readonly NeighbourPattern[]): Promise<readonly string[]> {
  const tables = monitoredColumns();
  const session = new OvsdbSession({ endpoints: [server.unix], database: 'OVN_Northbound', tables, leaderOnly: false });
  await using removal = new RowRemoval({ session, mayWrite: () => true, neighbours });
  await removal.read(10_000);
  return (await removal.removeAll(0, 10_000)).why;
}

test('a row that only a pattern of neighbours tells from the rows of Kube-OVN stays, with the switch of Kiln that it is in', async () => {
  const keys = ['external_ids:vendor=kube-ovn', 'external_ids:"kiln.io/owner"="subnet//s1"', 'external_ids:"kiln.io/uid"=u'];
  await server.nbctl('ls-add', 's1', '--', 'set', 'Logical_Switch', 's1', ...keys);
  await server.nbctl('lsp-add', 's1', 'lb-1', '--', 'set', 'Logical_Switch_Port', 'lb-1', 'external_ids:vendor=kube-ovn');
  const [why = '', ...more] = await removeAll([{ name: 'octavia', names: '^lb-' }]);
  assert.match(why, /Logical_Switch s1 is no longer needed, but Logical_Switch_Port lb-1 in it belongs to octavia; Kiln waits/);
  assert.deepEqual(more, []);
  assert.match(await server.nbctl('lsp-list', 's1'), /lb-1/);
  assert.deepEqual(await removeAll([]), []);
  assert.equal(await server.nbctl('ls-list'), '');
});
