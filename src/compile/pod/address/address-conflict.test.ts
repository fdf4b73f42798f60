import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';
const ADDRESS = '10.16.7.7';

/** An IP object as a backup or another controller would have it: complete. */
function restored(scene: PodScene, pod: string, more: { readonly podUid?: string; readonly mac?: string } = {}): void {
  scene.bench.put('ips', {
    metadata: {
      name: `${pod}.shop`,
      labels: { 'ovn.kubernetes.io/ip_reserved': more.podUid === undefined ? 'true' : 'false' },
      finalizers: ['kubeovn.io/kube-ovn-controller'],
      ...(more.podUid !== undefined && { annotations: { 'kiln.io/pod-uid': more.podUid } }),
    },
    spec: {
      podName: pod,
      namespace: 'shop',
      subnet: 'ovn-default',
      ipAddress: ADDRESS,
      v4IpAddress: ADDRESS,
      v6IpAddress: '',
      macAddress: more.mac ?? '0a:00:00:00:00:99',
      nodeName: '',
      podType: '',
    },
  });
}

function static7(scene: PodScene, name: string): void {
  scene.pod(name, { annotations: { 'ovn.kubernetes.io/ip_address': ADDRESS } });
  scene.bench.converge();
}

function conditions(scene: PodScene, name: string): string {
  return scene.bench.conditionText('ips', name);
}

function reason(scene: PodScene, pod: string): string | undefined {
  return scene.bench.condition('pods', `shop/${pod}`, BOUND)?.reason;
}

function rowsWith(scene: PodScene, address: string): readonly string[] {
  return scene.bench.rowIds('Logical_Switch_Port').filter((name) => String(scene.portAddresses(name)).includes(address));
}

test("an IP object created by hand with a bound pod's address: both report it, the pod keeps its port, the other never gets one", () => {
  const scene = new PodScene();
  static7(scene, 'first');
  const portAddress = scene.portAddresses('first.shop');
  restored(scene, 'second');
  scene.bench.converge();
  assert.match(conditions(scene, 'first.shop'), /AddressConflict.*second\.shop/);
  assert.match(conditions(scene, 'second.shop'), /AddressConflict.*first\.shop/);
  assert.equal(reason(scene, 'first'), 'AddressConflict');
  for (const object of ['ips/first.shop', 'ips/second.shop', 'pods/shop/first'])
    assert.equal(
      scene.bench.events.filter((event) => event.object === object && /HeldTwice|AddressConflict|AcquireAddressFailed/.test(event.reason))
        .length,
      1,
      object,
    );
  scene.pod('second');
  scene.bench.converge();
  assert.deepEqual(rowsWith(scene, ADDRESS), ['first.shop']);
  assert.deepEqual(scene.portAddresses('first.shop'), portAddress);
  assert.equal(reason(scene, 'second'), 'AddressConflict');
  assert.equal(scene.addressOf('shop/second'), undefined);
});

test('when the first claimant is deleted, the conflict of the other ends and its pod gets the port', () => {
  const scene = new PodScene();
  static7(scene, 'first');
  restored(scene, 'second');
  scene.pod('second');
  scene.bench.converge();
  assert.deepEqual(rowsWith(scene, ADDRESS), ['first.shop']);
  scene.bench.removeByForce('pods', 'shop/first');
  scene.bench.converge();
  assert.deepEqual(rowsWith(scene, ADDRESS), ['second.shop']);
  assert.equal(scene.addressOf('shop/second'), ADDRESS);
  assert.equal(reason(scene, 'second'), 'Bound');
  assert.doesNotMatch(conditions(scene, 'second.shop'), /AddressConflict/);
});

test('of two IP objects from a backup whose pods have no port, the first by creation gets it, in every order of their pods', () => {
  for (const order of [
    ['old', 'young'],
    ['young', 'old'],
  ]) {
    const scene = new PodScene();
    restored(scene, 'old', { mac: '0a:00:00:00:00:01' });
    restored(scene, 'young', { mac: '0a:00:00:00:00:02' });
    for (const pod of order) {
      scene.pod(pod);
      if (order[0] === 'old') scene.bench.converge();
    }
    scene.bench.converge();
    assert.deepEqual(rowsWith(scene, ADDRESS), ['old.shop'], order.join());
    for (const name of ['old', 'young']) assert.match(conditions(scene, `${name}.shop`), /AddressConflict/);
    assert.equal(reason(scene, 'young'), 'AddressConflict');
    assert.equal(scene.bench.writesAfterRestart(), 0, 'a restart changes nothing');
  }
});

test('a bound younger claimant keeps its port when an older IP object appears', () => {
  const scene = new PodScene();
  restored(scene, 'old');
  scene.bench.removeByForce('ips', 'old.shop');
  static7(scene, 'young');
  const portAddress = scene.portAddresses('young.shop');
  const { ips } = scene.bench.world;
  restored(scene, 'old');
  const old = ips.peek('old.shop');
  assert.ok(old);
  ips.set('old.shop', { ...old, metadata: { ...old.metadata, creationTimestamp: '2020-01-01T00:00:00Z' } });
  scene.bench.converge();
  scene.pod('old');
  scene.bench.converge();
  assert.deepEqual(rowsWith(scene, ADDRESS), ['young.shop']);
  assert.deepEqual(scene.portAddresses('young.shop'), portAddress);
  assert.equal(reason(scene, 'old'), 'AddressConflict');
  const fresh = scene.bench.restarted();
  fresh.converge();
  assert.deepEqual([fresh.writes, fresh.row('Logical_Switch_Port', 'young.shop')?.['addresses']], [0, portAddress]);
});

test('two bound claimants both stay, and report the conflict', () => {
  const scene = new PodScene();
  static7(scene, 'first');
  scene.pod('second');
  scene.bench.converge();
  const [mac, port] = ['0a:00:00:00:00:55', 'second.shop'];
  const row = [...scene.bench.northbound.table('Logical_Switch_Port').values()].find(({ name }) => name === port);
  assert.ok(row);
  // Another controller overwrites the port, the IP object and the annotations of the second pod.
  scene.bench.world.rows.apply(
    scene.bench.northbound,
    scene.bench.northbound.apply([
      { kind: 'update', table: 'Logical_Switch_Port', uuid: row._uuid, row: { addresses: [`${mac} ${ADDRESS}`] } },
    ]),
  );
  scene.bench.edit('ips', port, { ipAddress: ADDRESS, v4IpAddress: ADDRESS, macAddress: mac });
  scene.pod('second', {
    annotations: { ...scene.annotations('shop/second'), 'ovn.kubernetes.io/ip_address': ADDRESS, 'ovn.kubernetes.io/mac_address': mac },
  });
  scene.bench.converge();
  assert.deepEqual(rowsWith(scene, ADDRESS), ['first.shop', 'second.shop']);
  for (const pod of ['first', 'second']) assert.equal(reason(scene, pod), 'AddressConflict', pod);
  for (const name of ['first.shop', 'second.shop']) assert.match(conditions(scene, name), /HeldTwice/);
});

test('of two IP objects that two controllers made for one address, the later one without a port is given another; a restart changes nothing', () => {
  for (const order of [
    ['old', 'young'],
    ['young', 'old'],
  ]) {
    const scene = new PodScene();
    const uids = new Map(order.map((name) => [name, scene.pod(name).metadata.uid]));
    for (const name of ['old', 'young']) restored(scene, name, { podUid: uids.get(name) ?? '', mac: `0a:00:00:00:00:0${name.length}` });
    scene.bench.converge();
    assert.equal(scene.addressOf('shop/old'), ADDRESS);
    assert.match(scene.addressOf('shop/young') ?? '', /^10\.16\./);
    assert.notEqual(scene.addressOf('shop/young'), ADDRESS);
    assert.equal(scene.bench.object('ips', 'young.shop')?.spec['v4IpAddress'], scene.addressOf('shop/young'));
    for (const name of ['old.shop', 'young.shop']) assert.doesNotMatch(conditions(scene, name), /AddressConflict/);
    assert.equal(scene.bench.writesAfterRestart(), 0);
  }
});

test('one of them that has its port keeps it, though it is the later one; the other is given another', () => {
  const scene = new PodScene();
  scene.pod('bound');
  scene.bench.converge();
  const held = scene.addressOf('shop/bound') ?? '';
  const { uid } = scene.pod('late', { node: '' }).metadata;
  restored(scene, 'late', { podUid: uid });
  scene.bench.edit('ips', 'late.shop', { ipAddress: held, v4IpAddress: held });
  const { ips } = scene.bench.world;
  const late = ips.peek('late.shop');
  assert.ok(late);
  ips.set('late.shop', { ...late, metadata: { ...late.metadata, creationTimestamp: '2020-01-01T00:00:00Z' } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/bound'), held);
  assert.notEqual(scene.addressOf('shop/late'), held);
  assert.match(scene.addressOf('shop/late') ?? '', /^10\.16\./);
});

test('a claimant whose pod requests the address waits for it', () => {
  const scene = new PodScene();
  static7(scene, 'first');
  const { uid } = scene.pod('second', { annotations: { 'ovn.kubernetes.io/ip_address': ADDRESS } }).metadata;
  restored(scene, 'second', { podUid: uid });
  scene.bench.converge();
  assert.equal(reason(scene, 'second'), 'AddressConflict');
  assert.equal(scene.addressOf('shop/second'), ADDRESS, 'only what its own annotation asks');
  assert.deepEqual(rowsWith(scene, ADDRESS), ['first.shop']);
});

test('two of one MAC: the later one without a port is given another MAC, and keeps its address', () => {
  const scene = new PodScene();
  const uids = ['old', 'young'].map((name) => scene.pod(name).metadata.uid);
  for (const [i, name] of ['old', 'young'].entries()) {
    restored(scene, name, { podUid: uids[i] ?? '', mac: '0a:00:00:00:00:77' });
    scene.bench.edit('ips', `${name}.shop`, { ipAddress: `10.16.7.${i + 1}`, v4IpAddress: `10.16.7.${i + 1}` });
  }
  scene.bench.converge();
  assert.deepEqual(scene.portAddresses('old.shop'), ['0a:00:00:00:00:77 10.16.7.1']);
  assert.match(String(scene.portAddresses('young.shop')), / 10\.16\.7\.2$/);
  assert.doesNotMatch(String(scene.portAddresses('young.shop')), /0a:00:00:00:00:77/);
});

test('a pod with an invalid Subnet also reports its conflict', () => {
  const scene = new PodScene();
  scene.subnet('side', { cidrBlock: '10.300.0.0/24' });
  const keys = { allocated: 'true', logical_switch: 'side', ip_address: '10.1.0.4', mac_address: '0a:00:00:00:00:04' };
  const annotations = Object.fromEntries(Object.entries(keys).map(([key, value]) => [`ovn.kubernetes.io/${key}`, value]));
  for (const name of ['first', 'second']) scene.ownPort(scene.pod(name, { annotations }), 'side', '0a:00:00:00:00:04 10.1.0.4');
  scene.bench.converge();
  for (const [name, other] of [
    ['first', 'second'],
    ['second', 'first'],
  ] as const) {
    const condition = scene.bench.condition('pods', `shop/${name}`, BOUND);
    assert.equal(condition?.reason, 'AddressConflict');
    assert.match(
      condition?.message ?? '',
      new RegExp(`also held by .*${other}\\.shop \\(10\\.1\\.0\\.4 of Subnet side\\).*Subnet "side" allocates no addresses`),
    );
  }
});

test('an IP object that is being deleted and still in use reports a second holder, too, until that is gone', () => {
  const scene = new PodScene();
  static7(scene, 'first');
  scene.bench.delete('ips', 'first.shop');
  restored(scene, 'second');
  scene.bench.converge();
  assert.match(conditions(scene, 'first.shop'), /DeletionBlocked.*Pod shop\/first/);
  assert.match(conditions(scene, 'first.shop'), /AddressConflict.*second\.shop/);
  scene.bench.removeByForce('ips', 'second.shop');
  scene.bench.converge();
  assert.match(conditions(scene, 'first.shop'), /DeletionBlocked.*Pod shop\/first/);
  assert.doesNotMatch(conditions(scene, 'first.shop'), /AddressConflict/);
});
