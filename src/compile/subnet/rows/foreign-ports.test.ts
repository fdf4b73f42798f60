/** Foreign ports in the switch of a Subnet: their addresses are not allocated while they exist, and no pod with one of them loses it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Edit } from '../../../diff/edits.ts';
import { leftoverGroups, leftoverLines } from '../../../explain/leftovers.ts';
import { checkInvariants } from '../../../invariants/check-invariants.ts';
import { rowId } from '../../../nb/row-id.ts';
import type { RuleBench } from '../../../testing/rule-bench.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const UUID = '11111111-1111-4111-8111-11111111111';

function sceneOf(spec: object): PodScene {
  const scene = new PodScene();
  scene.subnet('net', { namespaces: ['shop'], ...spec });
  scene.bench.converge();
  return scene;
}

function portOfOther(bench: RuleBench, name: string, digit: number, columns: object): void {
  const uuid = bench.world.rows.state(rowId('Logical_Switch', 'net'))?.uuid ?? '';
  bench.foreignRow(
    'Logical_Switch_Port',
    `${UUID}${digit}`,
    { name, type: '', ...columns },
    { table: 'Logical_Switch', uuid, column: 'ports' },
  );
  bench.converge();
}

function gone(bench: RuleBench, digit: number): void {
  bench.removeForeignRow('Logical_Switch_Port', `${UUID}${digit}`);
  bench.converge();
}

function reported(bench: RuleBench): readonly (string | undefined)[] {
  const { reason, message } = bench.condition('subnets', 'net', 'WithoutEffect') ?? {};
  return [reason, message];
}

function waits(scene: PodScene, pod: string): readonly (string | undefined)[] {
  const { reason, message } = scene.bench.condition('pods', pod, 'kiln.io/NetworkBound') ?? {};
  return [reason, message];
}

test('the address of a foreign port is not allocated, not even by name, until the port is gone', () => {
  const scene = sceneOf({ cidrBlock: '10.1.0.0/29' });
  const { bench } = scene;
  const counts = (): unknown => {
    const status = bench.object('subnets', 'net')?.status;
    return ['v4availableIPs', 'v4usingIPs', 'v4availableIPrange', 'v4usingIPrange'].map((field) => status?.[field]);
  };
  portOfOther(bench, 'ext', 1, { addresses: ['0a:00:00:00:00:01 10.1.0.2 10.1.0.3', 'unknown'] });
  scene.pod('any');
  scene.pod('named', { annotations: { 'ovn.kubernetes.io/ip_address': '10.1.0.3' } });
  bench.converge();
  assert.equal(scene.addressOf('shop/any'), '10.1.0.4');
  assert.equal(scene.portAddresses('named.shop'), undefined);
  const [reason, message] = waits(scene, 'shop/named');
  assert.equal(reason, 'AddressConflict');
  assert.match(message ?? '', /the address 10\.1\.0\.3 in Subnet "net" is held by port ext of another program/);
  assert.deepEqual(counts(), [2n, 1n, '10.1.0.5-10.1.0.6', '10.1.0.4']);
  const whole =
    'Subnet net: spec.cidrBlock "10.1.0.0/29" has 2 addresses that ports of other programs in its switch have: 10.1.0.2-10.1.0.3; Kiln does not allocate them; ' +
    'ovn-nbctl show net lists the ports, and spec.excludeIps is for the addresses of those that should stay. All else is in effect; kubectl edit subnet net';
  assert.deepEqual(reported(bench), ['AddressesOfOthers', whole]);
  assert.equal(bench.events.filter((event) => event.message === whole).length, 1);
  assert.ok(bench.row('Logical_Switch_Port', 'ext'), 'it is not ours to remove');
  assert.deepEqual(reported(bench.restarted()), ['AddressesOfOthers', whole]);
  gone(bench, 1);
  assert.match(String(scene.portAddresses('named.shop')), / 10\.1\.0\.3$/);
  assert.deepEqual(reported(bench), [undefined, undefined]);
  assert.deepEqual(counts(), [3n, 2n, '10.1.0.2,10.1.0.5-10.1.0.6', '10.1.0.3-10.1.0.4']);
});

test('a pod keeps its address when a foreign port with the same one is added, also after a restart', () => {
  const scene = sceneOf({ cidrBlock: '10.1.0.0/24' });
  const { bench } = scene;
  scene.pod('any');
  scene.pod('named', { annotations: { 'ovn.kubernetes.io/ip_address': '10.1.0.9' } });
  bench.converge();
  portOfOther(bench, 'ext', 1, { addresses: ['0a:00:00:00:00:01 10.1.0.2', '0a:00:00:00:00:02 10.1.0.9'] });
  const again = bench.restarted();
  again.converge();
  for (const one of [bench, again]) {
    const portAddresses = (name: string): unknown => one.row('Logical_Switch_Port', name)?.['addresses'];
    assert.match(String(portAddresses('any.shop')), / 10\.1\.0\.2$/);
    assert.match(String(portAddresses('named.shop')), / 10\.1\.0\.9$/);
    assert.match(one.conditionText('ips', 'any.shop'), /is also held by port ext of another program/);
    assert.deepEqual(reported(one), [undefined, undefined], 'none is kept back');
  }
});

test('IPv6 addresses and those that ovn-northd chose count, those in excludeIps do not', () => {
  const scene = sceneOf({ cidrBlock: '10.1.0.0/24,fd01::/64', excludeIps: ['10.1.0.2'] });
  const { bench } = scene;
  portOfOther(bench, 'a', 1, { addresses: ['0a:00:00:00:00:01 10.1.0.2'] });
  assert.doesNotMatch(reported(bench)[1] ?? '', /other programs/);
  portOfOther(bench, 'b', 2, { addresses: ['dynamic'], dynamic_addresses: '0a:00:00:00:00:02 10.1.0.3 fd01::2' });
  portOfOther(bench, 'c', 3, { type: 'router', addresses: ['router'] });
  const { message = '' } = bench.condition('subnets', 'net', 'WithoutEffect') ?? {};
  assert.match(message, /"10\.1\.0\.0\/24" has 1 address that ports of other programs in its switch have: 10\.1\.0\.3;/);
  assert.match(message, /"fd01::\/64" has 1 address that ports of other programs in its switch have: fd01::2;/);
  scene.pod('web');
  bench.converge();
  assert.equal(scene.addressOf('shop/web'), '10.1.0.4,fd01::3');
});

test("a pod's port that lost its ownership keys is the pod's: no other claimant gets its address", () => {
  const scene = sceneOf({ cidrBlock: '10.1.0.0/24' });
  const { bench } = scene;
  scene.pod('web');
  bench.converge();
  const { uuid = '' } = bench.world.rows.state(rowId('Logical_Switch_Port', 'web.shop')) ?? {};
  bench.removeForeignRow('Logical_Switch_Port', uuid);
  portOfOther(bench, 'web.shop', 1, { addresses: ['0a:00:00:00:00:01 10.1.0.2'] });
  assert.doesNotMatch(bench.conditionText('ips', 'web.shop'), /AddressConflict/);
  assert.equal(scene.addressOf('shop/web'), '10.1.0.2');
});

test('a port that lost its ownership keys keeps its address while the IP object of its name is in another Subnet', () => {
  const scene = sceneOf({ cidrBlock: '10.1.0.0/29' });
  const { bench } = scene;
  scene.statefulSet('db', 1);
  scene.pod('db-0', { statefulSet: 'db' });
  bench.converge();
  bench.removeByForce('pods', 'shop/db-0');
  bench.removeForeignRow('Logical_Switch_Port', bench.world.rows.state(rowId('Logical_Switch_Port', 'db-0.shop'))?.uuid ?? '');
  portOfOther(bench, 'db-0.shop', 1, { addresses: ['0a:00:00:00:00:01 10.1.0.2'] });
  scene.pod('db-0', { statefulSet: 'db' });
  bench.converge();
  const free = (): unknown => bench.object('subnets', 'net')?.status?.['v4availableIPrange'];
  assert.equal(free(), '10.1.0.3-10.1.0.6');
  bench.edit('ips', 'db-0.shop', { subnet: 'elsewhere' });
  bench.converge();
  assert.equal(free(), '10.1.0.3-10.1.0.6');
  scene.pod('other', { annotations: { 'ovn.kubernetes.io/ip_address': '10.1.0.2' } });
  bench.converge();
  assert.equal(waits(scene, 'shop/other')[0], 'AddressConflict');
  gone(bench, 1);
  assert.match(String(scene.portAddresses('other.shop')), / 10\.1\.0\.2$/);
});

test('a switch of OpenStack belongs to no Subnet, whatever its name: its ports do not count', () => {
  const { bench } = sceneOf({ cidrBlock: '10.1.0.0/24' });
  const uuid = `${UUID}7`;
  bench.foreignRow('Logical_Switch', uuid, { name: 'shared', external_ids: new Map([['neutron:network_name', 'theirs']]) });
  const home = { table: 'Logical_Switch', uuid, column: 'ports' };
  bench.foreignRow('Logical_Switch_Port', `${UUID}8`, { name: 'theirs', type: '', addresses: ['0a:00:00:00:00:01 10.9.0.2'] }, home);
  bench.put('subnets', { metadata: { name: 'shared' }, spec: { cidrBlock: '10.9.0.0/24' } });
  bench.converge();
  assert.equal(bench.condition('subnets', 'shared', 'WithoutEffect')?.reason, undefined);
  assert.deepEqual(bench.world.usage.peek('shared')?.foreignPorts, undefined);
});

test('a switch that another program takes belongs to no Subnet: its ports conflict with no pod until the switch is ours again', () => {
  const scene = sceneOf({ cidrBlock: '10.1.0.0/24' });
  const { bench } = scene;
  scene.pod('any');
  bench.converge();
  portOfOther(bench, 'ext', 1, { addresses: ['0a:00:00:00:00:01 10.1.0.2'] });
  const shown = (one: RuleBench): string => one.conditionText('ips', 'any.shop');
  assert.match(shown(bench), /is also held by port ext of another program/);

  const { uuid } = bench.world.rows.state(rowId('Logical_Switch', 'net')) ?? assert.fail();
  const keys = bench.externalIds('Logical_Switch', 'net');
  const marked = (external_ids: Readonly<Record<string, string>>): void => {
    const edits: readonly Edit[] = [{ kind: 'update', table: 'Logical_Switch', uuid, row: { external_ids } }];
    bench.world.rows.apply(bench.northbound, bench.northbound.apply(edits));
    bench.converge();
  };
  marked({ 'neutron:network_name': 'theirs' });
  assert.doesNotMatch(shown(bench), /AddressConflict/);
  const again = bench.restarted();
  again.converge();
  assert.doesNotMatch(shown(again), /AddressConflict/);
  marked(keys);
  assert.match(shown(bench), /is also held by port ext of another program/);
});

test('a port that Kube-OVN left for a pod that is gone: its address is not allocated, and it is told, until the port is gone or a pod of its name has it', () => {
  const scene = sceneOf({ cidrBlock: '10.1.0.0/24' });
  const { bench } = scene;
  const external_ids = { vendor: 'kube-ovn', ls: 'net', pod: 'shop/ghost' };
  portOfOther(bench, 'ghost.shop', 1, { addresses: ['0a:00:00:00:00:01 10.1.0.2'], external_ids });
  const left = (): string => leftoverLines(leftoverGroups(bench.world, bench.desired.rows), 'shown').join();
  assert.match(
    left(),
    /^left by Kube-OVN, 1 for objects that do not exist:,  Logical_Switch_Port ghost\.shop \(OVN answers for 10\.1\.0\.2; its pod shop\/ghost is gone\); ovn-nbctl remove Logical_Switch \S+ ports \S+$/,
  );
  scene.pod('any');
  bench.converge();
  assert.equal(scene.addressOf('shop/any'), '10.1.0.3');
  assert.deepEqual(checkInvariants({ world: bench.world, plan: { rows: [], objects: [] } }), []);
  const again = bench.restarted();
  again.converge();
  assert.deepEqual(reported(again)[0], 'AddressesOfOthers');
  // A pod of that name adopts the port.
  scene.pod('ghost', { annotations: { 'ovn.kubernetes.io/ip_address': '10.1.0.2' } });
  bench.converge();
  assert.equal(scene.addressOf('shop/ghost'), '10.1.0.2');
  assert.deepEqual(reported(bench), [undefined, undefined]);
  assert.equal(left(), '');
  assert.deepEqual(checkInvariants({ world: bench.world, plan: { rows: [], objects: [] } }), []);
});
