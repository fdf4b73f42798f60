import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockersOf } from '../../blockers/blockers.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import { RuleBench } from '../../testing/rule-bench.ts';
import { NETWORK_RULES } from '../../testing/network-rules.ts';

function setUp(spec: object = {}): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.put('nodes', { metadata: { name: 'n1' }, spec: {} });
  bench.put('subnets', { metadata: { name: 'red', finalizers: ['kube-ovn-controller'] }, spec: { cidrBlock: '10.0.0.0/24', ...spec } });
  bench.converge();
  return bench;
}

test('a Subnet gets the finalizer, and loses the legacy one', () => {
  const bench = setUp();
  assert.deepEqual(bench.object('subnets', 'red')?.metadata.finalizers, ['kubeovn.io/kube-ovn-controller']);
});

test('a deleted Subnet leaves no row', () => {
  const bench = setUp({ private: true, enableDHCP: true, acls: [{ direction: 'to-lport', priority: 5, match: 'ip4', action: 'allow' }] });
  assert.ok(bench.rowIds('Logical_Router_Policy').includes('ovn-cluster|31000|ip4.dst == 10.0.0.0/24'));
  bench.delete('subnets', 'red');
  bench.converge();
  assert.equal(bench.object('subnets', 'red'), undefined);
  assert.equal(bench.world.rows.ownedBy('subnet//red').size, 0);
  for (const table of [
    'Logical_Switch',
    'Logical_Switch_Port',
    'Logical_Router_Port',
    'Logical_Router_Policy',
    'Port_Group',
    'ACL',
    'DHCP_Options',
  ]) {
    assert.ok(
      !bench.rowIds(table).some((id) => id.includes('red') || id.includes('10.0.0.0')),
      `${table}: ${bench.rowIds(table).join(', ')}`,
    );
  }
  assert.equal(bench.world.usage.peek('red'), undefined);
});

test('a Subnet that is being deleted keeps its network while addresses are in use', () => {
  const bench = setUp();
  bench.put('ips', { metadata: { name: 'web.shop' }, spec: { subnet: 'red', v4IpAddress: '10.0.0.5' } });
  bench.converge();
  const rows = bench.world.rows.ownedBy('subnet//red').size;
  bench.delete('subnets', 'red');
  bench.converge();
  assert.equal(bench.world.rows.ownedBy('subnet//red').size, rows);
  assert.match(bench.condition('subnets', 'red', 'DeletionBlocked')?.message ?? '', /one object still uses it: IP web\.shop/);
  assert.deepEqual(bench.object('vpcs', 'ovn-cluster')?.status?.['subnets'], ['join', 'ovn-default']);
  bench.removeByForce('ips', 'web.shop');
  bench.converge();
  assert.equal(bench.object('subnets', 'red'), undefined);
});

test('so does one that is deleted while it has only the legacy finalizer', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.put('subnets', { metadata: { name: 'red', finalizers: ['kube-ovn-controller'] }, spec: { cidrBlock: '10.0.0.0/24' } });
  const metadata = {
    name: 'web.shop',
    finalizers: ['kubeovn.io/kube-ovn-controller'],
    labels: { 'ovn.kubernetes.io/ip_reserved': 'true' },
  };
  bench.put('ips', {
    metadata,
    spec: { subnet: 'red', podName: 'web', namespace: 'shop', ipAddress: '10.0.0.5', v4IpAddress: '10.0.0.5' },
  });
  bench.delete('subnets', 'red');
  bench.converge();
  assert.match(bench.condition('subnets', 'red', 'DeletionBlocked')?.message ?? '', /one object still uses it: IP web\.shop/);
  bench.removeByForce('ips', 'web.shop');
  bench.converge();
  assert.equal(bench.object('subnets', 'red'), undefined);
});

test('the built-in Subnets come back after they were deleted', () => {
  const bench = setUp();
  const { uid } = bench.object('subnets', 'ovn-default')?.metadata ?? {};
  bench.delete('subnets', 'ovn-default');
  bench.converge();
  assert.notEqual(bench.object('subnets', 'ovn-default')?.metadata.uid, uid);
  assert.equal(bench.condition('subnets', 'ovn-default', 'Ready')?.status, 'True');
});

test('without nodes even the default Vpc is deleted and created again', () => {
  const bench = setUp();
  bench.removeByForce('nodes', 'n1');
  bench.delete('subnets', 'red');
  const { uid } = bench.object('vpcs', 'ovn-cluster')?.metadata ?? {};
  for (const name of ['ovn-default', 'join']) {
    bench.delete('vpcs', 'ovn-cluster');
    bench.delete('subnets', name);
    bench.converge();
  }
  assert.notEqual(bench.object('vpcs', 'ovn-cluster')?.metadata.uid, uid);
  assert.deepEqual(bench.object('vpcs', 'ovn-cluster')?.status?.['subnets'], ['join', 'ovn-default']);
});

test('the default Vpc serves its Subnets while a foreign row in its router blocks its deletion', () => {
  const bench = setUp();
  const uuid = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'ovn-cluster')?.[0];
  assert.ok(uuid !== undefined);
  const nat = '00000000-0000-4000-8000-0000000000aa';
  bench.foreignRow('NAT', nat, { type: 'snat', external_ids: { owner: 'other' } }, { table: 'Logical_Router', uuid, column: 'nat' });
  for (const name of ['red', 'ovn-default', 'join']) bench.removeByForce('subnets', name);
  bench.delete('vpcs', 'ovn-cluster');
  bench.converge();
  assert.notEqual(bench.object('vpcs', 'ovn-cluster')?.metadata.deletionTimestamp, undefined);
  for (const name of ['ovn-default', 'join']) assert.equal(bench.condition('subnets', name, 'Ready')?.status, 'True');
  assert.equal(bench.writesAfterRestart(), 0);
});

test('a Subnet recreated under its name gets its rows in place', () => {
  const bench = setUp();
  const switches = (): string[] => [...bench.northbound.table('Logical_Switch').keys()].toSorted();
  const before = switches();
  bench.removeByForce('subnets', 'red');
  const again = bench.put('subnets', { metadata: { name: 'red' }, spec: { cidrBlock: '10.0.0.0/24' } });
  bench.converge();
  assert.deepEqual(switches(), before);
  assert.equal(bench.externalIds('Logical_Switch', 'red')['kiln.io/uid'], again.metadata.uid);
});

test('counts and ranges follow the addresses in use', () => {
  const bench = setUp({ excludeIps: ['10.0.0.10..10.0.0.19'] });
  for (const last of [2, 3, 9])
    bench.put('ips', { metadata: { name: `p${last}.shop` }, spec: { subnet: 'red', v4IpAddress: `10.0.0.${last}` } });
  bench.converge();
  const { status } = bench.object('subnets', 'red') ?? {};
  assert.deepEqual(
    [
      status?.['v4usingIPs'],
      status?.['v4usingIPrange'],
      status?.['v4availableIPs'],
      status?.['v4availableIPrange'],
      status?.['v6usingIPs'],
    ],
    [3n, '10.0.0.2-10.0.0.3,10.0.0.9', 240n, '10.0.0.4-10.0.0.8,10.0.0.20-10.0.0.254', 0n],
  );
});

test('the allocator gets the addresses of IPPools', () => {
  const bench = setUp();
  bench.put('ippools', { metadata: { name: 'gold' }, spec: { subnet: 'red', ips: ['10.0.0.20..10.0.0.30', 'nonsense'] } });
  bench.converge();
  assert.deepEqual(bench.desired.addresses.pool('red')?.named, [{ name: 'gold', ips: ['10.0.0.20..10.0.0.30'] }]);
});

test('a Subnet that is being deleted waits for its pods, also if the IP object was removed by force', () => {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaces: ['shop'] });
  scene.pod('web');
  scene.bench.converge();
  const uuids = (): readonly string[] =>
    ['Logical_Switch', 'Logical_Switch_Port'].flatMap((table) => [...scene.bench.northbound.table(table).keys()]).toSorted();
  const before = uuids();
  scene.bench.delete('subnets', 'red');
  scene.bench.removeByForce('ips', 'web.shop');
  // In this round the IP object is still missing, and nothing may be deleted.
  scene.bench.step();
  assert.deepEqual(uuids(), before);
  assert.match(scene.bench.condition('subnets', 'red', 'DeletionBlocked')?.message ?? '', /one object still uses it: Pod shop\/web\./);
  scene.bench.converge();
  assert.deepEqual(uuids(), before);
  assert.match(scene.bench.condition('subnets', 'red', 'DeletionBlocked')?.message ?? '', /one object still uses it: IP web\.shop\./);
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.converge();
  assert.equal(scene.bench.object('subnets', 'red'), undefined);
  assert.equal(scene.bench.row('Logical_Switch', 'red'), undefined);
});

test('the port alone, or the IP object alone, blocks the Subnet as well; annotations, which a tenant writes, do not', () => {
  for (const left of ['port', 'IP', 'annotations'] as const) {
    const scene = new PodScene();
    scene.subnet('red', { cidrBlock: '10.0.0.0/24', namespaces: ['shop'] });
    scene.pod('web');
    scene.bench.converge();
    const pod = scene.bench.object('pods', 'shop/web');
    assert.ok(pod);
    if (left === 'port') scene.bench.put('pods', { ...pod, metadata: { ...pod.metadata, annotations: {} } });
    else scene.bench.removeNamedRow('Logical_Switch_Port', 'web.shop');
    scene.bench.delete('subnets', 'red');
    if (left !== 'IP') scene.bench.removeByForce('ips', 'web.shop');
    const holders = { port: ['Pod shop/web'], IP: ['IP web.shop'], annotations: [] };
    assert.deepEqual(blockersOf(scene.bench.world, 'subnets', 'red').names, holders[left], left);
    scene.bench.converge();
    assert.equal(scene.bench.row('Logical_Switch_Port', 'web.shop') !== undefined, left !== 'annotations', left);
    assert.equal(scene.bench.object('subnets', 'red') !== undefined, left !== 'annotations', left);
  }
});

test('if the port of a pod is in one Subnet and its IP object names another, it blocks both', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('red', { cidrBlock: '10.0.0.0/24' });
  scene.subnet('blue', { cidrBlock: '10.1.0.0/24' });
  bench.converge();
  bench.put('ips', {
    metadata: { name: 'web.shop' },
    spec: { subnet: 'blue', podName: 'web', namespace: 'shop', podType: '', ipAddress: '10.1.0.9', v4IpAddress: '10.1.0.9' },
  });
  const reported = { allocated: 'true', logical_switch: 'red', ip_address: '10.0.0.9', mac_address: '0a:00:00:00:00:09' };
  const annotations = Object.fromEntries(Object.entries(reported).map(([key, value]) => [`ovn.kubernetes.io/${key}`, value]));
  scene.ownPort(scene.pod('web', { annotations }), 'red', '0a:00:00:00:00:09 10.0.0.9');
  assert.deepEqual(blockersOf(bench.world, 'subnets', 'red').names, ['Pod shop/web']);
  assert.deepEqual(blockersOf(bench.world, 'subnets', 'blue').names, ['IP web.shop']);
  for (const subnet of ['red', 'blue']) bench.delete('subnets', subnet);
  bench.converge();
  const left = ['red', 'blue'].filter((subnet) => bench.object('subnets', subnet) !== undefined);
  const { subnet } = bench.object('ips', 'web.shop')?.spec ?? {};
  assert.ok(left.includes(String(subnet)) && left.includes(scene.annotations('shop/web')['ovn.kubernetes.io/logical_switch'] ?? ''));
  bench.removeByForce('pods', 'shop/web');
  bench.converge();
  assert.deepEqual(
    ['red', 'blue'].filter((one) => bench.object('subnets', one) !== undefined),
    [],
  );
});

test('the join Subnet waits for the ports of nodes whose IP objects were removed by force', () => {
  const { bench } = new PodScene();
  const before = [...bench.northbound.table('Logical_Switch_Port').keys()].toSorted();
  bench.delete('subnets', 'join');
  bench.removeByForce('ips', 'node-n1');
  assert.deepEqual(blockersOf(bench.world, 'subnets', 'join').names, ['Node n1']);
  bench.converge();
  assert.deepEqual([...bench.northbound.table('Logical_Switch_Port').keys()].toSorted(), before);
  assert.ok(bench.object('ips', 'node-n1'));
});

test('the join Subnet waits for a node with its address in the annotations, whose IP object names another Subnet and whose port was deleted', () => {
  for (const spec of [{}, { cidrBlock: '10.3.0.0/24', gateway: '100.64.0.1' }]) {
    const scene = new PodScene();
    const { bench } = scene;
    scene.subnet('red', { cidrBlock: 'fd00:1::/120' });
    bench.edit('subnets', 'join', spec);
    bench.converge();
    const before = [bench.object('ips', 'node-n1')?.spec['v4IpAddress'], scene.portAddresses('node-n1')];
    const join = bench.object('subnets', 'join')?.metadata.uid;
    bench.delete('subnets', 'join');
    bench.converge();
    bench.removeNamedRow('Logical_Switch_Port', 'node-n1');
    const { world } = bench;
    bench.edit('ips', 'node-n1', { subnet: 'red', ipAddress: 'fd00:1::5' });
    assert.deepEqual(blockersOf(world, 'subnets', 'join').names, ['Node n1']);
    assert.deepEqual(blockersOf(world, 'subnets', 'red').names, ['IP node-n1']);
    bench.converge();
    assert.equal(bench.object('subnets', 'join')?.metadata.uid, join, 'it is not gone for a moment');
    assert.deepEqual([bench.object('ips', 'node-n1')?.spec['v4IpAddress'], scene.portAddresses('node-n1')], before);
    assert.equal(bench.object('ips', 'node-n1')?.spec['subnet'], 'join');
  }
});
