/** The journal at the edge of the Northbound writer, and the undo of what it has, against a real ovsdb-server. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Output, RowOutput, RowOwner } from '../compile/output.ts';
import { FileJournal } from '../journal/file-journal.ts';
import { readJournal } from '../journal/read-journal.ts';
import { selectedChanges } from '../journal/selection.ts';
import type { Present, UndoPlan } from '../journal/undo-plan.ts';
import { undoPlan } from '../journal/undo-plan.ts';
import { ownerText } from '../nb/ownership.ts';
import { rowId } from '../nb/row-id.ts';
import { aclId, dhcpOptionsId, staticRouteId } from '../nb/tables.ts';
import { OvsdbServerProcess } from '../ovsdb/testing/ovsdb-server-process.ts';
import { parseDump, withoutUuids } from '../testing/northbound-dump.ts';
import { until } from '../testing/until.ts';
import { systemClock } from '../timing/clock.ts';
import { rowsOf } from './testing/shared-northbound.ts';
import { WriterProcess } from './testing/writer-process.ts';
import { undoTransaction } from './undo-transaction.ts';

const run = promisify(execFile);
const vpc: RowOwner = { kind: 'vpc', namespace: '', name: 'blue', uid: 'uid-vpc', created: '2026-01-01T00:00:00Z' };
const subnet: RowOwner = { ...vpc, kind: 'subnet', name: 's1', uid: 'uid-subnet' };
const group: RowOwner = { ...vpc, kind: 'securitygroup', name: 'sg', uid: 'uid-group' };

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

async function dump(): Promise<readonly string[]> {
  const { stdout } = await run('ovsdb-client', ['--format=json', 'dump', server.unix, 'OVN_Northbound'], { maxBuffer: 2 ** 28 });
  return withoutUuids(parseDump(stdout));
}

/** A few of the rows that differ; the whole would be megabytes. */
function difference(before: readonly string[], after: readonly string[]): readonly string[] {
  const [had, has] = [new Set(before), new Set(after)];
  const lost = before.filter((row) => !has.has(row)).map((row) => `- ${row}`);
  return [...lost, ...after.filter((row) => !had.has(row)).map((row) => `+ ${row}`)].slice(0, 4).map((row) => row.slice(0, 600));
}

/** A Vpc with a Subnet and so many ports, which are in a group of another object. */
function network(ports: number): { readonly kept: Output[]; readonly lost: Output[] } {
  const ofVpc = rowsOf(vpc);
  const ofSubnet = rowsOf(subnet);
  const router = rowId('Logical_Router', 'blue');
  const home = rowId('Logical_Switch', 's1');
  const dhcp = dhcpOptionsId('s1', 'IPv4');
  const names = Array.from({ length: ports }, (_, at) => `p${at}`);
  const portRows = names.map((name, at) =>
    ofSubnet(
      rowId('Logical_Switch_Port', name),
      {
        name,
        addresses: [`0a:00:00:00:${hex(at >> 8)}:${hex(at & 255)} 10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`],
        dhcpv4_options: { ref: dhcp },
      },
      { id: home, column: 'ports' },
    ),
  );
  const lost: RowOutput[] = [
    ofVpc(router, { name: 'blue' }),
    ofVpc(
      rowId('Logical_Router_Port', 'blue-s1'),
      { name: 'blue-s1', mac: '0a:00:00:00:00:01', networks: ['10.0.0.1/8'] },
      { id: router, column: 'ports' },
    ),
    ofVpc(
      staticRouteId('blue', '', '', '0.0.0.0/0', '10.9.9.9'),
      { ip_prefix: '0.0.0.0/0', nexthop: '10.9.9.9' },
      { id: router, column: 'static_routes' },
    ),
    { ...ofSubnet(dhcp, { cidr: '10.0.0.0/8', options: { router: '10.0.0.1' } }), externalIds: { ls: 's1', protocol: 'IPv4' } },
    ofSubnet(home, { name: 's1', other_config: { mcast_snoop: 'true' } }),
    ofSubnet(
      aclId('s1', 'to-lport', 1001, 'ip4'),
      { direction: 'to-lport', priority: 1001, match: 'ip4', action: 'drop' },
      { id: home, column: 'acls' },
    ),
    ...portRows,
  ];
  const pg = rowId('Port_Group', 'pg');
  const members = names.map((name): Output => {
    const member = { ref: rowId('Logical_Switch_Port', name) };
    return { kind: 'member', row: pg, column: 'ports', member };
  });
  return { kept: [rowsOf(group)(pg, { name: 'pg' })], lost: [...lost, ...members] };
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

function presentOf({ session, world }: WriterProcess, owners: ReadonlySet<string> = new Set()): Present {
  assert.ok(session.schema);
  return {
    schema: session.schema,
    row: (table, uuid) => session.replica.table(table).get(uuid),
    rowsOf: (id) => world.rows.rowsOf(id),
    // The row of DNS is there all the time.
    exists: (table, uuid) => table === 'DNS' || session.replica.table(table).has(uuid),
    ownerExists: (owner) => owners.has(owner),
  };
}

async function plan(kiln: WriterProcess, of: string, owners?: ReadonlySet<string>): Promise<UndoPlan> {
  const { transactions, problems } = await readJournal(of);
  assert.deepEqual(problems, []);
  return undoPlan(selectedChanges(transactions, {}), presentOf(kiln, owners));
}

async function undo(kiln: WriterProcess, of: string): Promise<UndoPlan> {
  const planned = await plan(kiln, of);
  const [global] = kiln.session.replica.table('NB_Global').values();
  const outcome = await kiln.session.transact(undoTransaction(planned, global));
  assert.equal(outcome.ok, true, outcome.ok ? '' : outcome.error.message);
  await kiln.quiet();
  return planned;
}

test('an undo of a deletion in several transactions restores the very same database, and the rows are held until their owner is back', async () => {
  const own = join(directory, 'many');
  const journal = new FileJournal({ directory: own, clock: systemClock, writer: 'a' });
  const kiln = await new WriterProcess(server, undefined, journal).start();
  try {
    const { kept, lost } = network(2_500);
    await kiln.want([...kept, ...lost]);
    // A column that Kiln never writes.
    await server.nbctl('--id=@d', 'create', 'DNS', 'records={a=10.0.0.1}', '--', 'add', 'Logical_Switch', 's1', 'dns_records', '@d');
    await kiln.seen();
    const rows = kiln.world.rows.owned.size;
    const before = await dump();
    assert.ok(rows > 2_500);
    await kiln.want(kept);
    assert.equal(kiln.world.rows.owned.size, 1, 'all but the group are gone');
    const planned = await undo(kiln, own);
    assert.equal(planned.rows.length, rows - 1);
    assert.deepEqual([planned.contradictions, planned.lost, planned.left], [[], [], []]);
    assert.deepEqual(difference(before, await dump()), []);
    assert.equal(kiln.world.rows.owned.size, rows, 'the collection leaves them');
    assert.equal(kiln.writer.restoredRows > 2_500, true);
    assert.equal((await plan(kiln, own)).rows.length, 0, 'twice restores nothing');
    kiln.owners.add(ownerText(subnet));
    await until('the rows of the owner that is back are collected, since it does not ask for them', () => kiln.world.rows.owned.size < 10);
    kiln.owners.add(ownerText(vpc));
    await kiln.want([]);
    await until('all is gone', () => kiln.world.rows.owned.size === 0);
  } finally {
    await kiln.close();
    await journal.close();
  }
});

test('while the journal cannot be written rows are created and changed, and none is deleted; then the deletions go on', async () => {
  const own = join(directory, 'full');
  const journal = new FileJournal({
    directory: own,
    clock: { ...systemClock, setTimeout: (run_, ms) => setTimeout(run_, ms / 50) },
    writer: 'b',
  });
  const kiln = await new WriterProcess(server, undefined, journal).start();
  try {
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
  } finally {
    await kiln.close();
    await journal.close();
  }
});

test('an undo is refused where the present contradicts: another program has the name, a port has the address, the parent is gone', async () => {
  const own = join(directory, 'contradicted');
  const journal = new FileJournal({ directory: own, clock: systemClock, writer: 'c' });
  const kiln = await new WriterProcess(server, undefined, journal).start();
  try {
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
  } finally {
    await kiln.close();
    await journal.close();
  }
});
