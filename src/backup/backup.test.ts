import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { restoreTransaction } from '../commit/restore-transaction.ts';
import { Neighbours } from '../nb/neighbours.ts';
import { OvsdbSession } from '../ovsdb/index.ts';
import type { OvsdbOptions } from '../ovsdb/index.ts';
import { readTlsFiles, TestAuthority } from '../ovsdb/testing/certificates.ts';
import { OvsdbCluster } from '../ovsdb/testing/ovsdb-cluster.ts';
import { OvsdbServerProcess } from '../ovsdb/testing/ovsdb-server-process.ts';
import { keepNewest, listBackups, readBackup, writeBackup } from './backup-file.ts';
import type { Backup } from './database-file.ts';
import { identityProblem, schemaProblem } from './fit.ts';
import { restorePlan } from './restore-plan.ts';
import type { RestorePlan } from './restore-changes.ts';
import type { RestoreOptions } from './restore-plan.ts';
import { globalOf, readSnapshot } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';

const run = promisify(execFile);
const NOON = Date.parse('2026-01-01T12:00:00Z');
const OURS = 'external_ids:vendor=kube-ovn external_ids:kiln.io/uid=u';
const MINE: RestoreOptions = { neighbours: Neighbours.NONE, others: 'restore', ownerExists: () => true };

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kiln-backup-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function server(t: TestContext): Promise<OvsdbServerProcess> {
  const started = await OvsdbServerProcess.start();
  t.after(() => started.stop());
  await started.nbctl('init');
  return started;
}

async function sessionWith(t: TestContext, endpoints: readonly string[], more: Partial<OvsdbOptions> = {}): Promise<OvsdbSession> {
  const session = new OvsdbSession({
    endpoints,
    database: 'OVN_Northbound',
    tables: { NB_Global: ['external_ids'] },
    leaderOnly: endpoints.length > 1,
    ...more,
  });
  t.after(() => session.close());
  session.start();
  await session.untilSynced();
  return session;
}

async function backedUp(session: OvsdbSession, name = 'nb.db.gz', kubernetes?: string): Promise<Backup> {
  const path = join(directory, name);
  await writeBackup(await readSnapshot(session, kubernetes), path, NOON);
  const read = await readBackup(path);
  assert.ok(read.ok);
  return read.backup;
}

/** Plans a restore and makes it. */
async function restored(session: OvsdbSession, backup: Backup, options: Partial<RestoreOptions> = {}): Promise<RestorePlan> {
  const present = await readSnapshot(session, undefined);
  const plan = restorePlan(backup, present, { ...MINE, ...options });
  const outcome = await session.transact(restoreTransaction(plan, present.schema, globalOf(present.rows)));
  if (!outcome.ok) throw outcome.error;
  return plan;
}

/** All rows, with UUIDs. */
function dump({ rows }: Snapshot): unknown {
  return Object.fromEntries(
    [...rows].map(([table, held]) => [table, [...held.values()].toSorted((a, b) => (a._uuid < b._uuid ? -1 : 1))] as const),
  );
}

/** A network of Neutron, a switch made by hand, and a router and a switch of Kiln with a port. */
async function fill({ nbctl }: { nbctl: OvsdbServerProcess['nbctl'] }): Promise<void> {
  await nbctl('ls-add', 'neutron-1', '--', 'set', 'logical_switch', 'neutron-1', 'external_ids={"neutron:network_name"=blue}');
  await nbctl('lsp-add', 'neutron-1', 'p1', '--', 'set', 'logical_switch_port', 'p1', 'external_ids={"neutron:port_name"=one}');
  await nbctl('acl-add', 'neutron-1', 'from-lport', '1001', 'ip4', 'allow');
  await nbctl('ls-add', 'by-hand', '--', 'lsp-add', 'by-hand', 'h1');
  await nbctl('ls-add', 's', '--', 'set', 'logical_switch', 's', ...`${OURS} external_ids:kiln.io/owner=subnet//s`.split(' '));
  await nbctl(
    'lsp-add',
    's',
    'web',
    '--',
    'set',
    'logical_switch_port',
    'web',
    ...`${OURS} external_ids:kiln.io/owner=pod/shop/web`.split(' '),
  );
  await nbctl('pg-add', 'group', 'p1', 'web');
}

test('a backup is the whole database, whoever serves it, and OVN starts with it', async (t) => {
  const origin = await server(t);
  await fill({ nbctl: (...args) => origin.nbctl(...args) });
  const session = await sessionWith(t, [origin.unix]);
  const backup = await backedUp(session);
  assert.deepEqual(dump(backup), dump(await readSnapshot(session, undefined)));
  assert.deepEqual(backup.facts.tables, { ACL: 1, Logical_Switch: 3, Logical_Switch_Port: 3, NB_Global: 1, Port_Group: 1 });
  assert.equal(backup.facts.at, '2026-01-01T12:00:00.000Z');
  const plain = join(directory, 'plain.db');
  await writeFile(plain, gunzipSync(await readFile(join(directory, 'nb.db.gz'))));
  assert.equal((await run('ovsdb-tool', ['db-version', plain])).stdout.trim(), backup.facts.schemaVersion);
  const copy = await OvsdbServerProcess.start({ backupFile: plain });
  t.after(() => copy.stop());
  assert.deepEqual(dump(await readSnapshot(await sessionWith(t, [copy.unix]), undefined)), dump(backup));
  // And what OVN's own tool writes is a backup for Kiln.
  const theirs = join(directory, 'theirs.db');
  await writeFile(theirs, (await run('ovsdb-client', ['backup', origin.unix, 'OVN_Northbound'])).stdout);
  const read = await readBackup(theirs);
  assert.ok(read.ok);
  assert.deepEqual(dump(read.backup), dump(backup));
  assert.deepEqual(await readdir(directory), ['nb.db.gz', 'plain.db', 'theirs.db'], 'nothing else is left');
});

test('a cluster, and a server with TLS', async (t) => {
  const cluster = await OvsdbCluster.start();
  t.after(() => cluster.stop());
  const session = await sessionWith(t, cluster.endpoints);
  const leader = await cluster.leader();
  await leader.nbctl('init');
  await fill({ nbctl: (...args) => leader.nbctl(...args) });
  const backup = await backedUp(session);
  assert.match(backup.identity.cluster ?? '', /^[0-9a-f-]{36}$/);
  await leader.nbctl('ls-del', 'neutron-1', '--', 'ls-del', 's', '--', 'pg-del', 'group');
  await restored(session, backup);
  assert.deepEqual(dump(await readSnapshot(session, undefined)), dump(backup));

  const authority = await TestAuthority.create();
  t.after(() => authority.remove());
  const secure = await OvsdbServerProcess.start({ ssl: await authority.issue('server') });
  t.after(() => secure.stop());
  const empty = await sessionWith(t, [secure.ssl], { tls: await readTlsFiles(await authority.issue('client')) });
  // An empty database takes a backup of any other.
  assert.equal(identityProblem(backup, await readSnapshot(empty, undefined), undefined), undefined);
  await restored(empty, backup);
  const { rows } = await readSnapshot(empty, undefined);
  assert.equal(rows.get('Logical_Switch')?.size, 3);
  assert.equal(rows.get('ACL')?.size, 1);
});

test('truncated, damaged or foreign files are refused, with what they are', async (t) => {
  const origin = await server(t);
  await fill({ nbctl: (...args) => origin.nbctl(...args) });
  await backedUp(await sessionWith(t, [origin.unix]));
  const whole = join(directory, 'nb.db.gz');
  const bytes = await readFile(whole);
  const plain = gunzipSync(bytes);
  const problems: Record<string, string> = {};
  const look = async (what: string, contents: Buffer): Promise<void> => {
    const path = join(directory, 'broken');
    await writeFile(path, contents);
    const read = await readBackup(path);
    assert.ok(!read.ok, what);
    problems[what] = read.problem.replaceAll(/\d+/g, '#');
  };
  for (const part of [0.1, 0.5, 0.99]) await look(`gz ${part}`, bytes.subarray(0, Math.floor(bytes.length * part)));
  await look('plain', plain.subarray(0, plain.length - 40));
  await look('schema only', plain.subarray(0, plain.indexOf('OVSDB JSON', 20)));
  await look('nothing', Buffer.alloc(0));
  await look('text', Buffer.from('Dear all,\nplease find attached\n'));
  await look('changed', Buffer.from(plain.toString('latin1').replace('neutron-1', 'neutron-2'), 'latin1'));
  const other = join(directory, 'other.db');
  await run('ovsdb-tool', ['create', other, '/usr/share/ovn/ovn-sb.ovsschema']);
  await look('another database', Buffer.concat([await readFile(other), plain.subarray(plain.indexOf('OVSDB JSON', 20))]));
  const flipped = Buffer.from(bytes);
  flipped[flipped.length - 6] = (flipped[flipped.length - 6] ?? 0) ^ 0xff;
  await look('gz checksum', flipped);
  assert.deepEqual(problems, {
    'gz 0.1': 'it is truncated: the compressed data ends too early',
    'gz 0.5': 'it is truncated: the compressed data ends too early',
    'gz 0.99': 'it is truncated: the compressed data ends too early',
    plain: 'it is truncated: the record at byte # should have # bytes, and # are there',
    'schema only': 'it is truncated after the schema: it has no rows',
    nothing: 'it is empty',
    text: 'it is no file of an OVSDB database',
    changed: 'it is damaged: the record at byte # has another checksum than it should',
    'another database': 'it is a backup of the database OVN_Southbound, not of OVN_Northbound',
    'gz checksum': 'it is damaged: incorrect data check',
  });
});

test('addresses that two ports of a switch would have are told, and those that they have already are not', async (t) => {
  const origin = await server(t);
  const nbctl = (...args: readonly string[]): Promise<string> => origin.nbctl(...args);
  await fill({ nbctl });
  // `lsp-set-addresses` refuses an address that another port has.
  const addressed = (name: string, addresses: string): readonly string[] => [
    ...['--', 'set', 'Logical_Switch_Port', name, `addresses="${addresses}"`],
  ];
  const port = (home: string, name: string, addresses: string): readonly string[] => [
    ...['--', 'lsp-add', home, name, ...addressed(name, addresses)],
  ];
  await nbctl(
    ...port('neutron-1', 'p2', '0a:00:00:00:00:02 10.0.0.5 fd00::5').slice(1),
    ...port('by-hand', 'h2', '0a:00:00:00:00:03 10.1.0.5'),
    ...port('by-hand', 'h3', '0a:00:00:00:00:04 10.1.0.5'),
    ...port('by-hand', 'h4', '0a:00:00:00:00:05 10.1.0.6'),
    ...addressed('web', '0a:00:00:00:00:06 10.2.0.5'),
  );
  const session = await sessionWith(t, [origin.unix]);
  const backup = await backedUp(session);
  await nbctl(
    ...['lsp-del', 'p2', ...port('neutron-1', 'p3', '0a:00:00:00:00:12 10.0.0.9 FD00:0::5')],
    // The same address in another network is no second one.
    ...port('s', 'stranger', '0a:00:00:00:00:13 10.0.0.5'),
    ...[...addressed('h4', '0a:00:00:00:00:05 10.1.0.7'), ...port('by-hand', 'h5', '0a:00:00:00:00:14 10.1.0.6')],
    ...['--', 'lsp-del', 'web', ...port('s', 'late', '0a:00:00:00:00:16 10.2.0.5')],
  );
  const plan = restorePlan(backup, await readSnapshot(session, undefined), MINE);
  assert.deepEqual(
    plan.shared.map(({ address, home, ports }) => [
      address,
      home.name,
      ports.map(({ name, of, isRestored }) => `${name} of ${of}${isRestored ? ', restored' : ''}`).toSorted(),
    ]),
    [
      ['10.1.0.6', 'Logical_Switch by-hand', ['Logical_Switch_Port h4 of unmarked, restored', 'Logical_Switch_Port h5 of unmarked']],
      ['fd00::5', 'Logical_Switch neutron-1', ['Logical_Switch_Port p2 of neutron, restored', 'Logical_Switch_Port p3 of neutron']],
      ['10.2.0.5', 'Logical_Switch s', ['Logical_Switch_Port late of unmarked', 'Logical_Switch_Port web of pod/shop/web, restored']],
    ],
  );
  assert.deepEqual(restorePlan(backup, await readSnapshot(session, undefined), { ...MINE, others: 'exact' }).shared, []);
});

test('another identity and a schema that the database lacks are refused', async (t) => {
  const [one, other] = [await server(t), await server(t)];
  await fill({ nbctl: (...args) => one.nbctl(...args) });
  await other.nbctl('ls-add', 'x');
  const backup = await backedUp(await sessionWith(t, [one.unix]), 'a.db.gz', 'cluster-a');
  const session = await sessionWith(t, [other.unix]);
  const present = await readSnapshot(session, 'cluster-b');
  const here = String(present.identity.contents);
  assert.match(
    identityProblem(backup, present, undefined) ?? '',
    /Kubernetes cluster with the namespace kube-system cluster-a; here it is cluster-b/,
  );
  assert.match(
    identityProblem(backup, await readSnapshot(session, 'cluster-a'), undefined) ?? '',
    /the backup is of the database .*; here is .*, which is not empty/,
  );
  assert.match(identityProblem(backup, present, 'x') ?? '', /--into names x/);
  assert.equal(identityProblem(backup, present, here), undefined);

  await one.convert((schema) => {
    schema.version = '7.99.0';
    delete schema.tables['Logical_Switch_Port']?.columns['mirror_rules'];
  });
  const reduced = await readSnapshot(await sessionWith(t, [one.unix]), undefined);
  assert.equal(schemaProblem(backup, reduced), undefined, 'no row has a value there');
  await one.convert((schema) => {
    schema.version = '7.99.1';
    delete schema.tables['ACL']?.columns['priority'];
  });
  const without = await readSnapshot(await sessionWith(t, [one.unix]), undefined);
  assert.match(schemaProblem(backup, without) ?? '', /the database 7\.99\.1, which does not have the column ACL\.priority/);
  await one.convert((schema) => {
    schema.version = '8.0.0';
  });
  const later = await readSnapshot(await sessionWith(t, [one.unix]), undefined);
  assert.match(schemaProblem(backup, later) ?? '', /rows of another major version/);
});

test("rows of others come back as they were; Kiln's own where their object exists; newer ones stay", async (t) => {
  const origin = await server(t);
  const nbctl: OvsdbServerProcess['nbctl'] = (...args) => origin.nbctl(...args);
  await fill({ nbctl });
  const session = await sessionWith(t, [origin.unix]);
  const backup = await backedUp(session);
  const before = await readSnapshot(session, undefined);

  await nbctl('lsp-del', 'p1', '--', 'lsp-set-options', 'h1', 'a=b', '--', 'lsp-add', 'neutron-1', 'p2');
  await nbctl('lsp-del', 'web', '--', 'ls-add', 'later', '--', 'set', 'logical_switch', 's', 'other_config:subnet=10.0.0.0/24');
  await nbctl(
    'lsp-add',
    's',
    'new',
    '--',
    'set',
    'logical_switch_port',
    'new',
    ...`${OURS} external_ids:kiln.io/owner=pod/shop/new`.split(' '),
  );
  await nbctl('set', 'NB_Global', '.', 'options:mac_prefix=aa:bb:cc', 'external_ids:kiln.io/term=7');

  const gone = await restored(session, backup, { ownerExists: (owner) => owner !== 'pod/shop/web' });
  assert.deepEqual(gone.gone, { 'pod/shop/web': 1 });
  assert.deepEqual(gone.newer, { unmarked: 1, neutron: 1 });
  assert.equal(gone.left, 1, 'the switch of Kiln stays as it is');
  assert.deepEqual(gone.values.map(({ name, column }) => `${name}: ${column}`).toSorted(), [
    'Logical_Switch neutron-1: ports',
    'Logical_Switch_Port h1: options',
    'Port_Group group: ports',
  ]);
  const ports = await nbctl('--bare', '--columns=name', 'list', 'logical_switch_port');
  assert.deepEqual(ports.split(/\n+/).toSorted(), ['h1', 'new', 'p1', 'p2']);
  assert.match(await nbctl('lsp-list', 'neutron-1'), /\(p1\)[^]*\(p2\)|\(p2\)[^]*\(p1\)/);
  assert.equal(await nbctl('get', 'NB_Global', '.', 'external_ids:kiln.io/term'), '"7"');

  const all = await restored(session, backup);
  assert.deepEqual(
    all.rows.map(({ name }) => name),
    ['Logical_Switch_Port web'],
  );
  assert.equal((await restored(session, backup)).rows.length, 0, 'a second restore finds all there');

  await restored(session, backup, { others: 'exact' });
  await nbctl('lsp-del', 'new', '--', 'clear', 'logical_switch', 's', 'other_config', '--', 'clear', 'NB_Global', '.', 'options');
  await nbctl('clear', 'NB_Global', '.', 'external_ids');
  assert.deepEqual(dump(await readSnapshot(session, undefined)), dump(before));
});

test('a neighbour that lives on: nothing of others is changed', async (t) => {
  const origin = await server(t);
  await fill({ nbctl: (...args) => origin.nbctl(...args) });
  const session = await sessionWith(t, [origin.unix]);
  const backup = await backedUp(session);
  await origin.nbctl('lsp-del', 'p1', '--', 'lsp-del', 'web');
  const plan = await restored(session, backup, { others: 'keep' });
  assert.deepEqual([plan.rows.map(({ name }) => name), plan.values], [['Logical_Switch_Port web'], []]);
  assert.deepEqual(
    plan.members.map(({ name, column }) => `${name} ${column}`),
    ['Logical_Switch s ports', 'Port_Group group ports'],
  );
  assert.equal(await origin.nbctl('--bare', '--columns=name', 'find', 'logical_switch_port', 'name=p1'), '');
});

test('a row that another program changes between plan and transaction fails all of it', async (t) => {
  const origin = await server(t);
  await fill({ nbctl: (...args) => origin.nbctl(...args) });
  const session = await sessionWith(t, [origin.unix]);
  const backup = await backedUp(session);
  await origin.nbctl('lsp-del', 'p1', '--', 'lsp-set-options', 'h1', 'a=b');
  const present = await readSnapshot(session, undefined);
  const plan = restorePlan(backup, present, MINE);
  await origin.nbctl('lsp-set-options', 'h1', 'c=d');
  const outcome = await session.transact(restoreTransaction(plan, present.schema, globalOf(present.rows)));
  assert.ok(!outcome.ok);
  assert.equal(outcome.error.outcome, 'rejected');
  assert.equal(await origin.nbctl('--bare', '--columns=name', 'find', 'logical_switch_port', 'name=p1'), '');
});

test('the newest backups stay, and other files are left alone', async (t) => {
  const session = await sessionWith(t, [(await server(t)).unix]);
  const snapshot = await readSnapshot(session, undefined);
  const { backupName } = await import('./backup-file.ts');
  for (const hour of [1, 2, 3]) {
    const at = NOON + hour * 3_600_000;
    await writeBackup(snapshot, join(directory, backupName(at)), at);
  }
  await writeFile(join(directory, 'kiln-nb-notes.txt'), 'mine');
  await writeFile(join(directory, 'old.db.gz'), gzipSync('x'));
  assert.equal((await keepNewest(directory, 2)).length, 1);
  assert.deepEqual(
    (await listBackups(directory)).map(({ at }) => (at - NOON) / 3_600_000),
    [3, 2],
  );
  assert.equal((await readdir(directory)).length, 4);
  await truncate(join(directory, backupName(NOON + 3 * 3_600_000)), 100);
  await appendFile(join(directory, 'kiln-nb-notes.txt'), '.');
});
