/** Columns that Kiln writes into some ports and leaves empty in others: it empties them again after another program wrote there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InputRow, Uuid } from '../ovsdb/index.ts';
import { PodScene } from '../testing/pod-scene.ts';

function scene(): PodScene {
  const made = new PodScene();
  const peer = (remoteVpc: string, localConnectIP: string): object => ({ vpcPeerings: [{ remoteVpc, localConnectIP }] });
  made.bench.put('vpcs', { metadata: { name: 'z1' }, spec: peer('z2', '169.254.0.1/30') });
  made.bench.put('vpcs', { metadata: { name: 'z2' }, spec: peer('z1', '169.254.0.2/30') });
  made.bench.put('nodes', { metadata: { name: 'n1' }, spec: {}, status: { addresses: [{ type: 'InternalIP', address: '192.168.1.11' }] } });
  made.subnet('net', { cidrBlock: '10.70.0.0/24', enableDHCP: true });
  made.bench.put('vips', { metadata: { name: 'plain' }, spec: { subnet: 'net', namespace: 'shop', type: 'switch_lb_vip' } });
  made.bench.put('vips', { metadata: { name: 'shared' }, spec: { subnet: 'net', namespace: 'shop' } });
  made.bench.converge();
  return made;
}

/** All rows of a table by name, as they are. */
function rowsOf({ bench }: PodScene, table: string): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  return new Map([...bench.northbound.table(table).values()].map((row) => [String(row['name']), { ...row }]));
}

function write({ bench }: PodScene, table: string, uuid: unknown, row: InputRow): void {
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([{ kind: 'update', table, uuid: uuid as Uuid, row }]));
}

test('switch ports of every kind', () => {
  const made = scene();
  const before = rowsOf(made, 'Logical_Switch_Port');
  const [dhcp] = made.bench.northbound.table('DHCP_Options').keys();
  assert.ok(dhcp !== undefined);
  for (const name of ['net-ovn-cluster', 'node-n1', 'plain.shop', 'shared']) {
    const row = before.get(name) ?? assert.fail(`no port ${name} among ${[...before.keys()].join(', ')}`);
    const options = { ...Object.fromEntries(row['options'] as ReadonlyMap<string, string>), 'requested-chassis': 'n9' };
    for (const change of [
      { tag: 7 },
      { port_security: ['0a:00:00:00:00:07'] },
      { options },
      { dhcpv4_options: dhcp, dhcpv6_options: dhcp },
    ]) {
      write(made, 'Logical_Switch_Port', row['_uuid'], change);
      made.bench.converge();
      assert.deepEqual(rowsOf(made, 'Logical_Switch_Port').get(name), row, `${name}: ${Object.keys(change).join()}`);
    }
  }
});

test('a router port of a peering', () => {
  const made = scene();
  const row = rowsOf(made, 'Logical_Router_Port').get('z1-z2') ?? assert.fail();
  write(made, 'Logical_Router_Port', row['_uuid'], { options: { route_table: 'by-hand', theirs: 'stays' } });
  made.bench.converge();
  assert.deepEqual(rowsOf(made, 'Logical_Router_Port').get('z1-z2')?.['options'], new Map([['theirs', 'stays']]));
});
