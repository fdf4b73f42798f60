/** Pods of a Subnet that gets another network, or that becomes invalid. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';
import { rowId } from '../../../nb/row-id.ts';
import { switchId } from '../../subnet/validity/subnet-view.ts';

const BOUND = 'kiln.io/NetworkBound';

/** The pod shop/web in the Subnet side. */
function podInSide(spec: object = { cidrBlock: '10.1.0.0/24' }): PodScene {
  return new PodScene().webIn('side', spec);
}

function annotation(scene: PodScene, suffix: string): string | undefined {
  return scene.annotations('shop/web')[`ovn.kubernetes.io/${suffix}`];
}

test('a pod whose Subnet was recreated with another network reports it, and its cidr and gateway stay', () => {
  const scene = podInSide();
  scene.bench.removeByForce('subnets', 'side');
  scene.bench.converge();
  scene.subnet('side', { cidrBlock: '10.7.0.0/24' });
  scene.bench.converge();
  assert.deepEqual(
    [annotation(scene, 'ip_address'), annotation(scene, 'cidr'), annotation(scene, 'gateway')],
    ['10.1.0.2', '10.1.0.0/24', '10.1.0.1'],
  );
  const condition = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.equal(condition?.reason, 'AddressOutOfRange');
  assert.match(condition?.message ?? '', /10\.1\.0\.2.*"side".*; it keeps that one while it runs.*; kubectl delete pod -n shop web$/);
  assert.equal(scene.bench.writesAfterRestart(), 0);
});

test('a finished pod whose status is edited to running after its Subnet got another network requests its old address, which fails', () => {
  const scene = new PodScene();
  scene.subnet('side', { cidrBlock: '10.1.0.0/24' });
  const annotations = { 'ovn.kubernetes.io/logical_switch': 'side' };
  scene.pod('web', { annotations });
  scene.bench.converge();
  const phase = (status: object): void => {
    scene.bench.put('pods', { metadata: { namespace: 'shop', name: 'web', annotations: scene.annotations('shop/web') }, spec: {}, status });
    scene.bench.converge();
  };
  phase({ phase: 'Failed', reason: 'Evicted' });
  assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
  scene.bench.edit('subnets', 'side', { cidrBlock: '10.7.0.0/24', gateway: '10.7.0.1' });
  scene.bench.converge();
  phase({ phase: 'Running' });
  const condition = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.equal(condition?.reason, 'AddressOutOfRange');
  assert.match(
    condition?.message ?? '',
    /"10\.1\.0\.2".*: the address 10\.1\.0\.2 cannot be allocated in Subnet "side": its CIDR is 10\.7\.0\.0\/24; kubectl edit pod -n shop web$/,
  );
  assert.equal(scene.bench.row('Logical_Switch_Port', 'web.shop'), undefined);
});

test('an obstacle of a running interface is reported before an attached network that does not exist', () => {
  const scene = podInSide();
  scene.bench.removeByForce('subnets', 'side');
  scene.subnet('side', { cidrBlock: '10.7.0.0/24' });
  const annotations = { ...scene.annotations('shop/web'), 'k8s.v1.cni.cncf.io/networks': 'shop/later' };
  scene.pod('web', { annotations });
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.reason, 'AddressOutOfRange');
  scene.bench.removeByForce('subnets', 'side');
  scene.subnet('side', { cidrBlock: '10.1.0.0/24' });
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.reason, 'WaitingForNetwork', 'and then that');
});

test('a pod outside of a narrowed CIDR has no fault: the network stays in effect and the Subnet reports it', () => {
  const scene = new PodScene();
  scene.subnet('side', { cidrBlock: '10.1.0.0/24' });
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'side', 'ovn.kubernetes.io/ip_address': '10.1.0.99' } });
  scene.bench.converge();
  scene.bench.edit('subnets', 'side', { cidrBlock: '10.1.0.0/28' });
  scene.bench.converge();
  assert.equal(scene.bench.condition('subnets', 'side', 'Accepted')?.reason, 'CidrInUse');
  assert.notEqual(scene.bench.condition('pods', 'shop/web', BOUND)?.status, 'False');
  assert.equal(annotation(scene, 'ip_address'), '10.1.0.99');
  assert.equal(scene.bench.writesAfterRestart(), 0);
});

test('a dual-stack pod has no fault when its Subnet loses a family: both stay in effect and the Subnet reports it', () => {
  const scene = podInSide({ cidrBlock: '10.1.0.0/24,fd00:1::/112' });
  scene.bench.edit('subnets', 'side', { cidrBlock: '10.1.0.0/24', gateway: '10.1.0.1', protocol: 'IPv4' });
  scene.bench.converge();
  assert.equal(scene.bench.condition('subnets', 'side', 'Accepted')?.reason, 'CidrInUse');
  assert.notEqual(scene.bench.condition('pods', 'shop/web', BOUND)?.status, 'False');
  assert.equal(annotation(scene, 'ip_address'), '10.1.0.2,fd00:1::2');
  assert.equal(scene.bench.writesAfterRestart(), 0);
});

test('cidr and gateway follow a network that still has the address', () => {
  const scene = new PodScene();
  const annotations = { 'kiln.io/allow-change-under-pods': 'true' };
  scene.bench.put('subnets', { metadata: { name: 'side', annotations }, spec: { cidrBlock: '10.1.0.0/24' } });
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'side' } });
  scene.bench.converge();
  scene.bench.edit('subnets', 'side', { cidrBlock: '10.1.0.0/16', gateway: '10.1.255.254' });
  scene.bench.converge();
  assert.deepEqual([annotation(scene, 'cidr'), annotation(scene, 'gateway')], ['10.1.0.0/16', '10.1.255.254']);
});

test("a user's reservation fails with the present reason when its Subnet changes family, as in a new process", () => {
  const scene = new PodScene();
  scene.subnet('side', { cidrBlock: '10.1.0.0/24' });
  scene.bench.put('ips', { metadata: { name: 'web.shop' }, spec: { podName: 'web', namespace: 'shop', subnet: 'side' } });
  scene.bench.converge();
  const conditions = (): string => scene.bench.conditionText('ips', 'web.shop');
  for (const [cidrBlock, pattern] of [
    ['10.7.0.0/24', /AddressOutOfRange.*10\.1\.0\.2 cannot be allocated in Subnet/],
    ['fd00:1::/112', /AddressOutOfRange.*10\.1\.0\.2 is IPv4, and Subnet .*side.* is IPv6/],
  ] as const) {
    scene.bench.removeByForce('subnets', 'side');
    scene.subnet('side', { cidrBlock });
    scene.bench.converge();
    assert.match(conditions(), pattern);
    assert.equal(scene.bench.writesAfterRestart(), 0, cidrBlock);
  }
});

test('a pod whose Vpc and router were removed by force keeps its address and is counted', () => {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('side', { cidrBlock: '10.1.0.0/24', vpc: 'blue' });
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'side' } });
  scene.bench.converge();
  scene.bench.removeByForce('vpcs', 'blue');
  for (const { table, name } of [
    { table: 'Logical_Router_Port', name: 'blue-side' },
    { table: 'Logical_Router', name: 'blue' },
  ]) {
    scene.bench.removeNamedRow(table, name);
  }
  scene.bench.converge();
  const fresh = scene.bench.restarted();
  fresh.converge();
  for (const bench of [scene.bench, fresh]) {
    assert.notEqual(bench.condition('pods', 'shop/web', BOUND)?.status, 'False');
    assert.equal(bench.object('subnets', 'side')?.status?.['v4usingIPs'], 1n);
    assert.equal(bench.allocation.ledger.usage('side')?.v4?.usingRange, '10.1.0.2');
  }
  assert.equal(fresh.writes, 0);
});

test('an invalid Subnet without the gateway of a family, and without a router port, keeps its pods', () => {
  const scene = new PodScene();
  scene.subnet('side', { cidrBlock: 'fd00:16::/112' });
  scene.pod('web');
  scene.bench.converge();
  const address = scene.addressOf('shop/web');
  scene.bench.edit('subnets', 'ovn-default', { cidrBlock: '10.16.0.0/16,fd00:16::/112', gateway: '10.16.0.1' });
  scene.bench.removeNamedRow('Logical_Router_Port', 'ovn-cluster-ovn-default');
  scene.bench.converge();
  assert.equal(scene.bench.condition('subnets', 'ovn-default', 'Accepted')?.status, 'False');
  assert.equal(scene.addressOf('shop/web'), address);
  assert.equal(scene.bench.allocation.ledger.usage('ovn-default')?.v4?.using, 1n);
});

test('a Subnet that is deleted before its defaults were written, with a pod in it, shows the gateway it counts with', () => {
  const scene = new PodScene();
  scene.subnet('side', { cidrBlock: '10.300.0.0/24' });
  scene.bench.converge();
  scene.bench.put('ips', {
    metadata: { name: 'web.shop', finalizers: ['kubeovn.io/kube-ovn-controller'], labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } },
    spec: { podName: 'web', namespace: 'shop', subnet: 'side', podType: '', ipAddress: '10.1.1.2', v4IpAddress: '10.1.1.2' },
  });
  scene.bench.edit('subnets', 'side', { cidrBlock: '10.1.1.0/24' });
  scene.bench.delete('subnets', 'side');
  scene.bench.converge();
  const side = scene.bench.object('subnets', 'side');
  assert.deepEqual([side?.spec['gateway'], side?.status?.['v4availableIPrange']], ['10.1.1.1', '10.1.1.3-10.1.1.254']);
});

test("a pod with a restored address reports that another program has its Subnet's switch", () => {
  const scene = new PodScene();
  scene.bench.foreignRow('Logical_Switch', '00000000-0000-4000-8000-0000000000aa', { name: 'side' });
  scene.subnet('side', { cidrBlock: '10.1.1.0/24' });
  scene.bench.put('ips', {
    metadata: { name: 'web.shop', finalizers: ['kubeovn.io/kube-ovn-controller'] },
    spec: {
      podName: 'web',
      namespace: 'shop',
      subnet: 'side',
      podType: '',
      ipAddress: '10.1.1.2',
      v4IpAddress: '10.1.1.2',
      v6IpAddress: '',
    },
  });
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'side' } });
  // The bench has no Northbound writer, so the test reports the conflict.
  const message = 'Logical_Switch side belongs to another program; rename the object or remove that row';
  scene.bench.world.rowConflicts.set(switchId('side'), { owners: ['subnet//side'], message });
  scene.bench.converge();
  const condition = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.equal(condition?.reason, 'WaitingForSubnet');
  assert.match(condition?.message ?? '', /Subnet side: Logical_Switch side .*belongs to another program/);
});

test('a port does not wait for DHCP options that were requested of its Subnet after that became invalid', () => {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('side', { cidrBlock: '10.1.0.0/24', vpc: 'blue' });
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'side' } });
  scene.bench.converge();
  scene.bench.removeByForce('vpcs', 'blue');
  scene.bench.edit('subnets', 'side', { enableDHCP: true });
  scene.bench.converge();
  const options = (): unknown => scene.bench.row('Logical_Switch_Port', 'web.shop')?.['dhcpv4_options'];
  assert.equal(options(), null);
  // A pod restored from a backup, with its IP object.
  const late = scene.pod('late', {
    annotations: {
      ...scene.annotations('shop/web'),
      'ovn.kubernetes.io/ip_address': '10.1.0.9',
      'ovn.kubernetes.io/mac_address': '0a:00:00:00:00:09',
    },
  });
  const addresses = { subnet: 'side', ipAddress: '10.1.0.9', v4IpAddress: '10.1.0.9', v6IpAddress: '', macAddress: '0a:00:00:00:00:09' };
  scene.bench.put('ips', {
    metadata: { name: 'late.shop', annotations: { 'kiln.io/pod-uid': late.metadata.uid } },
    spec: { ...addresses, podName: 'late', namespace: 'shop', podType: '' },
  });
  scene.bench.converge();
  assert.deepEqual(scene.bench.row('Logical_Switch_Port', 'late.shop')?.['addresses'], ['0a:00:00:00:00:09 10.1.0.9']);
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.bench.converge();
  assert.equal(typeof options(), 'string');
  scene.bench.removeByForce('vpcs', 'blue');
  scene.bench.edit('subnets', 'side', { enableDHCP: false });
  scene.bench.converge();
  assert.equal(typeof options(), 'string');
});

test("an IP object edited by hand while its Subnet is gone, or has another network, is corrected to its pod's address", () => {
  for (const again of [undefined, '10.7.0.0/24']) {
    const scene = new PodScene();
    scene.subnet('side', { cidrBlock: '10.1.0.0/24' });
    scene.subnet('other', { cidrBlock: '10.3.0.0/24' });
    scene.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'side' } });
    scene.bench.converge();
    const has = (): unknown => [
      scene.bench.object('ips', 'web.shop')?.spec,
      scene.bench.row('Logical_Switch_Port', 'web.shop')?.['addresses'],
      annotation(scene, 'logical_switch'),
      annotation(scene, 'ip_address'),
    ];
    const before = has();
    scene.bench.removeByForce('subnets', 'side');
    scene.bench.converge();
    if (again !== undefined) scene.subnet('side', { cidrBlock: again });
    scene.bench.converge();
    scene.bench.edit('ips', 'web.shop', { subnet: 'other', ipAddress: 'oops' });
    scene.bench.converge();
    assert.deepEqual(has(), before, again ?? 'gone');
    assert.equal(scene.bench.writesAfterRestart(), 0);
  }
});

test('an address annotation removed while the Subnet is gone is written again', () => {
  const scene = podInSide();
  const before = scene.annotations('shop/web');
  scene.bench.removeByForce('subnets', 'side');
  scene.bench.converge();
  const { 'ovn.kubernetes.io/ip_address': taken, ...rest } = before;
  assert.equal(taken, '10.1.0.2');
  scene.pod('web', { annotations: rest });
  scene.bench.converge();
  assert.deepEqual(scene.annotations('shop/web'), before);
});

test('a pod keeps an IP object with its uid if its Subnet is removed from the object, also if that Subnet never existed', () => {
  const scene = new PodScene();
  const annotations = {
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/ip_address': '10.2.0.2',
    'ovn.kubernetes.io/mac_address': '0a:00:00:00:00:03',
  };
  const { uid } = scene.pod('web', { annotations: { ...annotations, 'ovn.kubernetes.io/logical_switch': 'nowhere' } }).metadata;
  const addresses = { ipAddress: '10.2.0.2', v4IpAddress: '10.2.0.2', v6IpAddress: '', macAddress: '0a:00:00:00:00:03' };
  scene.bench.put('ips', {
    metadata: { name: 'web.shop', annotations: { 'kiln.io/pod-uid': uid } },
    spec: { ...addresses, subnet: 'nowhere', podName: 'web', namespace: 'shop', podType: '' },
  });
  scene.bench.converge();
  const before = scene.bench.object('ips', 'web.shop');
  assert.equal(before?.spec['subnet'], 'nowhere');
  scene.pod('web', { annotations });
  scene.bench.converge();
  const after = scene.bench.object('ips', 'web.shop');
  assert.deepEqual([after?.metadata.uid, after?.spec], [before?.metadata.uid, before?.spec]);
  assert.equal(scene.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.reason, 'NoSubnet');
});

test('a pod whose Subnet was removed by force, or has another network, keeps its port when its IP object is also removed', () => {
  for (const again of [undefined, '10.7.0.0/24', 'fd00:7::/112']) {
    const scene = podInSide();
    const before = scene.annotations('shop/web');
    const { metadata, spec } = scene.bench.object('ips', 'web.shop') ?? {};
    const portAddresses = scene.portAddresses('web.shop');
    scene.bench.removeByForce('subnets', 'side');
    scene.bench.converge();
    if (again !== undefined) scene.subnet('side', { cidrBlock: again });
    scene.bench.converge();
    scene.bench.removeByForce('ips', 'web.shop');
    scene.bench.converge();
    const ip = scene.bench.object('ips', 'web.shop');
    assert.notEqual(ip?.metadata.uid, metadata?.uid);
    assert.deepEqual(
      [ip?.spec, scene.portAddresses('web.shop'), scene.addressOf('shop/web')],
      [spec, portAddresses, before['ovn.kubernetes.io/ip_address']],
      again,
    );
    if (again !== undefined) assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.status, 'False');
    assert.equal(scene.bench.writesAfterRestart(), 0);
    scene.bench.removeByForce('pods', 'shop/web');
    scene.bench.converge();
    assert.deepEqual([scene.bench.object('ips', 'web.shop'), scene.portAddresses('web.shop')], [undefined, undefined]);
  }
});

test('edits of a port whose Subnet is gone are undone, and its DHCP options stay', () => {
  const scene = podInSide({ cidrBlock: '10.1.0.0/24', enableDHCP: true });
  const columns = ['addresses', 'enabled', 'options', 'dhcpv4_options'] as const;
  const has = (): readonly unknown[] => columns.map((column) => scene.bench.row('Logical_Switch_Port', 'web.shop')?.[column]);
  const before = has();
  assert.equal(typeof before.at(-1), 'string');
  scene.bench.removeByForce('subnets', 'side');
  scene.bench.converge();
  assert.deepEqual(has(), before);
  const { northbound, world } = scene.bench;
  const row = [...northbound.table('Logical_Switch_Port').values()].find(({ name }) => name === 'web.shop');
  assert.ok(row);
  const written = { addresses: ['00:00:00:00:00:01 10.1.0.9'], enabled: false };
  world.rows.apply(northbound, northbound.apply([{ kind: 'update', table: 'Logical_Switch_Port', uuid: row._uuid, row: written }]));
  scene.bench.converge();
  assert.deepEqual(has(), before);
  assert.equal(scene.bench.writesAfterRestart(), 0);
});

test("rows of an older Subnet that contain another program's rows do not become the new Subnet's if that is invalid", () => {
  const scene = new PodScene();
  const { bench } = scene;
  bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('side', { cidrBlock: '10.1.0.0/24' });
  bench.converge();
  const group = (): unknown => bench.row('Port_Group', 'side.n1');
  const row = [...bench.northbound.table('Port_Group').values()].find(({ name }) => name === 'side.n1');
  assert.ok(row);
  const acl = { direction: 'to-lport', priority: 7, match: 'ip4', action: 'drop' };
  bench.foreignRow('ACL', '00000000-0000-4000-8000-0000000000ac', acl, { table: 'Port_Group', uuid: row._uuid, column: 'acls' });
  bench.removeByForce('subnets', 'side');
  scene.subnet('side', { cidrBlock: '10.1.0.0/24', vpc: 'blue' });
  bench.converge();
  const isWanted = (): boolean => [...bench.desired.rows.rowIds].includes(rowId('Port_Group', 'side.n1'));
  assert.notEqual(group(), undefined, 'it waits for the other program');
  assert.equal(isWanted(), false);
  bench.removeByForce('vpcs', 'blue');
  bench.converge();
  assert.equal(bench.condition('subnets', 'side', 'Accepted')?.reason, 'VpcMissing');
  assert.notEqual(bench.row('Logical_Switch', 'side'), undefined, 'its own network runs on');
  assert.equal(isWanted(), false);
});
