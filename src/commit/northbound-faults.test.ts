import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RowOwner, MemberOutput, RowOutput } from '../compile/output.ts';
import { dhcpOptionsId } from '../nb/tables.ts';
import { rowId } from '../nb/row-id.ts';
import { until } from '../testing/until.ts';
import { sharedNorthbound } from './testing/shared-northbound.ts';
import type { WriterProcess } from './testing/writer-process.ts';

const owner: RowOwner = { kind: 'subnet', namespace: '', name: 's1', uid: 'uid-1', created: '2026-01-01T00:00:00Z' };
const ls = rowId('Logical_Switch', 's1');
const switchRow: RowOutput = { kind: 'row', id: ls, owner, rule: 'test', columns: { name: 's1' } };
const lr = rowId('Logical_Router', 'r1');
const routerRow: RowOutput = { kind: 'row', id: lr, owner, rule: 'test', columns: { name: 'r1' } };

const routerPort: RowOutput = {
  kind: 'row',
  id: rowId('Logical_Router_Port', 'r1-s1'),
  owner,
  rule: 'test',
  parent: { id: lr, column: 'ports' },
  columns: { name: 'r1-s1', mac: '00:00:00:00:00:01', networks: ['10.0.0.1/24'] },
};

const { writer, nbctl } = sharedNorthbound();

function policy(priority: number): RowOutput {
  return {
    kind: 'row',
    id: rowId('Logical_Router_Policy', 'r1', priority, 'x'),
    owner,
    rule: 'test',
    parent: { id: lr, column: 'policies' },
    columns: { priority, match: 'x', action: 'allow' },
  };
}

/** A switch that no rule emits any longer, with a foreign port in it. */
async function collectWithGuest(kiln: WriterProcess, guest: string): Promise<void> {
  await kiln.want([switchRow]);
  await nbctl('lsp-add', 's1', guest);
  await until('the replica has the guest', () => kiln.world.rows.best(rowId('Logical_Switch_Port', guest)) !== undefined);
  await kiln.want([]);
}

test('a switch that waits for a foreign port in it is collected when that port is gone, without comparing everything again', async () => {
  await using kiln = await writer().start();
  await collectWithGuest(kiln, 'guest');
  assert.match(await nbctl('ls-list'), /s1/);
  await nbctl('lsp-del', 'guest');
  await until('the switch is gone', async () => (await nbctl('ls-list')) === '');
  await kiln.quiet();
  assert.equal(kiln.world.rowConflicts.peek(ls), undefined);
});

test('of several foreign rows in a switch to collect, the first by name is reported, in any order of arrival', async () => {
  await using kiln = await writer().start();
  await collectWithGuest(kiln, 'guest-b');
  assert.match(kiln.world.rowConflicts.peek(ls)?.message ?? '', /guest-b in it/);
  await nbctl('lsp-add', 's1', 'guest-a');
  await until('the conflict names the other one', () => kiln.world.rowConflicts.peek(ls)?.message.includes('guest-a in it') === true);
  await nbctl('lsp-del', 'guest-a');
  await nbctl('lsp-del', 'guest-b');
  await until('the switch is gone', async () => (await nbctl('ls-list')) === '');
});

test('of several switches of one name, each is collected when it has no foreign row any more, whichever is reported', async () => {
  await using kiln = await writer().start();
  const [dup, guests] = [
    ['--id=@d', 'create', 'Logical_Switch', 'name=s1'],
    ['guest-a', 'guest-b'],
  ];
  await kiln.want([switchRow]);
  const ids = await nbctl('get', 'Logical_Switch', 's1', 'external_ids');
  for (const guest of guests)
    await nbctl(...dup, `external_ids=${ids}`, 'ports=@p', '--', '--id=@p', 'create', 'Logical_Switch_Port', `name=${guest}`);
  await until('the conflict names the first of them', () => kiln.world.rowConflicts.peek(ls)?.message.includes('guest-a in it') === true);
  await nbctl('lsp-del', 'guest-b');
  await until('the one that is empty is gone', async () => (await nbctl('ls-list')).split('\n').length === 2);
  await nbctl('lsp-del', 'guest-a');
  await until('one is left, and no conflict', async () => (await nbctl('ls-list')).split('\n').length === 1);
  await until('no conflict is reported', () => kiln.world.rowConflicts.peek(ls) === undefined);

  await nbctl(...dup, `external_ids=${ids}`, 'ports=@p', '--', '--id=@p', 'create', 'Logical_Switch_Port', 'name=guest-a');
  await kiln.want([]);
  await until('the other one goes all the same', async () => (await nbctl('ls-list')).split('\n').length === 1);
  await nbctl('lsp-del', 'guest-a');
  await until('all are gone', async () => (await nbctl('ls-list')) === '');
});

test('a switch that waits for a foreign port in it is no conflict any more when another program takes it over', async () => {
  await using kiln = await writer().start();
  await collectWithGuest(kiln, 'guest');
  assert.match(kiln.world.rowConflicts.peek(ls)?.message ?? '', /guest in it/);
  await nbctl('clear', 'Logical_Switch', 's1', 'external_ids');
  await until('no conflict is reported', () => kiln.world.rowConflicts.peek(ls) === undefined);
  assert.match(await nbctl('ls-list'), /s1/);
  await nbctl('ls-del', 's1');
});

test('a row that cannot be collected no longer counts as extra when another program takes it over or removes it', async () => {
  await using kiln = await writer().start();
  const extra = (): number | undefined => kiln.writer.differences.get('Logical_Switch')?.extra;
  kiln.undecided.add('subnet//s1');
  for (const taken of [
    ['clear', 'Logical_Switch', 's1', 'external_ids'],
    ['ls-del', 's1'],
  ]) {
    await kiln.want([switchRow]);
    await kiln.want([]);
    assert.equal(extra(), 1);
    await nbctl(...taken);
    await until('it is not counted', () => extra() === 0);
    await nbctl('--if-exists', 'ls-del', 's1');
    await kiln.seen();
  }
});

test('a port that another program moved into two routers of its own is made again in its router', async () => {
  await using kiln = await writer().start();
  const portsOf = (name: string): Promise<string> => nbctl('get', 'Logical_Router', name, 'ports');
  await kiln.want([routerRow, routerPort]);
  const moved = await nbctl('--bare', '--columns=_uuid', 'find', 'Logical_Router_Port', 'name=r1-s1');
  const into = ['x1', 'x2'].flatMap((name) => ['--', 'lr-add', name, '--', 'add', 'Logical_Router', name, 'ports', moved]);
  await nbctl('remove', 'Logical_Router', 'r1', 'ports', moved, ...into);
  await until('it is in its place', async () => (await portsOf('r1')) !== '[]');
  assert.deepEqual([await portsOf('x1'), await portsOf('x2')], ['[]', '[]']);
  assert.ok(kiln.reports.every(({ ok }) => ok));
  await kiln.want([]);
  await nbctl('lr-del', 'x1', '--', 'lr-del', 'x2');
});

test('the children of a router move to the row that has its name when the ownership changes, frozen rows included', async () => {
  await using kiln = await writer().start();
  const allow = policy(7);
  await kiln.want([routerRow, allow, routerPort]);
  await kiln.want([routerRow, allow, { ...routerPort, columns: {} }]);
  const text = (): Promise<string> => nbctl('--columns=_uuid,name,mac,networks', 'list', 'Logical_Router_Port');
  const kept = await text();
  const [first] = (await nbctl('--columns=_uuid', '--bare', 'find', 'Logical_Router', 'name=r1')).split('\n');
  assert.ok(first);
  // A duplicate as a second controller would create it, with a foreign policy in it, so that it is not collected.
  const ids = 'external_ids:vendor=kube-ovn external_ids:kiln.io/owner=subnet//s1 external_ids:kiln.io/uid=uid-1';
  const guest = ['--id=@p', 'create', 'Logical_Router_Policy', 'priority=9', 'match=y', 'action=drop'];
  const made = await nbctl(...guest, '--', 'create', 'Logical_Router', 'name=r1', 'policies=@p', ...ids.split(' '));
  const second = made.split('\n').at(-1) ?? '';
  await until('the replica has both', () => kiln.world.rows.rowsOf(lr).length === 2);
  await kiln.quiet();
  await nbctl('remove', 'Logical_Router', first, 'external_ids', 'kiln.io/owner', 'kiln.io/uid');
  await until(
    'the rule is in the other one',
    async () => (await nbctl('get', 'Logical_Router', second, 'policies')).split(',').length === 2,
  );
  assert.match(kept, /r1-s1/);
  await until('the port is in the other one', async () => (await nbctl('get', 'Logical_Router', second, 'ports')) !== '[]');
  assert.equal(await text(), kept);
  // It has Kube-OVN's key, and nothing is in it any more.
  await until('the first is gone', async () => (await nbctl('--columns=_uuid', '--bare', 'find', 'Logical_Router', 'name=r1')) === second);
  await nbctl('lr-policy-del', second, '9', 'y').catch(() => undefined);
  await kiln.want([]);
});

test('a row with a value that cannot be encoded is set aside, and the others are written', async () => {
  await using kiln = await writer().start();
  await kiln.want([switchRow, routerRow, policy(1.5)]);
  assert.match(await nbctl('ls-list'), /s1/);
  assert.match(await nbctl('lr-list'), /r1/);
  assert.match(kiln.world.rowConflicts.peek(policy(1.5).id)?.message ?? '', /priority/);
  const sent = kiln.reports.length;
  await sleep(200);
  assert.ok(kiln.reports.length - sent < 20, 'it is not tried in a tight loop');
  await kiln.want([]);
  assert.equal(await nbctl('ls-list'), '');
});

test('a row that another program changes right before each of two transactions is not set aside, and is written soon', async () => {
  await using kiln = await writer().start();
  await kiln.want([switchRow]);
  const transact = kiln.session.transact.bind(kiln.session);
  const others = ['another', 'a-third'];
  kiln.session.transact = async (...args) => {
    const uid = others.shift();
    if (uid !== undefined) await nbctl('set', 'Logical_Switch', 's1', `external_ids:kiln.io/uid=${uid}`);
    return transact(...args);
  };
  let conflicts = 0;
  kiln.world.rowConflicts.onChange(() => conflicts++);
  await kiln.want([{ ...switchRow, columns: { name: 's1', other_config: { mcast_snoop: 'true' } } }]);
  await until('it is written', async () => (await nbctl('get', 'Logical_Switch', 's1', 'other_config')).includes('mcast_snoop'));
  await until('it has its owner again', async () => (await nbctl('get', 'Logical_Switch', 's1', 'external_ids')).includes('uid-1'));
  assert.deepEqual(others, []);
  assert.ok(kiln.reports.filter(({ ok }) => !ok).length >= 2);
  assert.equal(conflicts, 0);
  await kiln.want([]);
});

test('a conflict about a row that cannot be written yet is reported once, however often the row is compared', async () => {
  await using kiln = await writer().start();
  kiln.upToDate = false;
  let changes = 0;
  kiln.world.rowConflicts.onChange(() => changes++);
  const both = [switchRow, { ...switchRow, owner: { ...switchRow.owner, name: 'younger', created: '2026-02-01T00:00:00Z' } }];
  kiln.desired.replace([], both);
  for (let i = 0; i < 4; i++) kiln.writer.flush();
  // Each report causes a run of rules and then another comparison of the row: repeated reports would loop without end.
  assert.equal(changes, 1);
  assert.match(kiln.world.rowConflicts.peek(switchRow.id)?.message ?? '', /older subnet/);
  assert.equal(kiln.reports.length, 0);
  kiln.upToDate = true;
  kiln.writer.flush();
  await kiln.quiet();
  assert.match(await nbctl('ls-list'), /s1/);
  kiln.desired.replace(both, []);
  await kiln.want([]);
});

test('a row that is set aside stays a conflict while it is tried again', async () => {
  await using kiln = await writer().start();
  await kiln.want([routerRow, policy(99_999)]);
  const { id } = policy(99_999);
  assert.match(kiln.world.rowConflicts.peek(id)?.message ?? '', /rejected by OVN/);
  let gaps = 0;
  kiln.world.rowConflicts.onChange((_key, after) => (gaps += after === undefined ? 1 : 0));
  const sent = kiln.reports.length;
  await until('it was tried again', () => kiln.reports.length >= sent + 2);
  await kiln.quiet();
  assert.equal(gaps, 0);
  await kiln.want([routerRow]);
  assert.equal(kiln.world.rowConflicts.peek(id), undefined);
  await kiln.want([]);
});

test('an element that an address set is inserted with, and is no longer emitted when the row is observed, is removed', async () => {
  await using kiln = await writer().start();
  const set = (addresses: readonly string[]): RowOutput => ({
    kind: 'row',
    id: rowId('Address_Set', 'as0'),
    owner,
    rule: 'test',
    columns: { name: 'as0', addresses },
  });
  const made = kiln.want([set(['10.0.0.1', '10.0.0.2'])]);
  assert.equal(kiln.writer.inFlight, true);
  await Promise.all([made, kiln.want([set(['10.0.0.2', '10.0.0.3'])])]);
  assert.equal((await nbctl('--bare', 'get', 'Address_Set', 'as0', 'addresses')).trim(), '["10.0.0.2", "10.0.0.3"]');
  await kiln.want([]);
});

test('an element of an address set that is removed while a transaction is under way is added again', async () => {
  await using kiln = await writer().start();
  const set = rowId('Address_Set', 'as1');
  const setRow: RowOutput = { kind: 'row', id: set, owner, rule: 'test', columns: { name: 'as1', addresses: [] } };
  const element: MemberOutput = { kind: 'member', row: set, column: 'addresses', member: '10.0.0.1' };
  await kiln.want([setRow, element]);
  assert.match(await nbctl('get', 'Address_Set', 'as1', 'addresses'), /10\.0\.0\.1/);
  // Transactions follow one another while another program removes the element.
  let taken = false;
  const removed = nbctl('remove', 'Address_Set', 'as1', 'addresses', '10.0.0.1').then(() => (taken = true));
  const isTaken = (): boolean => taken;
  for (let round = 0; round < 200 && !isTaken(); round++) {
    await kiln.want([setRow, element, { ...switchRow, columns: { name: 's1', other_config: { mcast_snoop: String(round % 2 === 0) } } }]);
  }
  await removed;
  await until('the replica has seen it', async () => (await nbctl('get', 'Address_Set', 'as1', 'addresses')) === '[]' || kiln.writer.quiet);
  await kiln.quiet();
  await until('the element is back', async () => (await nbctl('get', 'Address_Set', 'as1', 'addresses')).includes('10.0.0.1'));
  await kiln.want([]);
});

test('rows without their ownership keys or names are made again, although the old row still exists', async () => {
  await using kiln = await writer().start();
  const dhcp = dhcpOptionsId('s1', 'IPv4');
  const options: RowOutput = {
    kind: 'row',
    id: dhcp,
    owner,
    rule: 'test',
    columns: { cidr: '10.0.0.0/24', options: { router: '10.0.0.1' } },
    externalIds: { ls: 's1', protocol: 'IPv4' },
  };
  const made = (): Promise<string> => nbctl('--bare', '--columns=_uuid', 'find', 'DHCP_Options', 'external_ids:ls=s1');
  await kiln.want([options, switchRow]);
  await nbctl('clear', 'DHCP_Options', await made(), 'external_ids');
  await until('the options are made again', async () => (await made()) !== '');
  await nbctl('set', 'Logical_Switch', 's1', 'name=renamed');
  await until('the switch is made again', async () => (await nbctl('ls-list')).includes('(s1)'));
  await until('the renamed one is collected', async () => !(await nbctl('ls-list')).includes('renamed'));
  await kiln.quiet();
  assert.deepEqual(kiln.writer.plan(), []);
  assert.equal(kiln.world.rowConflicts.size, 0);
  await kiln.want([]);
});

test('a foreign port is reported while its switch is ours, and only the switch once that is foreign too', async () => {
  await using kiln = await writer().start();
  const id = rowId('Logical_Switch_Port', 'web.shop');
  const port: RowOutput = { kind: 'row', id, owner, rule: 'test', parent: { id: ls, column: 'ports' }, columns: { name: 'web.shop' } };
  const conflicts = (): readonly string[] => [...kiln.world.rowConflicts.entries()].map(([row]) => row).toSorted();
  await kiln.want([switchRow, port]);
  await nbctl('set', 'Logical_Switch_Port', 'web.shop', 'external_ids={stranger=yes}');
  await until('the conflict of the port is reported', () => conflicts().includes(id));
  await nbctl('set', 'Logical_Switch', 's1', 'external_ids={stranger=yes}');
  await until('only the conflict of the switch is reported', () => conflicts().join() === ls);
  await nbctl('ls-del', 's1');
  await until('both are made again', async () => (await nbctl('lsp-list', 's1').catch(() => '')).includes('web.shop'));
  await kiln.quiet();
  assert.deepEqual(conflicts(), []);
  await kiln.want([]);
});

test('rows of an owner for which a rule throws are not collected', async () => {
  const first = await writer().start();
  await first.want([switchRow]);
  await first.close();
  await using kiln = writer();
  kiln.undecided.add('subnet//s1');
  await kiln.start();
  await kiln.quiet();
  assert.match(await nbctl('ls-list'), /s1/);
  kiln.undecided.clear();
  kiln.writer.examineAll();
  await kiln.quiet();
  assert.equal(await nbctl('ls-list'), '');
});

test('a foreign row with a desired name gets no member and loses none', async () => {
  await using kiln = await writer().start();
  const group = rowId('Port_Group', 'g1');
  const set = rowId('Address_Set', 'as1');
  const port: RowOutput = {
    kind: 'row',
    id: rowId('Logical_Switch_Port', 'p1'),
    owner,
    rule: 'test',
    parent: { id: ls, column: 'ports' },
    columns: { name: 'p1' },
  };
  const wanted = [
    switchRow,
    port,
    { kind: 'row', id: group, owner, rule: 'test', columns: { name: 'g1' } },
    { kind: 'member', row: group, column: 'ports', member: { ref: port.id } },
    { kind: 'row', id: set, owner, rule: 'test', columns: { name: 'as1', addresses: ['10.0.0.1'] } },
    { kind: 'member', row: set, column: 'addresses', member: '10.0.0.2' },
  ] as const;
  const theirs = async (): Promise<string> => (await nbctl('list', 'Port_Group', 'g1')) + (await nbctl('list', 'Address_Set', 'as1'));
  await nbctl('pg-add', 'g1', '--', 'create', 'Address_Set', 'name=as1', 'addresses=10.9.9.9');
  const before = await theirs();
  await kiln.seen();
  await kiln.want(wanted);
  assert.equal(await nbctl('--bare', '--columns=name', 'find', 'Logical_Switch_Port', 'name=p1'), 'p1');
  assert.equal(await theirs(), before);
  assert.deepEqual([...kiln.world.rowConflicts.entries()].map(([id]) => id).toSorted(), [set, group]);

  await nbctl('pg-del', 'g1', '--', 'destroy', 'Address_Set', 'as1');
  await until('the group is ours', async () => (await nbctl('--bare', '--columns=ports', 'find', 'Port_Group', 'name=g1')) !== '');
  await until('the set is ours', async () =>
    (await nbctl('--bare', '--columns=addresses', 'find', 'Address_Set', 'name=as1')).includes('10.0.0.2'),
  );
  await kiln.want([]);
});

test('a port refers to the new DHCP options after another program took over the old ones', async () => {
  await using kiln = await writer().start();
  const id = dhcpOptionsId('s1', 'IPv4');
  const options: RowOutput = {
    kind: 'row',
    id,
    owner,
    rule: 'test',
    columns: { cidr: '10.0.0.0/24', options: { router: '10.0.0.1' } },
    externalIds: { ls: 's1', protocol: 'IPv4' },
  };
  const port: RowOutput = {
    kind: 'row',
    id: rowId('Logical_Switch_Port', 'p1'),
    owner,
    rule: 'test',
    parent: { id: ls, column: 'ports' },
    columns: { name: 'p1', dhcpv4_options: { ref: id } },
  };
  await kiln.want([switchRow, options, port]);
  const before = kiln.world.rows.best(id)?.uuid ?? '';
  const mark = ['--', 'set', 'dhcp_options', before, 'external_ids:theirs=yes'];
  await nbctl('clear', 'dhcp_options', before, 'external_ids', ...mark);
  await until('the port refers to other options', async () => {
    const uuid = kiln.world.rows.best(id)?.uuid ?? before;
    return uuid !== before && (await nbctl('--bare', 'get', 'logical_switch_port', 'p1', 'dhcpv4_options')).includes(uuid);
  });
  await kiln.quiet();
});
