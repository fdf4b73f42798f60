import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RowOwner } from '../compile/output.ts';
import { rowId } from '../nb/row-id.ts';
import { OvsdbServerProcess } from '../ovsdb/testing/ovsdb-server-process.ts';
import { until } from '../testing/until.ts';
import { rowsOf } from './testing/shared-northbound.ts';
import { WriterProcess } from './testing/writer-process.ts';

const owner: RowOwner = { kind: 'subnet', namespace: '', name: 's1', uid: 'uid-1', created: '2026-01-01T00:00:00Z' };
const row = rowsOf(owner);
const switches = Array.from({ length: 6 }, (_, at) => row(rowId('Logical_Switch', `s${at}`), { name: `s${at}` }));

let server: OvsdbServerProcess;
before(async () => {
  server = await OvsdbServerProcess.start();
});
after(async () => {
  await server.stop();
});

test('on a full disk no row is set aside, transactions are tried now and then, and all is written when there is room', async () => {
  await using kiln = await new WriterProcess(server).start();
  await server.fillDisk();
  const wanted = kiln.want(switches);
  await until('three transactions failed', () => kiln.reports.length >= 3);
  assert.equal(await server.nbctl('ls-list'), '');
  for (const { error, setAside } of kiln.reports) {
    assert.equal(setAside, undefined);
    assert.equal(error?.code, 'OVSDB_IO_ERROR');
    assert.match(error?.message ?? '', /write failed; in: File too large/);
  }
  assert.equal(kiln.world.rowConflicts.size, 0);
  await server.emptyDisk();
  await wanted;
  assert.equal((await server.nbctl('ls-list')).split('\n').length, switches.length);
});

test('a term that cannot be written is reported', async () => {
  const errors: string[] = [];
  await using kiln = await new WriterProcess(server, (error) => errors.push(error.code)).start();
  await server.fillDisk();
  assert.equal(await kiln.fence.raise(0), false);
  assert.deepEqual(errors, ['OVSDB_IO_ERROR']);
  await server.emptyDisk();
  assert.equal(await kiln.fence.raise(0), true);
});
