/** Drift by hand outside of emitted columns: rows renamed, disabled, added to other rows, duplicated with their children. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RowOwner, MemberOutput, Output, RowOutput } from '../compile/output.ts';
import { driftSentence } from '../diff/drift.ts';
import { rowId } from '../nb/row-id.ts';
import { dhcpOptionsId, policyId } from '../nb/tables.ts';
import { until } from '../testing/until.ts';
import { sharedNorthbound, rowsOf } from './testing/shared-northbound.ts';
import type { WriterProcess } from './testing/writer-process.ts';

const owner: RowOwner = { kind: 'vpc', namespace: '', name: 'v', uid: 'uid-1', created: '2026-01-01T00:00:00Z' };
const row = rowsOf(owner);
const router = row(rowId('Logical_Router', 'r1'), { name: 'r1' });
const ls = row(rowId('Logical_Switch', 's1'), { name: 's1' });
const routerPort = row(
  rowId('Logical_Router_Port', 'r1-s1'),
  { name: 'r1-s1', mac: '02:00:00:00:00:01', networks: ['10.0.0.1/24'] },
  { id: router.id, column: 'ports' },
);
const policy = row(
  policyId('r1', 31000, 'ip4.dst == 10.0.0.0/24'),
  { priority: 31000, match: 'ip4.dst == 10.0.0.0/24', action: 'allow' },
  { id: router.id, column: 'policies' },
);
const port = row(rowId('Logical_Switch_Port', 'p1'), { name: 'p1', addresses: ['unknown'], type: '' }, { id: ls.id, column: 'ports' });
const balancer = row(rowId('Load_Balancer', 'lb1'), { name: 'lb1', protocol: 'tcp' });
const group = row(rowId('Port_Group', 'g1'), { name: 'g1' });
const dhcp: RowOutput = {
  ...row(dhcpOptionsId('s1', 'IPv4'), { cidr: '10.0.0.0/24', options: { lease_time: '60' } }),
  externalIds: { ls: 's1', protocol: 'IPv4' },
};
const member = (of: RowOutput, column: string, { id }: RowOutput): MemberOutput => ({
  kind: 'member',
  row: of.id,
  column,
  member: { ref: id },
});
const WANTED: readonly Output[] = [
  router,
  ls,
  routerPort,
  policy,
  port,
  balancer,
  group,
  dhcp,
  member(ls, 'load_balancer', balancer),
  member(group, 'ports', port),
];

const { writer, nbctl } = sharedNorthbound();
const uuidsOf = async (table: string): Promise<readonly string[]> =>
  (await nbctl('--bare', '--columns=_uuid', 'list', table)).split(/\s+/).filter((text) => text !== '');

/** The desired rows exist; a new writer has nothing to do after `use`. */
async function withWriter(use: (kiln: WriterProcess) => Promise<void>): Promise<void> {
  await using kiln = await writer().start(true);
  await kiln.want(WANTED);
  await use(kiln);
  await kiln.quiet();
  assert.deepEqual(kiln.writer.plan(), []);
  const fresh = writer();
  fresh.leads = false;
  fresh.session.start();
  await fresh.session.untilSynced();
  fresh.desired.replace([], WANTED);
  assert.deepEqual(fresh.writer.plan(), []);
  await fresh.close();
  await kiln.want([]);
}

test('a disabled router, router port and port are enabled again, and a port is nested in no other', async () => {
  await withWriter(async (kiln) => {
    for (const [table, name, column, value, empty] of [
      ['Logical_Router', 'r1', 'enabled', 'false', '[]'],
      ['Logical_Router_Port', 'r1-s1', 'enabled', 'false', '[]'],
      ['Logical_Router_Port', 'r1-s1', 'peer', 'x', '[]'],
      ['Logical_Router_Port', 'r1-s1', 'ipv6_ra_configs', 'send_periodic=true', '{}'],
      ['Logical_Switch_Port', 'p1', 'enabled', 'false', '[]'],
      ['Logical_Switch_Port', 'p1', 'parent_name', 'x', '[]'],
      ['Logical_Switch_Port', 'p1', 'tag', '7', '[]'],
      ['Logical_Switch_Port', 'p1', 'tag_request', '9', '[]'],
      ['Logical_Switch_Port', 'p1', 'port_security', '"0a:00:00:00:00:07"', '[]'],
    ] as const) {
      await nbctl('set', table, name, `${column}=${value}`);
      await until(`${table}.${column} is empty again`, async () => (await nbctl('get', table, name, column)) === empty);
      await kiln.quiet();
      const [drift, ...more] = kiln.repaired.splice(0);
      assert.deepEqual(more, []);
      assert.match(driftSentence(drift as never), new RegExp(`${name} was changed by another program; Kiln repairs it: ${column}`));
    }
    const [uuid = ''] = await uuidsOf('Logical_Router_Policy');
    await nbctl('set', 'Logical_Router_Policy', uuid, 'nexthop=10.0.0.9', 'options:pkt_mark=7');
    await until('the policy is as it was', async () =>
      /^\[\]\s+\{\}$/.test(await nbctl('get', 'Logical_Router_Policy', uuid, 'nexthop', 'options')),
    );
    kiln.repaired.splice(0);
  });
});

test('a renamed load balancer and port are made again, and their referrers get the new rows', async () => {
  await withWriter(async () => {
    const isAlone = async (
      table: string,
      name: string,
      ...held: readonly [table: string, name: string, column: string]
    ): Promise<boolean> => {
      const uuid = await nbctl('--bare', '--columns=_uuid', 'find', table, `name=${name}`);
      return (await uuidsOf(table)).join() === uuid && (await nbctl('get', ...held)) === `[${uuid}]`;
    };
    await nbctl('set', 'Load_Balancer', 'lb1', 'name=x1');
    await until('it is back', () => isAlone('Load_Balancer', 'lb1', 'Logical_Switch', 's1', 'load_balancer'));
    await nbctl('set', 'Logical_Switch_Port', 'p1', 'name=x2');
    await until('it is back', () => isAlone('Logical_Switch_Port', 'p1', 'Port_Group', 'g1', 'ports'));
    // Renamed and without ownership keys, it is a foreign row from now on.
    await nbctl('set', 'Load_Balancer', 'lb1', 'name=x3', 'external_ids={owner=mine}');
    await until(
      'both are in the switch',
      async () => (await nbctl('get', 'Logical_Switch', 's1', 'load_balancer')).split(',').length === 2,
    );
    await nbctl('lb-del', 'x3');
  });
});

test('the children of a renamed switch or router move to the new row of the name, also if a foreign row in it keeps the old one', async () => {
  await withWriter(async () => {
    await nbctl('lsp-add', 's1', 'guest');
    await nbctl('lr-route-add', 'r1', '10.77.0.0/16', '172.30.1.9');
    for (const [table, name, column, wanted] of [
      ['Logical_Switch', 's1', 'ports', 'Logical_Switch_Port'],
      ['Logical_Router', 'r1', 'ports', 'Logical_Router_Port'],
    ] as const) {
      await nbctl('set', table, name, 'name=old');
      await until(`${table} ${name} has its port`, async () => {
        const held = await nbctl('--bare', `--columns=${column}`, 'find', table, `name=${name}`);
        const [port] = (await nbctl('--bare', '--columns=_uuid', 'find', wanted, 'external_ids:vendor=kube-ovn')).split(/\s+/);
        return held !== '' && held === port;
      });
      assert.equal(await nbctl('--bare', '--columns=name', 'find', table, 'name=old'), 'old');
    }
    await nbctl('lsp-del', 'guest');
    await nbctl('lr-route-del', 'old');
    await until('the old ones are gone', async () => !`${await nbctl('ls-list')}${await nbctl('lr-list')}`.includes('old'));
  });
});

test('a duplicate of a router with all its children is collected, and the children stay unchanged', async () => {
  await withWriter(async (kiln) => {
    const inside = async (): Promise<unknown> => [await uuidsOf('Logical_Router_Port'), await uuidsOf('Logical_Router_Policy')];
    const was = await inside();
    const [uuid = ''] = await uuidsOf('Logical_Router');
    const columns = ['external_ids', 'ports', 'policies'];
    const values = await Promise.all(columns.map((column) => nbctl('get', 'Logical_Router', uuid, column)));
    await nbctl('create', 'Logical_Router', 'name=r1', ...columns.map((column, i) => `${column}=${values[i] ?? ''}`));
    await until('there is one', async () => (await uuidsOf('Logical_Router')).length === 1);
    await kiln.quiet();
    assert.deepEqual(await uuidsOf('Logical_Router'), [uuid]);
    assert.deepEqual(await inside(), was);
    assert.deepEqual(
      kiln.reports.filter(({ ok }) => !ok),
      [],
    );
  });
});

test('a port and a policy that were added to foreign rows as well are removed from those', async () => {
  await withWriter(async (kiln) => {
    const [[p1 = ''], [allow = '']] = [await uuidsOf('Logical_Switch_Port'), await uuidsOf('Logical_Router_Policy')];
    await nbctl('ls-add', 'foreign', '--', 'lr-add', 'others');
    await nbctl('add', 'Logical_Switch', 'foreign', 'ports', p1, '--', 'add', 'Logical_Router', 'others', 'policies', allow);
    await until('they are out', async () => (await nbctl('get', 'Logical_Switch', 'foreign', 'ports')) === '[]');
    await until('they are out', async () => (await nbctl('get', 'Logical_Router', 'others', 'policies')) === '[]');
    await kiln.quiet();
    assert.deepEqual([await uuidsOf('Logical_Switch_Port'), await uuidsOf('Logical_Router_Policy')], [[p1], [allow]]);
    assert.match(kiln.repaired.map(driftSentence).join('\n'), /Logical_Switch_Port p1 was changed.*in was "Logical_Switch foreign"/);
    await nbctl('ls-del', 'foreign', '--', 'lr-del', 'others');
  });
});

test('a port stays in a switch that another program took over, and is removed from a second one that it was added to', async () => {
  await withWriter(async (kiln) => {
    const [p1 = ''] = await uuidsOf('Logical_Switch_Port');
    const marks = await nbctl('get', 'Logical_Switch', 's1', 'external_ids');
    await nbctl('set', 'Logical_Switch', 's1', 'external_ids={owner=mine}', '--', 'ls-add', 'another');
    await kiln.quiet();
    await nbctl('add', 'Logical_Switch', 'another', 'ports', p1);
    await until('it is out', async () => (await nbctl('get', 'Logical_Switch', 'another', 'ports')) === '[]');
    await kiln.quiet();
    assert.deepEqual(await nbctl('get', 'Logical_Switch', 's1', 'ports'), `[${p1}]`);
    assert.match(kiln.repaired.map(driftSentence).join('\n'), /Logical_Switch_Port p1 was changed.*in was "Logical_Switch another"/);
    await nbctl('ls-del', 'another', '--', 'set', 'Logical_Switch', 's1', `external_ids=${marks}`);
  });
});

test('DHCP options get back the ownership keys by which they are found', async () => {
  await withWriter(async () => {
    const was = await uuidsOf('DHCP_Options');
    await nbctl('clear', 'DHCP_Options', was[0] ?? '', 'external_ids', '--', 'set', 'DHCP_Options', was[0] ?? '', 'options={lease_time=1}');
    await until('they are back', async () => (await nbctl('get', 'DHCP_Options', was[0] ?? '', 'options')).includes('60'));
    assert.deepEqual(await uuidsOf('DHCP_Options'), was);
  });
});
