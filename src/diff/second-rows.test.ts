/** Several switches, routers, load balancers or DHCP options of one name: one is kept, and no port of a running pod is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftoverGroups, leftoverLines, leftoverText } from '../explain/leftovers.ts';
import type { Uuid } from '../ovsdb/index.ts';
import { PodScene } from '../testing/pod-scene.ts';

const VENDOR = { vendor: 'kube-ovn' };
let made = 0;

type Bench = PodScene['bench'];

/** A row as Kube-OVN leaves it. @returns its UUID */
function left(
  { bench }: PodScene,
  table: string,
  columns: object,
  parent?: { readonly table: string; readonly uuid: string; readonly column: string },
): string {
  const uuid = `7${(made % 16).toString(16)}000000-0000-4000-8000-${(++made).toString().padStart(12, '0')}`;
  bench.foreignRow(table, uuid, { ...columns }, parent);
  return uuid;
}

function uuidsOf({ northbound }: Bench, table: string, name: string): readonly string[] {
  return [...northbound.table(table)].filter(([, row]) => row['name'] === name).map(([uuid]) => uuid);
}

/** A fresh controller on the same rows. */
function restarted(bench: Bench): Bench {
  const fresh = bench.restarted();
  fresh.converge();
  return fresh;
}

function owner({ northbound }: Bench, table: string, uuid: string): unknown {
  const [, row] = [...northbound.table(table)].find(([one]) => one === uuid) ?? [];
  const keys = row?.['external_ids'];
  return keys instanceof Map ? keys.get('kiln.io/owner') : undefined;
}

/** What Kube-OVN leaves of Subnet red and of the pod shop/web in it, `copies` times; the port is in the switch of the given place. */
function withCopies(
  copies: number,
  place: number,
): { readonly scene: PodScene; readonly switches: readonly string[]; readonly port: string } {
  const scene = new PodScene();
  const switches = Array.from({ length: copies }, () => left(scene, 'Logical_Switch', { name: 'red', external_ids: VENDOR }));
  const port = left(
    scene,
    'Logical_Switch_Port',
    { name: 'web.shop', addresses: ['0a:00:00:00:00:01 10.9.0.5'], external_ids: { ...VENDOR, ls: 'red', pod: 'shop/web' } },
    { table: 'Logical_Switch', uuid: switches[place] ?? '', column: 'ports' },
  );
  scene.subnet('red', { cidrBlock: '10.9.0.0/24', namespaces: ['shop'] });
  const key = (suffix: string): string => `ovn.kubernetes.io/${suffix}`;
  scene.pod('web', {
    annotations: {
      [key('logical_switch')]: 'red',
      [key('ip_address')]: '10.9.0.5',
      [key('mac_address')]: '0a:00:00:00:00:01',
      [key('cidr')]: '10.9.0.0/24',
      [key('gateway')]: '10.9.0.1',
      [key('allocated')]: 'true',
      [key('routed')]: 'true',
    },
  });
  return { scene, switches, port };
}

for (const place of [0, 1, 2])
  test(`of three switches of one name the one with the port is kept, number ${place}: the same port, and the others go`, () => {
    const { scene, switches, port } = withCopies(3, place);
    const { bench } = scene;
    bench.converge();
    assert.deepEqual(uuidsOf(bench, 'Logical_Switch', 'red'), [switches[place]]);
    assert.deepEqual(uuidsOf(bench, 'Logical_Switch_Port', 'web.shop'), [port]);
    assert.ok(bench.list('Logical_Switch', 'red', 'ports').includes('Logical_Switch_Port/web.shop'));
    assert.deepEqual(leftoverGroups(bench.world), []);
    assert.equal(bench.writesAfterRestart(), 0);
  });

test('ports of running pods in two switches of one name come into the one that is kept, which has most; the other goes after that', () => {
  const { scene, switches } = withCopies(2, 0);
  const { bench } = scene;
  const [less = '', more = ''] = switches;
  const portOf = (name: string): string =>
    left(
      scene,
      'Logical_Switch_Port',
      { name, external_ids: { ...VENDOR, ls: 'red' } },
      { table: 'Logical_Switch', uuid: more, column: 'ports' },
    );
  const annotations = (last: number): Readonly<Record<string, string>> => ({
    'ovn.kubernetes.io/logical_switch': 'red',
    'ovn.kubernetes.io/ip_address': `10.9.0.${last}`,
  });
  for (const last of [6, 7]) {
    portOf(`p${last}.shop`);
    scene.pod(`p${last}`, { annotations: annotations(last) });
  }
  bench.converge();
  assert.deepEqual(uuidsOf(bench, 'Logical_Switch', 'red'), [more], less);
  const ports = bench.list('Logical_Switch', 'red', 'ports');
  for (const name of ['web.shop', 'p6.shop', 'p7.shop']) assert.ok(ports.includes(`Logical_Switch_Port/${name}`), name);
  assert.deepEqual(scene.portAddresses('web.shop'), ['0a:00:00:00:00:01 10.9.0.5']);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('a second switch with a port that no rule emits, or a port of another program, stays and is listed, before the take-over too', () => {
  for (const external_ids of [{ ...VENDOR, ls: 'red' }, { 'neutron:port_id': 'x' }]) {
    const { scene, switches, port } = withCopies(2, 0);
    const { bench } = scene;
    const [kept = '', second = ''] = switches;
    left(scene, 'Logical_Switch_Port', { name: 'unknown', external_ids }, { table: 'Logical_Switch', uuid: second, column: 'ports' });
    // Of as many ports the switch with the least UUID is kept.
    left(
      scene,
      'ACL',
      { direction: 'to-lport', priority: 5, match: 'ip6', action: 'drop', external_ids: VENDOR },
      { table: 'Logical_Switch', uuid: kept, column: 'acls' },
    );
    const lines = (groups: ReturnType<typeof leftoverGroups>): readonly string[] =>
      leftoverLines(groups.filter(({ isBeside }) => isBeside));
    bench.compile();
    const before = lines(leftoverGroups(bench.world, bench.desired.rows));
    bench.converge();
    assert.deepEqual(uuidsOf(bench, 'Logical_Switch', 'red').toSorted(), [kept, second].toSorted());
    assert.deepEqual(uuidsOf(bench, 'Logical_Switch_Port', 'web.shop'), [port]);
    assert.equal(uuidsOf(bench, 'Logical_Switch_Port', 'unknown').length, 1);
    const after = leftoverGroups(bench.world).filter(({ isBeside }) => isBeside);
    assert.deepEqual(lines(after), before);
    assert.ok(before.includes('  Logical_Switch red (1 port)'), before.join('\n'));
    assert.match(leftoverText(after[0] ?? assert.fail()).message, /beside others of the same name, which Kiln uses; .*may be in use: /);
    assert.equal(leftoverText(after[0] ?? assert.fail()).next, `ovn-nbctl list Logical_Switch ${second}`);
    assert.equal(bench.writesAfterRestart(), 0);
  }
});

test('of two routers of one name the one with ports is kept; a policy that only the other has does not come into effect', () => {
  for (const inUse of [0, 1]) {
    const scene = new PodScene();
    const { bench } = scene;
    const routers = [0, 1].map(() => left(scene, 'Logical_Router', { name: 'blue', external_ids: VENDOR }));
    const [kept = '', second = ''] = inUse === 0 ? routers : routers.toReversed();
    const inside = (uuid: string, column: string): { table: string; uuid: string; column: string } => ({
      table: 'Logical_Router',
      uuid,
      column,
    });
    for (const name of ['blue-red', 'blue-old'])
      left(
        scene,
        'Logical_Router_Port',
        { name, mac: '0a:00:00:00:00:02', networks: new Set(['10.9.0.1/24']), external_ids: { ...VENDOR, lr: 'blue' } },
        inside(kept, 'ports'),
      );
    left(scene, 'Logical_Router_Policy', { priority: 7, match: 'ip4', action: 'drop', external_ids: VENDOR }, inside(second, 'policies'));
    bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
    scene.subnet('red', { vpc: 'blue', cidrBlock: '10.9.0.0/24' });
    bench.converge();
    assert.deepEqual(uuidsOf(bench, 'Logical_Router', 'blue').toSorted(), [kept, second].toSorted());
    assert.equal(owner(bench, 'Logical_Router', kept), 'vpc//blue');
    assert.equal(owner(bench, 'Logical_Router', second), undefined);
    const policies = bench.northbound.table('Logical_Router').get(kept as Uuid)?.['policies'];
    const [policy = ''] = [...bench.northbound.table('Logical_Router_Policy')].find(([, row]) => row['priority'] === 7) ?? [];
    assert.ok(policies instanceof Set && policies.size > 0 && !policies.has(policy));
    assert.deepEqual(leftoverLines(leftoverGroups(bench.world).filter(({ isBeside }) => isBeside)), [
      'left by Kube-OVN, 2 beside others of the same name:',
      '  Logical_Router_Policy blue|7|ip4 (drop)',
      '  Logical_Router blue (1 policy)',
    ]);
    bench.removeForeignRow('Logical_Router_Policy', policy);
    bench.converge();
    assert.deepEqual(uuidsOf(bench, 'Logical_Router', 'blue'), [kept]);
    assert.equal(bench.writesAfterRestart(), 0);
  }
});

test('of two load balancers of one name the one with vips is kept; another one with a vip of its own stays and is listed', () => {
  for (const ofOther of [{}, { '10.96.0.9:80': '10.9.0.2:80' }, { '10.96.0.9:80': '10.9.0.3:80' }]) {
    const scene = new PodScene();
    const { bench } = scene;
    const name = 'vpc-blue-tcp-load';
    const other = left(scene, 'Load_Balancer', { name, external_ids: VENDOR, vips: ofOther });
    const kept = left(scene, 'Load_Balancer', {
      ...{ name, external_ids: VENDOR },
      vips: { '10.96.0.9:80': '10.9.0.2:80', '10.96.0.10:80': '10.9.0.2:80' },
    });
    bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
    bench.converge();
    const stays = Object.values(ofOther).includes('10.9.0.3:80');
    assert.deepEqual(uuidsOf(bench, 'Load_Balancer', name).toSorted(), (stays ? [other, kept] : [kept]).toSorted());
    assert.equal(owner(bench, 'Load_Balancer', kept), 'vpc//blue');
    assert.deepEqual(
      leftoverLines(leftoverGroups(bench.world)),
      stays ? ['left by Kube-OVN, 1 beside others of the same name:', `  Load_Balancer ${name} (1 vip; in no switch or router)`] : [],
    );
    assert.equal(bench.writesAfterRestart(), 0);
  }
});

test('of two DHCP options of a Subnet those of its ports are kept, and the others go when no port has them', () => {
  const { scene, port } = withCopies(1, 0);
  const { bench } = scene;
  const options = (mac: string): string =>
    left(scene, 'DHCP_Options', {
      cidr: '10.9.0.0/24',
      options: { server_mac: mac },
      external_ids: { ...VENDOR, ls: 'red', protocol: 'IPv4' },
    });
  const [, used, unused] = [options('0a:00:00:00:00:05'), options('0a:00:00:00:00:06'), options('0a:00:00:00:00:07')];
  const row = { dhcpv4_options: used as Uuid };
  bench.world.rows.apply(
    bench.northbound,
    bench.northbound.apply([{ kind: 'update', table: 'Logical_Switch_Port', uuid: port as Uuid, row }]),
  );
  const foreign = left(scene, 'Logical_Switch', { name: 'theirs', external_ids: { owner: 'them' } });
  const theirs = left(
    scene,
    'Logical_Switch_Port',
    { name: 'theirs', dhcpv4_options: unused, external_ids: { owner: 'them' } },
    { table: 'Logical_Switch', uuid: foreign, column: 'ports' },
  );
  bench.edit('subnets', 'red', { enableDHCP: true });
  bench.converge();
  const rows = (): readonly string[] =>
    [...bench.northbound.table('DHCP_Options')]
      .filter(([, row]) => (row['external_ids'] as ReadonlyMap<string, string>).get('ls') === 'red')
      .map(([uuid]) => uuid);
  assert.deepEqual(rows().toSorted(), [used, unused].toSorted(), "another program's port has the last");
  assert.equal(bench.map('DHCP_Options', 'red|IPv4|', 'options')['server_mac'], '0a:00:00:00:00:06');
  assert.deepEqual(uuidsOf(bench, 'Logical_Switch_Port', 'web.shop'), [port]);
  assert.deepEqual(leftoverLines(leftoverGroups(bench.world)).slice(0, 1), ['left by Kube-OVN, 1 beside others of the same name:']);
  bench.removeForeignRow('Logical_Switch_Port', theirs);
  assert.equal(uuidsOf(restarted(bench), 'Logical_Switch_Port', 'web.shop').length, 1);
  assert.deepEqual(rows(), [used]);
});
