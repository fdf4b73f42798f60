/** Drift by hand, with ovn-nbctl against a real ovsdb-server: reported with both states, distinguished from ordinary changes, repaired. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RowOwner, MemberOutput, RowOutput } from '../compile/output.ts';
import { driftSentence, repairSentence } from '../diff/drift.ts';
import { rowId } from '../nb/row-id.ts';
import { until } from '../testing/until.ts';
import { sharedNorthbound, rowsOf } from './testing/shared-northbound.ts';
import type { WriterProcess } from './testing/writer-process.ts';

const owner: RowOwner = { kind: 'subnet', namespace: '', name: 's1', uid: 'uid-1', created: '2026-01-01T00:00:00Z' };
const ls = rowId('Logical_Switch', 's1');
const group = rowId('Port_Group', 'g1');
const set = rowId('Address_Set', 'a1');
const route = rowId('Logical_Router_Static_Route', 'r1', '', 'dst-ip', '10.7.0.0/16', '10.0.0.9');
const row = rowsOf(owner);
const switchRow = row(ls, { name: 's1', other_config: { mcast_snoop: 'true' } });
const groupRow = row(group, { name: 'g1' });
const setRow = row(set, { name: 'a1', addresses: ['10.0.0.1', '10.0.0.2'] });
const port = (address: string): RowOutput =>
  row(rowId('Logical_Switch_Port', 'p1'), { name: 'p1', addresses: [address], type: '' }, { id: ls, column: 'ports' });
const inGroup: MemberOutput = { kind: 'member', row: group, column: 'ports', member: { ref: rowId('Logical_Switch_Port', 'p1') } };

const { writer, nbctl } = sharedNorthbound();

async function withWriter(use: (kiln: WriterProcess) => Promise<void>): Promise<void> {
  await using kiln = await writer().start(true);
  await use(kiln);
  await kiln.want([]);
}

test('changed outputs, and the rows that are created and deleted with them, are no drift', async () => {
  await withWriter(async (kiln) => {
    await kiln.want([switchRow, groupRow, setRow, port('00:00:00:00:00:01 10.0.0.2'), inGroup]);
    await kiln.want([switchRow, groupRow, row(set, { name: 'a1', addresses: ['10.0.0.1'] }), port('00:00:00:00:00:01 10.0.0.3')]);
    await nbctl(
      'ls-add',
      'foreign',
      '--',
      'lsp-add',
      's1',
      'guest',
      '--',
      'set',
      'Logical_Switch_Port',
      'p1',
      'external_ids:neutron\\:x=1',
    );
    await nbctl('lsp-del', 'guest', '--', 'ls-del', 'foreign');
    await kiln.want([switchRow, setRow]);
    await kiln.want([]);
    assert.deepEqual([...kiln.drifted, ...kiln.repaired], []);
  });
});

test('a port that is made again in another switch is in its group at once, and no drift is reported', async () => {
  await withWriter(async (kiln) => {
    const other = row(rowId('Logical_Switch', 's2'), { name: 's2' });
    const moved = { ...port('00:00:00:00:00:01 10.0.0.2'), parent: { id: other.id, column: 'ports' } };
    await kiln.want([switchRow, other, groupRow, port('00:00:00:00:00:01 10.0.0.2'), inGroup]);
    const before = kiln.reports.length;
    await kiln.want([switchRow, other, groupRow, moved, inGroup]);
    assert.equal(kiln.reports.length - before, 1);
    assert.match(await nbctl('lsp-list', 's2'), /p1/);
    assert.notEqual((await nbctl('get', 'Port_Group', 'g1', 'ports')).trim(), '[]');
    assert.deepEqual([...kiln.drifted, ...kiln.repaired], []);
  });
});

test('a changed column, key and element: the report has the old and the new value of each column', async () => {
  await withWriter(async (kiln) => {
    await kiln.want([switchRow, setRow, port('00:00:00:00:00:01 10.0.0.2')]);
    await nbctl('lsp-set-addresses', 'p1', '00:00:00:00:00:02 10.9.9.9');
    await until('the address is back', async () => (await nbctl('lsp-get-addresses', 'p1')).includes('10.0.0.2'));
    await kiln.quiet();
    const [drift, ...more] = kiln.drifted.splice(0);
    assert.deepEqual(more, []);
    assert.deepEqual(drift, {
      id: 'Logical_Switch_Port/p1',
      difference: 'different',
      owner: 'subnet//s1',
      uid: 'uid-1',
      before: { addresses: '00:00:00:00:00:02 10.9.9.9' },
      after: { addresses: '00:00:00:00:00:01 10.0.0.2' },
    });
    assert.deepEqual(kiln.repaired.splice(0), [drift]);
    assert.equal(
      driftSentence(drift),
      'Logical_Switch_Port p1 was changed by another program; Kiln repairs it: addresses was "00:00:00:00:00:02 10.9.9.9" and becomes "00:00:00:00:00:01 10.0.0.2"',
    );
    assert.equal(repairSentence(drift), 'Logical_Switch_Port p1 is repaired: addresses "00:00:00:00:00:01 10.0.0.2"');

    await nbctl('set', 'Logical_Switch', 's1', 'other_config:mcast_snoop=false');
    await until('the key is back', async () => (await nbctl('get', 'Logical_Switch', 's1', 'other_config:mcast_snoop')) === '"true"');
    await kiln.quiet();
    assert.deepEqual(
      kiln.repaired.splice(0).map(({ before: was, after: is }) => [was, is]),
      [[{ 'other_config:mcast_snoop': 'false' }, { 'other_config:mcast_snoop': 'true' }]],
    );

    await nbctl('set', 'Address_Set', 'a1', 'addresses=10.0.0.1,10.66.66.66');
    await until('the elements are back', async () =>
      /^\["?10\.0\.0\.1"?, "?10\.0\.0\.2"?\]$/.test(await nbctl('get', 'Address_Set', 'a1', 'addresses')),
    );
    await kiln.quiet();
    const found = kiln.repaired.splice(0);
    assert.deepEqual(
      found.map(({ before: was }) => was.addresses).filter((text) => text !== undefined),
      ['10.66.66.66'],
    );
    assert.deepEqual(
      found.map(({ after: is }) => is.addresses).filter((text) => text !== undefined),
      ['10.0.0.2'],
    );
  });
});

test('removed ownership keys are repaired in the same rows; a foreign row of the name stays a conflict', async () => {
  await withWriter(async (kiln) => {
    const wanted = [switchRow, groupRow, port('00:00:00:00:00:01 10.0.0.2'), inGroup];
    await kiln.want(wanted);
    const uuids = async (): Promise<readonly string[]> =>
      await Promise.all([nbctl('get', 'Logical_Switch', 's1', '_uuid'), nbctl('get', 'Logical_Switch_Port', 'p1', '_uuid')]);
    const marks = async (): Promise<string> =>
      (await nbctl('get', 'Logical_Switch', 's1', 'external_ids')) + (await nbctl('get', 'Logical_Switch_Port', 'p1', 'external_ids'));
    const [rows, marked] = [await uuids(), await marks()];
    for (const cleared of [
      ['clear', 'Logical_Switch_Port', 'p1', 'external_ids'],
      ['clear', 'Logical_Switch', 's1', 'external_ids', '--', 'clear', 'Logical_Switch_Port', 'p1', 'external_ids'],
      ['remove', 'Logical_Switch', 's1', 'external_ids', 'vendor'],
    ]) {
      await nbctl(...cleared);
      await until('the marks are back', async () => (await marks()) === marked);
      await kiln.quiet();
      assert.deepEqual(await uuids(), rows);
      assert.match(kiln.drifted.splice(0).map(driftSentence).join('\n'), /changed by another program.*external_ids:/);
    }
    await nbctl('clear', 'Logical_Switch_Port', 'p1', 'external_ids', '--', 'set', 'Logical_Switch_Port', 'p1', 'external_ids:owner=mine');
    await kiln.quiet();
    assert.equal(await nbctl('get', 'Logical_Switch_Port', 'p1', 'external_ids'), '{owner=mine}');
    await nbctl('lsp-del', 'p1');
    await kiln.want([]);
    kiln.drifted.splice(0);
    await nbctl('ls-add', 's1');
    await kiln.seen();
    await kiln.want([switchRow]);
    assert.equal(await nbctl('get', 'Logical_Switch', 's1', 'external_ids'), '{}');
    await nbctl('ls-del', 's1');
    await kiln.quiet();
    kiln.drifted.splice(0);
  });
});

test('a deleted row, a duplicate, a row with our ownership keys that no rule emits, a removed member', async () => {
  const router = row(rowId('Logical_Router', 'r1'), { name: 'r1' });
  const routeRow = row(
    route,
    { route_table: '', ip_prefix: '10.7.0.0/16', nexthop: '10.0.0.9', policy: 'dst-ip' },
    { id: router.id, column: 'static_routes' },
  );
  await withWriter(async (kiln) => {
    await kiln.want([switchRow, groupRow, router, routeRow, port('00:00:00:00:00:01 10.0.0.2'), inGroup]);
    await nbctl('lsp-del', 'p1');
    await until('the port is back in the group', async () => (await nbctl('--bare', '--columns=ports', 'list', 'Port_Group', 'g1')) !== '');
    await kiln.quiet();
    assert.deepEqual(
      kiln.repaired.splice(0).map(({ id, difference, before: was, after: is }) => [id, difference, was, is.addresses]),
      [['Logical_Switch_Port/p1', 'missing', {}, '00:00:00:00:00:01 10.0.0.2']],
    );

    const marks = await nbctl(
      'get',
      'Logical_Router_Static_Route',
      (await nbctl('--bare', '--columns=_uuid', 'list', 'Logical_Router_Static_Route')).trim(),
      'external_ids',
    );
    const ids = marks
      .slice(1, -1)
      .split(', ')
      .map((pair) => `external_ids:${pair.replaceAll('"', '').replace(/^([^=]+)=/, (_, key: string) => `${key.replaceAll(':', '\\:')}=`)}`);
    await nbctl(
      '--id=@r',
      'create',
      'Logical_Router_Static_Route',
      'ip_prefix=10.7.0.0/16',
      'nexthop=10.0.0.9',
      'policy=dst-ip',
      ...ids,
      '--',
      'add',
      'Logical_Router',
      'r1',
      'static_routes',
      '@r',
    );
    await until(
      'the duplicate is gone',
      async () => (await nbctl('--bare', '--columns=_uuid', 'list', 'Logical_Router_Static_Route')).split(/\s+/).length === 1,
    );
    await kiln.quiet();
    const [twin] = kiln.repaired.splice(0);
    assert.equal(twin?.difference, 'extra');
    assert.equal(twin.before.nexthop, '10.0.0.9');

    await nbctl('ls-add', 'forged', '--', 'set', 'Logical_Switch', 'forged', ...ids);
    await until('the forged switch is gone', async () => !(await nbctl('ls-list')).includes('forged'));
    await kiln.quiet();
    assert.deepEqual(
      kiln.repaired.splice(0).map(({ id, difference, before: was }) => [id, difference, was.name]),
      [['Logical_Switch/forged', 'extra', 'forged']],
    );

    await nbctl('ls-add', 'foreign', '--', 'lsp-add', 'foreign', 'guest');
    const guest = await nbctl('get', 'Logical_Switch_Port', 'guest', '_uuid');
    await nbctl('set', 'Port_Group', 'g1', `ports=[${guest}]`);
    const ownPort = await nbctl('get', 'Logical_Switch_Port', 'p1', '_uuid');
    await until('the own member is back', async () => (await nbctl('get', 'Port_Group', 'g1', 'ports')).includes(ownPort));
    assert.ok((await nbctl('get', 'Port_Group', 'g1', 'ports')).includes(guest));
    await kiln.quiet();
    assert.deepEqual(
      kiln.repaired.splice(0).map(({ id, before: was, after: is }) => [id, was, is]),
      [['Port_Group/g1', {}, { ports: 'p1' }]],
    );
    await nbctl('ls-del', 'foreign');
  });
});

test('the next leader repairs what other programs changed during the time without a leader, and reports none of it', async () => {
  await withWriter(async (kiln) => {
    await kiln.want([switchRow, setRow, port('00:00:00:00:00:01 10.0.0.2')]);
    kiln.leads = false;
    kiln.writer.flush();
    await nbctl('set', 'Logical_Switch', 's1', 'other_config:mcast_snoop=false', '--', 'lsp-set-addresses', 'p1', 'unknown');
    await nbctl('remove', 'Address_Set', 'a1', 'addresses', '10.0.0.2');
    // Wait until both changes are observed: one that arrives after the next term began would be reported as made in that term.
    await kiln.seen();
    await until('it is seen', () =>
      Promise.resolve((kiln.writer.differences.get('Logical_Switch')?.different ?? 0) === 1 || (kiln.writer.flush(), false)),
    );
    assert.deepEqual(kiln.drifted, []);
    kiln.leads = true;
    await kiln.want([switchRow, setRow, port('00:00:00:00:00:01 10.0.0.3')]);
    await until('it is back', async () => (await nbctl('get', 'Logical_Switch', 's1', 'other_config:mcast_snoop')) === '"true"');
    await kiln.quiet();
    assert.deepEqual([kiln.drifted, kiln.repaired], [[], []]);
    assert.match(await nbctl('lsp-get-addresses', 'p1'), /10\.0\.0\.3/);
    assert.equal(kiln.writer.differences.get('Logical_Switch')?.different, 0);
  });
});

test('a row that another program changes after each repair is repaired once a second, not in a hot loop', async () => {
  await withWriter(async (kiln) => {
    await kiln.want([switchRow]);
    const sent = kiln.reports.length;
    // Full timers: the other tests use shorter ones (see WriterProcess).
    kiln.slow = true;
    const began = performance.now();
    let changes = 0;
    // Changes that arrive before the previous one was observed are repaired together.
    await until('sixty changes, and five answers', async () => {
      await nbctl('set', 'Logical_Switch', 's1', 'other_config:mcast_snoop=false');
      return ++changes >= 60 && kiln.reports.length - sent >= 5;
    });
    const seconds = (performance.now() - began) / 1_000;
    const repairs = kiln.reports.length - sent;
    assert.ok(repairs >= 5 && repairs <= 7 + seconds, `${repairs} repairs in ${seconds} s`);
    await until(
      'it is right in the end',
      async () => (await nbctl('get', 'Logical_Switch', 's1', 'other_config:mcast_snoop')) === '"true"',
    );
    assert.ok(kiln.repaired.length >= 5);
  });
});
