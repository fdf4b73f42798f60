import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';

function reserve(scene: PodScene, spec: object = {}, name = 'web.shop'): void {
  scene.bench.put('ips', { metadata: { name }, spec: { podName: 'web', namespace: 'shop', subnet: 'ovn-default', podType: '', ...spec } });
  scene.bench.converge();
}

test('an IP object that a user creates is completed and retained, without a port', () => {
  const scene = new PodScene();
  reserve(scene);
  const ip = scene.bench.object('ips', 'web.shop');
  assert.deepEqual([ip?.spec['ipAddress'], ip?.spec['v4IpAddress'], ip?.spec['v6IpAddress']], ['10.16.0.2', '10.16.0.2', '']);
  assert.match(String(ip?.spec['macAddress']), /^[0-9a-f:]{17}$/);
  assert.equal(ip?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'], 'true');
  assert.equal(ip?.metadata.labels?.['ovn-default'], '');
  assert.deepEqual(ip?.metadata.finalizers, ['kubeovn.io/kube-ovn-controller']);
  assert.equal(scene.portAddresses('web.shop'), undefined);
});

test('a pod of its name gets the address, and leaves it reserved when it is deleted', () => {
  const scene = new PodScene();
  reserve(scene, { ipAddress: '10.16.8.8' });
  scene.pod('other');
  for (let round = 0; round < 2; round++) {
    const pod = scene.pod('web');
    scene.bench.converge();
    assert.equal(scene.addressOf('shop/web'), '10.16.8.8');
    assert.deepEqual(scene.portAddresses('web.shop'), [`${scene.annotations('shop/web')['ovn.kubernetes.io/mac_address']} 10.16.8.8`]);
    assert.equal(scene.bench.object('ips', 'web.shop')?.metadata.annotations?.['kiln.io/pod-uid'], pod.metadata.uid);
    scene.bench.removeByForce('pods', 'shop/web');
    scene.bench.converge();
    assert.equal(scene.portAddresses('web.shop'), undefined);
    assert.equal(scene.bench.object('ips', 'web.shop')?.spec['v4IpAddress'], '10.16.8.8');
  }
  const fresh = scene.bench.restarted();
  fresh.converge();
  assert.equal(fresh.writes, 0);
  fresh.delete('ips', 'web.shop');
  fresh.converge();
  assert.equal(fresh.object('ips', 'web.shop'), undefined);
  assert.equal(fresh.allocation.ledger.usage('ovn-default')?.v4?.using, 1n);
});

test('a request for an address is completed while a pod of its name waits, and stays when the pod is deleted', () => {
  const scene = new PodScene();
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/vip': 'later' } });
  reserve(scene);
  assert.equal(scene.addressOf('shop/web'), undefined);
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.converge();
  const ip = scene.bench.object('ips', 'web.shop');
  assert.deepEqual([ip?.spec['v4IpAddress'], ip?.metadata.labels?.['ovn.kubernetes.io/ip_reserved']], ['10.16.0.2', 'true']);
});

test('an IP object labelled as reserved under a running pod stays after the pod', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  const address = scene.addressOf('shop/web');
  const ip = scene.bench.object('ips', 'web.shop');
  scene.bench.put('ips', { metadata: { name: 'web.shop', labels: { ...ip?.metadata.labels, 'ovn.kubernetes.io/ip_reserved': 'true' } } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web'), address);
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'web.shop')?.spec['v4IpAddress'], address);
});

test('an IP object that cannot be completed reports why, and is completed when it can', () => {
  const scene = new PodScene();
  reserve(scene, {}, 'wrong-name');
  reserve(scene, { subnet: 'later' });
  const conditions = (name: string): string => scene.bench.conditionText('ips', name);
  assert.match(
    conditions('wrong-name'),
    /NameInvalid.*IP wrong-name: metadata\.name "wrong-name" is not the name of the port of pod shop\/web in Subnet [a-z-]+; .*make it with the name web\.shop; kubectl delete ips\.kubeovn\.io wrong-name/,
  );
  assert.match(conditions('web.shop'), /WaitingForSubnet.*later/);
  reserve(scene, { subnet: '' }, 'nowhere.shop');
  assert.match(
    conditions('nowhere.shop'),
    /IP nowhere\.shop: spec\.subnet "" is empty; it names the Subnet of the address; kubectl edit ips/,
  );
  scene.subnet('later', { cidrBlock: '10.90.0.0/24' });
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'web.shop')?.spec['v4IpAddress'], '10.90.0.2');
  assert.equal(conditions('web.shop').includes('Accepted'), false);
});

test('a failure names the object, the field, its value and the rule', () => {
  const messageFor = (spec: object): string => {
    const scene = new PodScene();
    scene.subnet('dual', { cidrBlock: '10.90.0.0/24,fd90::/64' });
    reserve(scene, { subnet: 'dual', ...spec });
    return scene.bench
      .conditions('ips', 'web.shop')
      .map(({ message }) => message)
      .join();
  };
  const outside = 'cannot be allocated in Subnet "dual": ';
  const network = `${outside}its CIDR is 10.90.0.0/24,fd90::/64`;
  const prefix = (field: string, value: string): string => `IP web.shop: spec.${field} "${value}": the address ${value} `;
  assert.ok(messageFor({ ipAddress: '10.91.0.1' }).startsWith(prefix('ipAddress', '10.91.0.1') + network));
  assert.ok(messageFor({ v6IpAddress: 'fd91::1' }).startsWith(prefix('v6IpAddress', 'fd91::1') + network));
  const ends = `${outside}the first and the last address of 10.90.0.0/24 are never allocated`;
  assert.ok(messageFor({ ipAddress: '10.90.0.255' }).startsWith(prefix('ipAddress', '10.90.0.255') + ends));
  assert.match(
    messageFor({ ipAddress: '10.90.0.1', macAddress: '0a:00:00:00:00:09' }),
    /^IP web\.shop: spec\.ipAddress "10\.90\.0\.1" and spec\.macAddress "0a:00:00:00:00:09": the address 10\.90\.0\.1 is the gateway of Subnet "dual"/,
  );
});

test('a request for an address in use fails and is no second holder; a complete IP object is one, and both report it', () => {
  const scene = new PodScene();
  reserve(scene, { ipAddress: '10.16.8.8' });
  const conditions = (name: string): string => scene.bench.conditionText('ips', name);
  scene.bench.put('ips', {
    metadata: { name: 'asks.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } },
    spec: {
      podName: 'asks',
      namespace: 'shop',
      subnet: 'ovn-default',
      podType: '',
      ipAddress: '10.16.8.8',
      macAddress: '0a:00:00:00:00:09',
    },
  });
  scene.bench.converge();
  assert.match(conditions('asks.shop'), /Accepted.*AddressConflict.*web\.shop/);
  assert.doesNotMatch(conditions('web.shop'), /AddressConflict/);
  assert.deepEqual(scene.bench.object('ips', 'asks.shop')?.metadata.finalizers ?? [], []);
  const spec = { podName: 'twin', namespace: 'shop', subnet: 'ovn-default', podType: '', macAddress: '0a:00:00:00:00:0a' };
  scene.bench.put('ips', {
    metadata: { name: 'twin.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'true' }, finalizers: ['kubeovn.io/kube-ovn-controller'] },
    spec: { ...spec, ipAddress: '10.16.8.8', v4IpAddress: '10.16.8.8', v6IpAddress: '' },
  });
  scene.bench.converge();
  assert.match(conditions('twin.shop'), /AddressConflict.*web\.shop/);
  assert.match(conditions('web.shop'), /AddressConflict.*twin\.shop/);
  scene.bench.removeByForce('ips', 'twin.shop');
  scene.bench.removeByForce('ips', 'web.shop');
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'asks.shop')?.spec['v4IpAddress'], '10.16.8.8');
});

test('two IP objects restored with one address report the conflict while their Subnet is not ready yet', () => {
  const scene = new PodScene();
  scene.bench.put('subnets', { metadata: { name: 'later' }, spec: { vpc: 'none-yet', cidrBlock: '10.2.0.0/28', provider: 'ovn' } });
  for (const name of ['a', 'b'])
    scene.bench.put('ips', {
      metadata: { name: `${name}.shop` },
      spec: { podName: name, namespace: 'shop', subnet: 'later', podType: '', ipAddress: '10.2.0.3', v4IpAddress: '10.2.0.3' },
    });
  scene.bench.converge();
  const conditions = (name: string): string => scene.bench.conditionText('ips', name);
  assert.match(conditions('a.shop'), /AddressConflict.*b\.shop/);
  assert.match(conditions('b.shop'), /AddressConflict.*a\.shop/);
  scene.bench.removeByForce('ips', 'b.shop');
  scene.bench.converge();
  assert.doesNotMatch(conditions('a.shop'), /AddressConflict/);
});

test('an IP object with unreadable or contradictory fields reports field, value and rule; it gets no other address', () => {
  const scene = new PodScene();
  const cases: readonly (readonly [spec: object, reason: string, pattern: RegExp])[] = [
    [
      { v4IpAddress: 'ten' },
      'IPAddressInvalid',
      /spec\.v4IpAddress "ten" is not an IP address; it is one IPv4 address, or empty; kubectl edit/,
    ],
    [{ v6IpAddress: '10.16.0.9' }, 'IPAddressInvalid', /spec\.v6IpAddress "10\.16\.0\.9" is not an IPv6 address/],
    [{ macAddress: 'aa:bb' }, 'IPMacInvalid', /spec\.macAddress "aa:bb" /],
    [{ podType: 'Deployment' }, 'IPPodTypeInvalid', /spec\.podType "Deployment" is not known; it is StatefulSet/],
    [
      { podType: 'Pod', macAddress: 'aa:bb', v4IpAddress: '10.16.0.09' },
      'IPPodTypeInvalid',
      /spec\.podType "Pod" .*\. IP p4\.shop: spec\.macAddress "aa:bb" .*\. IP p4\.shop: spec\.v4IpAddress "10\.16\.0\.09" .*; kubectl edit/,
    ],
    [{ ipAddress: '10.16.0.9', v4IpAddress: '10.16.0.8' }, 'IPAddressInvalid', /spec\.ipAddress "10\.16\.0\.9" does not have 10\.16\.0\.8/],
  ];
  for (const [i, [spec, reason, pattern]] of cases.entries()) {
    const name = `p${i}.shop`;
    scene.bench.put('ips', { metadata: { name }, spec: { subnet: 'ovn-default', podName: `p${i}`, namespace: 'shop', ...spec } });
    scene.bench.converge();
    const ip = scene.bench.object('ips', name);
    const conditions = scene.bench.conditionText('ips', name);
    assert.ok(conditions.includes(` ${reason}: `), conditions);
    assert.match(conditions, pattern);
    assert.deepEqual({ ...ip?.spec, ...spec }, ip?.spec, 'what the user wrote is there');
  }
});

test('a pod that cannot have the address of its reserved IP object reports that object, not its annotation', () => {
  const scene = new PodScene();
  scene.pod('other', { annotations: { 'ovn.kubernetes.io/ip_address': '10.16.8.8' } });
  scene.bench.converge();
  reserve(scene, { ipAddress: '10.16.8.8', v4IpAddress: '10.16.8.8' });
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/ip_address': '10.16.9.9' } });
  scene.bench.converge();
  const bound = scene.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound');
  assert.deepEqual([bound?.status, bound?.reason], ['False', 'AddressConflict']);
  assert.match(
    bound?.message ?? '',
    /^Pod shop\/web: IP web\.shop, which is reserved for this pod .*10\.16\.8\.8.*held by other\.shop.*; fix it, or kubectl delete ip web\.shop$/,
  );
  scene.bench.removeByForce('ips', 'web.shop');
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web'), '10.16.9.9');
});

/** Subnet `net` is being deleted and blocked by a pod; then an hour passes. */
function going(): PodScene {
  const scene = new PodScene();
  scene.subnet('net', { cidrBlock: '10.5.0.0/24' });
  scene.bench.converge();
  scene.pod('old', { annotations: { 'ovn.kubernetes.io/logical_switch': 'net' } });
  scene.bench.converge();
  scene.bench.delete('subnets', 'net');
  scene.bench.converge();
  scene.bench.passTo(Date.parse('2026-01-01T01:00:00Z'));
  return scene;
}

/** The reason of condition `Accepted` of an IP object. */
function accepted(bench: PodScene['bench'], name: string): string | undefined {
  return bench.condition('ips', name, 'Accepted')?.reason;
}

const LATE = { creationTimestamp: '2026-01-01T01:00:00Z' };
const RESERVED = { labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } };

for (const [what, metadata, spec] of [
  ['asks for an address', LATE, {}],
  ['pattern an address', LATE, { v4IpAddress: '10.5.0.77', ipAddress: '10.5.0.77' }],
  ['pattern an address and is reserved', { ...LATE, ...RESERVED }, { v4IpAddress: '10.5.0.77', ipAddress: '10.5.0.77' }],
  [
    'is a copy of one of another Subnet',
    { ...LATE, labels: { ...RESERVED.labels, 'ovn.kubernetes.io/subnet': 'elsewhere' } },
    { v4IpAddress: '10.5.0.77', ipAddress: '10.5.0.77' },
  ],
] as const) {
  test(`an IP object that ${what} and is created while its Subnet is being deleted reports it, is not completed and does not block it`, () => {
    const { bench } = going();
    bench.put('ips', {
      metadata: { name: 'web.shop', ...metadata },
      spec: { podName: 'web', namespace: 'shop', subnet: 'net', podType: '', ...spec },
    });
    for (const one of [bench, bench.restarted()]) {
      one.converge();
      assert.equal(accepted(one, 'web.shop'), 'SubnetTerminating');
      assert.equal(one.object('ips', 'web.shop')?.metadata.finalizers, undefined);
      assert.match(one.condition('subnets', 'net', 'DeletionBlocked')?.message ?? '', /: one object still uses it: IP old\.shop\./);
    }
    bench.removeByForce('pods', 'shop/old');
    bench.converge();
    assert.equal(bench.object('subnets', 'net'), undefined);
    assert.equal(bench.row('Logical_Switch', 'net'), undefined);
    assert.equal(accepted(bench, 'web.shop'), 'WaitingForSubnet');
  });
}

test("an IP object with an address from before its Subnet's deletion blocks it and is completed, also after a time without a leader", () => {
  for (const more of [{}, RESERVED]) {
    const { bench } = going();
    bench.put('ips', {
      metadata: { name: 'web.shop', creationTimestamp: '2026-01-01T00:00:00Z', ...more },
      spec: { podName: 'web', namespace: 'shop', subnet: 'net', podType: '', v4IpAddress: '10.5.0.77', ipAddress: '10.5.0.77' },
    });
    bench.converge();
    assert.equal(accepted(bench, 'web.shop'), undefined);
    assert.equal(bench.object('ips', 'web.shop')?.metadata.labels?.['ovn.kubernetes.io/subnet'], 'net');
    assert.match(bench.condition('subnets', 'net', 'DeletionBlocked')?.message ?? '', /IP old\.shop, IP web\.shop/);
  }
});

test('the IP object of a pod in a Subnet that is being deleted, recreated by hand, blocks the Subnet as before', () => {
  const { bench } = going();
  const { spec } = bench.object('ips', 'old.shop') ?? assert.fail();
  bench.removeByForce('ips', 'old.shop');
  bench.put('ips', { metadata: { name: 'old.shop', ...LATE }, spec });
  bench.converge();
  assert.match(
    bench.condition('subnets', 'net', 'DeletionBlocked')?.message ?? '',
    /: one object still uses it: \w+ (old\.shop|shop\/old)\./,
  );
  assert.notEqual(bench.object('subnets', 'net'), undefined);
  assert.equal(accepted(bench, 'old.shop'), undefined);
});
