import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RowOwner, MemberOutput, RowOutput } from '../compile/output.ts';
import { objectId } from '../compile/output.ts';
import { rowId } from '../nb/row-id.ts';
import { until } from '../testing/until.ts';
import { sharedNorthbound } from './testing/shared-northbound.ts';
import type { WriterProcess } from './testing/writer-process.ts';

const owner: RowOwner = { kind: 'subnet', namespace: '', name: 's1', uid: 'uid-1', created: '2026-01-01T00:00:00Z' };

const { writer, nbctl, kill, restart } = sharedNorthbound();
const start = (leads = true): Promise<WriterProcess> => writer().start(leads);

const ls = rowId('Logical_Switch', 's1');
const group = rowId('Port_Group', 'g1');
const switchRow: RowOutput = { kind: 'row', id: ls, owner, rule: 'test', columns: { name: 's1', other_config: {} } };
const groupRow: RowOutput = { kind: 'row', id: group, owner, rule: 'test', columns: { name: 'g1' } };

function port(name: string, address = '00:00:00:00:00:01 10.0.0.2', parent = ls): RowOutput {
  return {
    kind: 'row',
    id: rowId('Logical_Switch_Port', name),
    owner,
    rule: 'test',
    parent: { id: parent, column: 'ports' },
    columns: { name, addresses: [address], type: '' },
    externalIds: { ls: 's1' },
  };
}

function inGroup(name: string): MemberOutput {
  return { kind: 'member', row: group, column: 'ports', member: { ref: rowId('Logical_Switch_Port', name) } };
}

test('rows, children and members are made in one transaction, changed one by one, and collected', async () => {
  await using kiln = await start();
  await kiln.want([switchRow, groupRow, port('p1'), port('p2'), inGroup('p1'), inGroup('p2')]);
  assert.equal(kiln.reports.length, 1);
  assert.match(await nbctl('show', 's1'), /port p1[\s\S]*port p2/);
  assert.equal((await nbctl('--bare', '--columns=ports', 'list', 'Port_Group', 'g1')).split(' ').length, 2);

  await kiln.want([switchRow, groupRow, port('p1', '00:00:00:00:00:01 10.0.0.9'), port('p2'), inGroup('p2')]);
  assert.match(await nbctl('lsp-get-addresses', 'p1'), /10\.0\.0\.9/);
  assert.equal((await nbctl('--bare', '--columns=ports', 'list', 'Port_Group', 'g1')).split(' ').length, 1);
  assert.deepEqual(kiln.writer.plan(), []);

  await kiln.want([]);
  assert.equal(await nbctl('ls-list'), '');
  assert.equal(await nbctl('--bare', '--columns=name', 'list', 'Port_Group'), '');
});

test('a router port and the chassis group that it refers to are made in one transaction, and go in one', async () => {
  await using kiln = await start();
  const router = rowId('Logical_Router', 'r1');
  const chassisGroup = rowId('HA_Chassis_Group', 'p1');
  const rows: readonly RowOutput[] = [
    { kind: 'row', id: router, owner, rule: 'test', columns: { name: 'r1' } },
    { kind: 'row', id: chassisGroup, owner, rule: 'test', columns: { name: 'p1' } },
    {
      ...{ kind: 'row', id: rowId('HA_Chassis', 'p1', 'c1'), owner, rule: 'test', parent: { id: chassisGroup, column: 'ha_chassis' } },
      ...{ columns: { chassis_name: 'c1', priority: 100 }, externalIds: { group: 'p1' } },
    },
    {
      ...{ kind: 'row', id: rowId('Logical_Router_Port', 'p1'), owner, rule: 'test', parent: { id: router, column: 'ports' } },
      columns: { name: 'p1', mac: '00:00:00:00:00:01', networks: ['10.9.0.1/32'], options: {}, ha_chassis_group: { ref: chassisGroup } },
    },
  ];
  kiln.desire(rows);
  const planned = kiln.writer.plan().map(({ id, verdict }) => `${verdict.kind} ${id}`);
  assert.deepEqual(planned.toSorted(), rows.map(({ id }) => `change ${id}`).toSorted());
  await kiln.want(rows);
  assert.equal(kiln.reports.length, 1);
  assert.match(await nbctl('--bare', '--columns=ha_chassis_group', 'list', 'Logical_Router_Port', 'p1'), /^[0-9a-f-]{36}$/);
  assert.deepEqual(kiln.writer.plan(), []);
  await kiln.want([]);
  assert.deepEqual(
    kiln.reports.map(({ ok }) => ok),
    [true, true],
  );
  assert.equal(await nbctl('--bare', '--columns=name', 'list', 'HA_Chassis_Group'), '');
});

test('no row is made of an object that is being released, nor a port of such an IP object, before the release is answered', async () => {
  await using kiln = await start();
  kiln.releasing.add(objectId('ips', 'p1')).add(objectId('subnets', 's2'));
  const [other, next] = [rowId('Logical_Switch', 's2'), { ...owner, name: 's2' }];
  const otherRow: RowOutput = { ...switchRow, id: other, owner: next, columns: { name: 's2' } };
  const made = kiln.want([switchRow, otherRow, port('p1'), port('p2'), port('p3', '00:00:00:00:00:01 10.0.1.2', other)]);
  await until('the others are there', async () => (await nbctl('lsp-list', 's1')).includes('p2'));
  await kiln.seen();
  assert.doesNotMatch(await nbctl('show'), /port p1|port p3|switch .*s2/);
  assert.equal(kiln.writer.quiet, false);
  const before = kiln.wakes;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(kiln.wakes - before < 10, `it waits for the answer, and does not ask ${kiln.wakes - before} times whether it has come`);
  kiln.releasing.clear();
  kiln.writer.flush();
  await made;
  assert.match(await nbctl('show', 's1'), /port p1/);
  assert.match(await nbctl('show', 's2'), /port p3/);
  // Existing rows are updated, and collected when no rule emits them.
  kiln.releasing.add(objectId('ips', 'p1'));
  await kiln.want([switchRow, port('p1', '00:00:00:00:00:01 10.0.0.9')]);
  assert.match(await nbctl('lsp-get-addresses', 'p1'), /10\.0\.0\.9/);
  await kiln.want([]);
  assert.equal(await nbctl('ls-list'), '');
});

test('a port with another switch is made again there in one transaction', async () => {
  await using kiln = await start();
  const other = rowId('Logical_Switch', 's2');
  const otherRow: RowOutput = { ...switchRow, id: other, columns: { name: 's2' } };
  await kiln.want([switchRow, otherRow, port('mover')]);
  const sent = kiln.reports.length;
  await kiln.want([switchRow, otherRow, port('mover', '00:00:00:00:00:01 10.0.1.2', other)]);
  assert.equal(kiln.reports.length, sent + 1);
  assert.match(await nbctl('lsp-list', 's2'), /mover/);
  assert.equal(await nbctl('lsp-list', 's1'), '');
  await kiln.want([]);
});

test('a group refers to no missing port: not after one was made again elsewhere, nor to the rest of a foreign one after a start', async () => {
  await using first = await start();
  const other = rowId('Logical_Switch', 's2');
  const otherRow: RowOutput = { ...switchRow, id: other, columns: { name: 's2' } };
  const members = async (): Promise<string[]> =>
    (await nbctl('--bare', '--columns=ports', 'list', 'Port_Group', 'g1')).split(' ').filter((uuid) => uuid !== '');
  const uuidOf = (name: string): Promise<string> => nbctl('--bare', '--columns=_uuid', 'find', 'Logical_Switch_Port', `name=${name}`);
  await first.want([switchRow, otherRow, groupRow, port('mover'), inGroup('mover')]);
  await first.want([switchRow, otherRow, groupRow, port('mover', '00:00:00:00:00:01 10.0.1.2', other), inGroup('mover')]);
  assert.deepEqual(await members(), [await uuidOf('mover')]);
  await first.want([switchRow, otherRow, groupRow, port('next'), inGroup('next')]);
  assert.deepEqual(await members(), [await uuidOf('next')]);

  await nbctl('lsp-add', 's2', 'third', '--', 'lsp-add', 's2', 'fourth');
  const [third, fourth] = [await uuidOf('third'), await uuidOf('fourth')];
  await nbctl('add', 'Port_Group', 'g1', 'ports', third);
  // In this transaction ovsdb-server 3.1 leaves a reference to the deleted port.
  await nbctl('lsp-del', 'third', '--', 'add', 'Port_Group', 'g1', 'ports', fourth);
  assert.equal((await members()).length, 3);
  await first.close();
  await using kiln = await start();
  await kiln.want([switchRow, otherRow, groupRow, port('next'), inGroup('next')]);
  assert.deepEqual((await members()).toSorted(), [await uuidOf('next'), fourth].toSorted());
  await nbctl('lsp-del', 'fourth');
  await kiln.want([]);
});

test('drift is repaired: a changed column, a deleted row, a removed member; foreign members and keys stay', async () => {
  await using kiln = await start();
  await nbctl('ls-add', 'foreign', '--', 'lsp-add', 'foreign', 'guest');
  await kiln.want([switchRow, groupRow, port('p1'), inGroup('p1')]);
  await nbctl(
    'lsp-set-addresses',
    'p1',
    '00:00:00:00:00:02 10.9.9.9',
    '--',
    'set',
    'Logical_Switch_Port',
    'p1',
    'external_ids:neutron\\:note=mine',
  );
  await until('the address is back', async () => (await nbctl('lsp-get-addresses', 'p1')).includes('10.0.0.2'));
  assert.equal(await nbctl('get', 'Logical_Switch_Port', 'p1', 'external_ids:neutron\\:note'), 'mine');

  await nbctl('lsp-del', 'p1');
  await until(
    'the port and its membership are back',
    async () => (await nbctl('--bare', '--columns=ports', 'list', 'Port_Group', 'g1')) !== '',
  );

  const guest = await nbctl('get', 'Logical_Switch_Port', 'guest', '_uuid');
  const ownPort = await nbctl('get', 'Logical_Switch_Port', 'p1', '_uuid');
  await nbctl('set', 'Port_Group', 'g1', `ports=[${guest}]`);
  await until('the own member is back', async () => (await nbctl('get', 'Port_Group', 'g1', 'ports')).includes(ownPort));
  assert.ok((await nbctl('get', 'Port_Group', 'g1', 'ports')).includes(guest));
  await kiln.quiet();
  await kiln.want([]);
  assert.match(await nbctl('ls-list'), /foreign/);
  await nbctl('ls-del', 'foreign');
});

test('a name of a foreign row is a conflict and nothing is sent; the row is made when the name is free', async () => {
  await using kiln = await start();
  await nbctl('ls-add', 's1', '--', 'set', 'Logical_Switch', 's1', 'external_ids:neutron\\:network_name=theirs');
  await kiln.seen();
  await kiln.want([switchRow]);
  assert.equal(kiln.reports.length, 0);
  assert.match(kiln.world.rowConflicts.peek(ls)?.message ?? '', /neutron/);
  await nbctl('ls-del', 's1');
  await until('the switch is made', async () => (await nbctl('ls-list')).includes('s1'));
  await kiln.quiet();
  assert.equal(kiln.world.rowConflicts.peek(ls), undefined);
  await kiln.want([]);
});

test('a switch with a foreign port in it is not collected', async () => {
  await using kiln = await start();
  await kiln.want([switchRow]);
  await nbctl('lsp-add', 's1', 'guest');
  await kiln.seen();
  await kiln.want([]);
  assert.match(await nbctl('ls-list'), /s1/);
  // The command in the message shows the row, and does not remove it.
  const [, command = ''] =
    /guest in it belongs to another program; .*: ovn-nbctl (list .*)$/.exec(kiln.world.rowConflicts.peek(ls)?.message ?? '') ?? [];
  assert.match(await nbctl(...command.split(' ')), /guest/);
  await nbctl('lsp-del', 'guest');
  // The writer compares the switch again when it changes.
  await until('the switch is gone', async () => {
    kiln.writer.examineAll();
    kiln.writer.flush();
    return (await nbctl('ls-list')) === '';
  });
});

for (const [what, add, remove] of [
  ['QoS', ['qos-add', 's1', 'to-lport', '7', 'ip4', 'dscp=3'], ['qos-del', 's1']],
  [
    'Forwarding_Group',
    ['fwd-group-add', 'fwd', 's1', '192.0.2.1', '00:11:22:33:44:55', 'web'],
    ['clear', 'Logical_Switch', 's1', 'forwarding_groups'],
  ],
] as const) {
  test(`a foreign ${what} row in a switch of ours keeps the switch, and is reported`, async () => {
    await using kiln = await start();
    await kiln.want([switchRow, port('web')]);
    await nbctl(...add);
    await kiln.seen();
    await kiln.want([]);
    assert.match(await nbctl('ls-list'), /s1/);
    assert.match(kiln.world.rowConflicts.peek(ls)?.message ?? '', new RegExp(`${what} .* in it belongs to another program`));
    await nbctl(...remove);
    await until('the switch is gone', async () => (await nbctl('ls-list')) === '');
  });
}

test('a second switch of its name with a foreign port in it stays until the port is gone', async () => {
  await using kiln = await start();
  await kiln.want([switchRow]);
  const marks = await nbctl('get', 'Logical_Switch', 's1', 'external_ids');
  await nbctl('--', '--id=@guest', 'create', 'Logical_Switch_Port', 'name=guest', '--', 'create', 'Logical_Switch', 'name=s1', `external_ids=${marks.trim()}`, 'ports=@guest'); // prettier-ignore
  await until('it is reported', () => /guest/.test(kiln.world.rowConflicts.peek(ls)?.message ?? ''));
  assert.equal((await nbctl('ls-list')).trim().split('\n').length, 2);
  await nbctl('lsp-del', 'guest');
  await until('one is left', async () => (await nbctl('ls-list')).trim().split('\n').length === 1);
  await kiln.want([]);
});

test("a second switch of its name that Kube-OVN left stays while another program's port is in it, and goes with that", async () => {
  await using kiln = await start();
  await kiln.want([switchRow]);
  const create = ['create', 'Logical_Switch', 'name=s1', 'external_ids:vendor=kube-ovn', 'ports=@guest'];
  await nbctl('--id=@guest', 'create', 'Logical_Switch_Port', 'name=guest', '--', ...create);
  await until('the replica has both', () => kiln.world.rows.rowsOf(ls).length === 2);
  await kiln.quiet();
  assert.equal((await nbctl('ls-list')).trim().split('\n').length, 2);
  await nbctl('lsp-del', 'guest');
  await until('one is left', async () => (await nbctl('ls-list')).trim().split('\n').length === 1);
  await kiln.want([]);
});

test('a row that became foreign meanwhile is not touched', async () => {
  await using kiln = await start();
  await kiln.want([switchRow]);
  // The plan is from a replica that lags: the ownership keys are removed, and the update has not arrived.
  kiln.leads = false;
  await nbctl('remove', 'Logical_Switch', 's1', 'external_ids', 'vendor');
  await until('the replica has seen it', () => kiln.world.rows.best(ls)?.ownership.kind === 'foreign');
  kiln.leads = true;
  await kiln.want([]);
  assert.match(await nbctl('ls-list'), /s1/);
  await nbctl('ls-del', 's1');
});

test('a deposed process cannot change a row, and the leader writes its term again after it was removed', async () => {
  await using first = await start();
  await first.want([switchRow]);
  await using second = await start(false);
  second.desired.replace([], [switchRow]);
  first.desired.replace([], [port('late')]);
  first.writer.flush();
  await until('the first knows', () => first.deposed);
  assert.equal(await nbctl('lsp-list', 's1'), '');

  await nbctl('remove', 'NB_Global', '.', 'external_ids', 'kiln.io/term');
  second.leads = true;
  await second.want([switchRow, port('early')]);
  assert.match(await nbctl('lsp-list', 's1'), /early/);
  await second.want([]);
});

test('a changed or removed term is written again at once, also with nothing else to write; a newer one deposes', async () => {
  await using kiln = await start();
  const term = async (): Promise<string> =>
    (await nbctl('--if-exists', 'get', 'NB_Global', '.', 'external_ids:kiln.io/term')).replaceAll('"', '');
  await kiln.want([switchRow]);
  const own = String(kiln.fence.term);
  const sent = kiln.reports.length;
  for (const change of [
    ['remove', 'NB_Global', '.', 'external_ids', 'kiln.io/term'],
    ['set', 'NB_Global', '.', 'external_ids:kiln.io/term=0'],
    ['set', 'NB_Global', '.', 'external_ids:kiln.io/term=x'],
    ['clear', 'NB_Global', '.', 'external_ids'],
  ]) {
    await nbctl(...change);
    await until(`the term is there again after ${change.join(' ')}`, async () => (await term()) === own);
  }
  assert.deepEqual([kiln.reports.length, kiln.deposed], [sent, false]);
  await kiln.seen();
  await until('no wake a second later', async () => {
    const { wakes } = kiln;
    await sleep(150);
    return kiln.wakes === wakes;
  });
  await nbctl('set', 'NB_Global', '.', `external_ids:kiln.io/term=${Number(own) + 7}`);
  await until('it knows', () => kiln.deposed);
  // The deposed process takes the next term if it still leads.
  assert.equal(await kiln.fence.raise(0), true);
  assert.equal(kiln.fence.term, Number(own) + 8);
  kiln.leads = true;
  await kiln.want([]);
});

test('a process that has seen a newer term stays deposed after that term was removed', async () => {
  await using first = await start();
  await first.want([switchRow]);
  first.leads = false;
  await using second = await start(false);
  await nbctl('remove', 'NB_Global', '.', 'external_ids', 'kiln.io/term');
  await until('both see that it is gone', () => second.fence.state().kind === 'lost' && first.fence.state().kind === 'deposed');
  assert.equal(await first.fence.restore(), false);
  first.leads = true;
  first.desired.replace([switchRow], [switchRow, port('late')]);
  first.writer.flush();
  await until('the first knows', () => first.deposed);
  assert.equal(await nbctl('lsp-list', 's1'), '');
  second.leads = true;
  await second.want([]);
});

test("a deposed process that does not know it yet reports the leader's work as no drift", async () => {
  await using first = await start();
  await first.want([switchRow]);
  await using second = await start(false);
  await first.seen();
  second.leads = true;
  await second.want([{ ...switchRow, columns: { ...switchRow.columns, other_config: { mcast_snoop: 'true' } } }]);
  await until('the first knows', () => first.deposed);
  assert.deepEqual(first.drifted, []);
  await second.want([]);
});

test('after another program removed the term, the next leader takes a higher one than any before', async () => {
  await using first = await start();
  await using second = await start(false);
  await nbctl('remove', 'NB_Global', '.', 'external_ids', 'kiln.io/term');
  await until('both see that it is gone', () => first.fence.state().kind === 'lost' && second.fence.state().kind === 'lost');
  const before = first.fence.term ?? 0;
  assert.equal(await second.fence.raise(0), true);
  assert.ok((second.fence.term ?? 0) > before);
  // A process that has never observed a term counts from the transitions of the Lease.
  await nbctl('remove', 'NB_Global', '.', 'external_ids', 'kiln.io/term');
  await until('it is gone', () => second.fence.state().kind === 'lost');
  assert.equal(await second.fence.raise(41), true);
  assert.equal(second.fence.term, 42);
  // A user wrote it in another notation, which no guard would match.
  await nbctl('set', 'NB_Global', '.', 'external_ids:kiln.io/term=007');
  await until('it is seen', () => second.fence.state().kind === 'lost');
  assert.equal(await second.fence.raise(0), true);
  assert.equal(second.fence.term, 43);
});

test('a row that OVN rejects is set aside with a message, and the others are written', async () => {
  await using kiln = await start();
  const bad: RowOutput = {
    kind: 'row',
    id: rowId('Logical_Router_Policy', 'r1', 99999, 'x'),
    owner,
    rule: 'test',
    parent: { id: rowId('Logical_Router', 'r1'), column: 'policies' },
    columns: { priority: 99999, match: 'x', action: 'allow' },
  };
  const router: RowOutput = { kind: 'row', id: rowId('Logical_Router', 'r1'), owner, rule: 'test', columns: { name: 'r1' } };
  await kiln.want([switchRow, router, bad]);
  assert.match(await nbctl('ls-list'), /s1/);
  assert.match(await nbctl('lr-list'), /r1/);
  assert.match(kiln.world.rowConflicts.peek(bad.id)?.message ?? '', /rejected by OVN/);
  await kiln.want([]);
});

test("columns and values that the server's schema lacks are left out and reported once", async () => {
  await using kiln = await start();
  const balancer: RowOutput = {
    kind: 'row',
    id: rowId('Load_Balancer', 'lb1'),
    owner,
    rule: 'test',
    columns: { name: 'lb1', protocol: 'tcp', selection_fields: ['ip_src', 'from_the_future'] },
  };
  await kiln.want([balancer]);
  assert.equal(await nbctl('get', 'Load_Balancer', 'lb1', 'selection_fields'), '[ip_src]');
  assert.deepEqual(kiln.leftOut, ['Load_Balancer.selection_fields "from_the_future"']);
  assert.deepEqual(kiln.writer.plan(), []);
  await kiln.want([]);
});

test('after a kill and restart of the server everything is written', async () => {
  await using kiln = await start();
  await kiln.want([switchRow, port('p1')]);
  await kill();
  kiln.desired.replace([], [port('p2')]);
  kiln.writer.flush();
  await sleep(100);
  await restart();
  await until('both ports are there', async () => /p1[\s\S]*p2/.test(await nbctl('lsp-list', 's1').catch(() => '')));
  await kiln.quiet();
  assert.deepEqual(kiln.writer.plan(), []);
});
