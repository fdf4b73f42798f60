/** The journal at the edge of the Northbound writer, and the undo of what it has, against a real ovsdb-server. */
import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Output } from '../compile/output.ts';
import { FileJournal } from '../journal/file-journal.ts';
import { readJournal } from '../journal/read-journal.ts';
import { selectedChanges } from '../journal/selection.ts';
import { undoPlan } from '../journal/undo-plan.ts';
import { rowJson } from '../journal/row-json.ts';
import { ownerText } from '../nb/ownership.ts';
import { rowId } from '../nb/row-id.ts';
import { OvsdbServerProcess } from '../ovsdb/testing/ovsdb-server-process.ts';
import { until } from '../testing/until.ts';
import { systemClock } from '../timing/clock.ts';
import { undoTransaction } from './undo-transaction.ts';
import { difference, dumpOf, group, network, plan, presentOf, subnet, undo, vpc } from './testing/journaled-network.ts';
import { rowsOf } from './testing/shared-northbound.ts';
import { WriterProcess } from './testing/writer-process.ts';

let server: OvsdbServerProcess;
let directory: string;
before(async () => {
  server = await OvsdbServerProcess.start();
  directory = await mkdtemp(join(tmpdir(), 'kiln-journal-'));
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

test('an undo of a deletion in several transactions restores the very same database, and the rows are held until their owner is back', async () => {
  const own = join(directory, 'many');
  const journal = new FileJournal({ directory: own, clock: systemClock, writer: 'a' });
  await using kiln = await new WriterProcess(server, undefined, journal).start();
  const { kept, lost } = network(2_500);
  await kiln.want([...kept, ...lost]);
  // A column that Kiln never writes.
  await server.nbctl('--id=@d', 'create', 'DNS', 'records={a=10.0.0.1}', '--', 'add', 'Logical_Switch', 's1', 'dns_records', '@d');
  await kiln.seen();
  const rows = kiln.world.rows.owned.size;
  const before = await dumpOf(server);
  assert.ok(rows > 2_500);
  await kiln.want(kept);
  assert.equal(kiln.world.rows.owned.size, 1, 'all but the group are gone');
  const planned = await undo(kiln, own);
  assert.equal(planned.rows.length, rows - 1);
  assert.deepEqual([planned.contradictions, planned.lost, planned.left], [[], [], []]);
  assert.deepEqual(difference(before, await dumpOf(server)), []);
  assert.equal(kiln.world.rows.owned.size, rows, 'the collection leaves them');
  assert.equal(kiln.writer.restoredRows > 2_500, true);
  assert.deepEqual(kiln.drifted, [], 'a row that stays is not reported as one that Kiln removes');
  assert.equal((await plan(kiln, own)).rows.length, 0, 'twice restores nothing');
  kiln.owners.add(ownerText(subnet));
  await until('the rows of the owner that is back are collected, since it does not ask for them', () => kiln.world.rows.owned.size < 10);
  kiln.owners.add(ownerText(vpc));
  await kiln.want([]);
  await until('all is gone', () => kiln.world.rows.owned.size === 0);
});

test('a restored row that is held is not deleted with the row that it is in, whose owner is back, until it is let go', async () => {
  const own = join(directory, 'inside');
  const journal = new FileJournal({ directory: own, clock: systemClock, writer: 'i' });
  await using kiln = await new WriterProcess(server, undefined, journal).start();
  const home = rowId('Logical_Switch', 's2');
  const port = rowId('Logical_Switch_Port', 'held');
  await kiln.want([rowsOf(vpc)(home, { name: 's2' }), rowsOf(subnet)(port, { name: 'held' }, { id: home, column: 'ports' })]);
  await kiln.want([]);
  assert.equal(await server.nbctl('ls-list'), '');
  await undo(kiln, own);
  kiln.owners.add(ownerText(vpc));
  kiln.writer.examineAll();
  await kiln.want([]);
  assert.match(await server.nbctl('lsp-list', 's2'), /held/, 'nothing asks for the switch, but the port in it is held');
  // A person decides otherwise twice: lets go of it, and holds it again by a second undo.
  kiln.leads = false;
  await server.nbctl('set', 'Logical_Switch_Port', 'held', 'external_ids:kiln.io/let-go=true');
  await kiln.seen();
  const again = await plan(kiln, own);
  const [global] = kiln.session.replica.table('NB_Global').values();
  assert.ok((await kiln.session.transact(undoTransaction(again, global))).ok);
  await kiln.seen();
  assert.deepEqual(
    [again.rows, again.contradictions, again.values.map(({ key, value }) => [key, value])],
    [[], [], [['kiln.io/let-go', null]]],
  );
  assert.doesNotMatch(await server.nbctl('get', 'Logical_Switch_Port', 'held', 'external_ids'), /let-go/);
  kiln.leads = true;
  kiln.writer.examineAll();
  await kiln.want([]);
  assert.match(await server.nbctl('lsp-list', 's2'), /held/);
  await server.nbctl('set', 'Logical_Switch_Port', 'held', 'external_ids:kiln.io/let-go=true');
  await until('both are gone', async () => (await server.nbctl('ls-list')) === '');
});

test('while the journal cannot be written rows are created and changed, and none is deleted; then the deletions go on', async () => {
  const own = join(directory, 'full');
  const journal = new FileJournal({
    directory: own,
    clock: { ...systemClock, setTimeout: (run_, ms) => setTimeout(run_, ms / 50) },
    writer: 'b',
  });
  await using kiln = await new WriterProcess(server, undefined, journal).start();
  const { kept, lost } = network(3);
  await kiln.want([...kept, ...lost]);
  await journal.begin();
  // As a disk that is full: neither the open file nor a new one can be written.
  await rename(own, `${own}-away`);
  await writeFile(own, '');
  const later = rowsOf(group)(rowId('Address_Set', 'later'), { name: 'later', addresses: ['10.1.1.1'] });
  await kiln.want([...kept, later]);
  await until('the journal failed', () => journal.failure !== undefined);
  assert.match(journal.failure ?? '', /EEXIST|ENOTDIR/);
  await kiln.want([...kept, rowsOf(group)(rowId('Address_Set', 'later'), { name: 'later', addresses: ['10.1.1.2'] })]);
  assert.equal(await server.nbctl('--bare', '--columns=addresses', 'list', 'Address_Set', 'later'), '10.1.1.2');
  assert.equal((await server.nbctl('lsp-list', 's1')).split('\n').length, 3);
  assert.ok(kiln.writer.waitingForJournal > 0 && journal.counts.missedRows > 0);
  await rm(own);
  await until('the switch is deleted', async () => (await server.nbctl('ls-list')) === '');
  const { transactions, problems } = await readJournal(own);
  assert.deepEqual(problems, []);
  const deleted = selectedChanges(transactions, { rows: new Set(['s1']) });
  assert.ok(deleted.length >= 5, 'the switch, its ports and its ACL');
  assert.ok(deleted.every(({ reason }) => ['unexplained', 'inside'].includes(reason)));
  await kiln.want([]);
});

test('an undo is refused where the present contradicts: another program has the name, a port has the address, the parent is gone', async () => {
  const own = join(directory, 'contradicted');
  const journal = new FileJournal({ directory: own, clock: systemClock, writer: 'c' });
  await using kiln = await new WriterProcess(server, undefined, journal).start();
  const { kept, lost } = network(2);
  await kiln.want([...kept, ...lost]);
  const switchAlone = lost.filter(({ id }: Output & { id?: unknown }) => !String(id).startsWith('Logical_Switch_Port/'));
  await kiln.want([...kept, ...switchAlone.filter((one) => one.kind === 'row')]);
  assert.equal(await server.nbctl('lsp-list', 's1'), '', 'the ports went first');
  await server.nbctl('lsp-add', 's1', 'other', '--', 'lsp-set-addresses', 'other', '0a:00:00:00:ff:ff 10.0.0.1');
  await kiln.seen();
  const taken = await plan(kiln, own);
  assert.deepEqual(
    taken.contradictions.map(({ why }) => why),
    ['its address 10.0.0.1 belongs to port other by now'],
  );
  await server.nbctl('lsp-del', 'other', '--', 'ls-add', 'elsewhere', '--', 'lsp-add', 'elsewhere', 'p0');
  await kiln.seen();
  assert.match((await plan(kiln, own)).contradictions[0]?.why ?? '', /exists again with other contents, and belongs to another program/);
  await server.nbctl('ls-del', 'elsewhere');
  await kiln.want([]);
  await until('all is gone', () => kiln.world.rows.owned.size === 0);
  const { transactions } = await readJournal(own);
  const ports = selectedChanges(transactions, { rows: new Set(['p0']) });
  const orphans = undoPlan(ports, presentOf(kiln));
  assert.deepEqual(
    orphans.contradictions.map(({ why }) => why),
    ['Logical_Switch s1, which it was in, does not exist, and is not restored with it'],
  );
  assert.equal(
    (await plan(kiln, own, new Set([ownerText(subnet), ownerText(vpc), ownerText(group)]))).rows.length,
    0,
    'the objects decide',
  );
});

test('an adoption is journaled, and an undo puts back what it overwrote once the object is gone', async () => {
  const own = join(directory, 'adopted');
  const journal = new FileJournal({ directory: own, clock: systemClock, writer: 'd' });
  await using kiln = await new WriterProcess(server, undefined, journal).start();
  await server.nbctl(
    'ls-add',
    'old',
    '--',
    'set',
    'Logical_Switch',
    'old',
    'external_ids:vendor=kube-ovn',
    'other_config:mcast_snoop=true',
  );
  await kiln.seen();
  const owner = { ...subnet, name: 'old' };
  await kiln.want([rowsOf(owner)(rowId('Logical_Switch', 'old'), { name: 'old', other_config: { mcast_snoop: 'false' } })]);
  assert.equal(await server.nbctl('get', 'Logical_Switch', 'old', 'other_config:mcast_snoop'), '"false"');
  const { transactions } = await readJournal(own);
  const [adopted] = selectedChanges(transactions, { rows: new Set(['old']) });
  assert.deepEqual(
    [adopted?.change, adopted?.reason, adopted?.keys?.['other_config']],
    ['overwrite', 'adopted', { mcast_snoop: ['true', 'false'] }],
  );
  const decided = await plan(kiln, own, new Set([ownerText(owner)]));
  assert.deepEqual(
    [decided.values, decided.left.map(({ why }) => why)],
    [[], ['subnet old exists and decides what is in it; change the object instead']],
  );
  const free = await plan(kiln, own);
  assert.deepEqual(free.values.map(({ column, key, value, now }) => [column, key, value, now]).slice(0, 1), [
    ['other_config', 'mcast_snoop', 'true', 'false'],
  ]);
  // Else it would be repaired before it is read.
  kiln.leads = false;
  await server.nbctl('set', 'Logical_Switch', 'old', 'other_config:mcast_snoop=maybe');
  await kiln.seen();
  assert.match((await plan(kiln, own)).contradictions[0]?.why ?? '', /mcast_snoop in its other_config was changed again since/);
  kiln.leads = true;
  await kiln.want([]);
});

test('an entry without an outcome may have taken effect: where it did not, there is nothing to restore', async () => {
  const own = join(directory, 'killed');
  const journal = new FileJournal({ directory: own, clock: systemClock, writer: 'e' });
  await using kiln = await new WriterProcess(server, undefined, journal).start();
  const { kept, lost } = network(1);
  await kiln.want([...kept, ...lost]);
  const [home] = kiln.world.rows.rowsOf(rowId('Logical_Switch', 's1'));
  assert.ok(home);
  // As a process that was killed between the journal and the database leaves it.
  const change = { kind: 'change', tx: '9.1', change: 'delete', table: home.table, id: home.id, uuid: home.uuid } as const;
  await journal.append([
    { kind: 'transaction', tx: '9.1', at: '2026-01-01T00:00:00Z', changes: 1 },
    { ...change, owner: ownerText(subnet), uid: subnet.uid, reason: 'unexplained', row: rowJson(home.row), references: [] },
  ]);
  const planned = await plan(kiln, own);
  assert.deepEqual([planned.rows, planned.present.map(({ why }) => why)], [[], ['is there with the same contents']]);
  await kiln.want([]);
});
