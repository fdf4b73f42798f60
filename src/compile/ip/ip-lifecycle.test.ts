import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';
import { portId } from '../pod/interface/pod-interface.ts';

test('an IP object removed by force under a running pod is created again, and its port is never deleted', () => {
  for (const statefulSet of [undefined, 'db']) {
    const scene = new PodScene();
    if (statefulSet !== undefined) scene.statefulSet(statefulSet, 1);
    scene.pod('db-0', { ...(statefulSet !== undefined && { statefulSet }) });
    scene.bench.converge();
    const before = scene.bench.object('ips', 'db-0.shop');
    scene.bench.removeByForce('ips', 'db-0.shop');
    scene.pod('other');
    scene.bench.compile();
    assert.notEqual(scene.bench.desired.rows.row(portId('db-0.shop')), undefined);
    scene.bench.converge();
    const after = scene.bench.object('ips', 'db-0.shop');
    assert.notEqual(after?.metadata.uid, before?.metadata.uid);
    assert.deepEqual([after?.spec, scene.addressOf('shop/db-0')], [before?.spec, before?.spec['v4IpAddress']]);
    assert.notEqual(scene.addressOf('shop/other'), before?.spec['v4IpAddress']);
    assert.equal(scene.bench.condition('pods', 'shop/db-0', 'kiln.io/NetworkBound'), undefined);
  }
});

test('an IP object deleted under a running pod waits for the pod, and names it', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  scene.bench.delete('ips', 'web.shop');
  scene.bench.converge();
  const conditions = scene.bench.conditions('ips', 'web.shop');
  assert.equal(conditions[0]?.type, 'DeletionBlocked');
  assert.match(conditions[0]?.message ?? '', /IP web\.shop cannot be deleted: one object still uses it: Pod shop\/web\./);
  assert.equal(scene.bench.events.filter(({ object, reason }) => object === 'ips/web.shop' && reason === 'DeletionBlocked').length, 1);
  assert.notEqual(scene.portAddresses('web.shop'), undefined);
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.converge();
  assert.deepEqual([scene.bench.object('ips', 'web.shop'), scene.portAddresses('web.shop')], [undefined, undefined]);
});

test("an IP object edited by hand is corrected to its pod's address", () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  const before = scene.bench.object('ips', 'web.shop')?.spec;
  scene.bench.edit('ips', 'web.shop', { v4IpAddress: '10.16.5.5', ipAddress: '10.16.5.5' });
  scene.bench.converge();
  assert.deepEqual(scene.bench.object('ips', 'web.shop')?.spec, before);
});

for (const deleted of [false, true]) {
  test(`an IP object edited ${deleted ? 'while it is deleted ' : ''}so that it has no user is deleted, and its pod or node gets one of its own with the same address`, () => {
    for (const [owner, ip] of [
      ['pods/shop/web', 'web.shop'],
      ['pods/shop/db-0', 'db-0.shop'],
      ['nodes/n1', 'node-n1'],
    ] as const) {
      const scene = new PodScene();
      scene.bench.put('nodes', { metadata: { name: 'n1' }, spec: {} });
      scene.statefulSet('db', 1);
      scene.pod('db-0', { statefulSet: 'db' });
      scene.pod('web');
      scene.bench.converge();
      const [before, portAddresses] = [scene.bench.object('ips', ip), scene.portAddresses(ip)];
      if (deleted) scene.bench.delete('ips', ip);
      scene.bench.converge();
      if (owner === 'nodes/n1') scene.bench.put('ips', { ...before, metadata: { ...before?.metadata, ownerReferences: [] } } as never);
      scene.bench.edit('ips', ip, { podName: 'zz', namespace: 'yy' });
      scene.bench.converge();
      const after = scene.bench.object('ips', ip);
      assert.notEqual(after, undefined, owner);
      assert.deepEqual(after?.spec, before?.spec, owner);
      assert.equal(after?.metadata.deletionTimestamp, undefined, owner);
      assert.notEqual(after?.metadata.uid, before?.metadata.uid, owner);
      assert.deepEqual(scene.portAddresses(ip), portAddresses);
      assert.equal(scene.bench.writesAfterRestart(), 0);
    }
  });
}

test('an IP object without a user is deleted: left by a crash, or of a pod that was gone before the start', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  scene.bench.removeByForce('pods', 'shop/web');
  const fresh = scene.bench.restarted();
  fresh.converge();
  assert.deepEqual([fresh.object('ips', 'web.shop'), fresh.row('Logical_Switch_Port', 'web.shop')], [undefined, undefined]);
});

test('a legacy IP object, without annotations of Kiln, is adopted and stays with its pod', () => {
  const scene = new PodScene();
  const spec = {
    podName: 'web',
    namespace: 'shop',
    subnet: 'ovn-default',
    ipAddress: '10.16.4.4',
    v4IpAddress: '10.16.4.4',
    v6IpAddress: '',
    macAddress: '0a:00:00:00:00:04',
    nodeName: 'n1',
    podType: '',
  };
  scene.bench.put('ips', {
    metadata: { name: 'web.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'false' }, finalizers: ['kubeovn.io/kube-ovn-controller'] },
    spec,
  });
  scene.bench.put('ips', {
    metadata: { name: 'dead.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'false' }, finalizers: ['kube-ovn-controller'] },
    spec: { ...spec, podName: 'dead', ipAddress: '10.16.4.5', v4IpAddress: '10.16.4.5' },
  });
  const pod = scene.pod('web', {
    annotations: {
      'ovn.kubernetes.io/allocated': 'true',
      'ovn.kubernetes.io/ip_address': '10.16.4.4',
      'ovn.kubernetes.io/mac_address': '0a:00:00:00:00:04',
      'ovn.kubernetes.io/logical_switch': 'ovn-default',
    },
  });
  scene.bench.converge();
  assert.deepEqual(scene.portAddresses('web.shop'), ['0a:00:00:00:00:04 10.16.4.4']);
  assert.equal(scene.bench.object('ips', 'web.shop')?.metadata.annotations?.['kiln.io/pod-uid'], pod.metadata.uid);
  assert.equal(scene.bench.object('ips', 'dead.shop'), undefined);
});

test('the port that Kube-OVN made for a pod which was gone before the start is deleted with its IP object; another legacy port stays', () => {
  const scene = new PodScene();
  const [switchRow] = scene.bench.northbound.table('Logical_Switch');
  assert.ok(switchRow !== undefined);
  const parent = { table: 'Logical_Switch', uuid: switchRow[0], column: 'ports' };
  const legacy = (uuid: string, name: string, pod: string): void =>
    scene.bench.foreignRow(
      'Logical_Switch_Port',
      uuid,
      {
        name,
        type: '',
        addresses: new Set(['0a:00:00:00:00:05 10.16.4.5']),
        external_ids: new Map([
          ['vendor', 'kube-ovn'],
          ['pod', pod],
          ['ls', 'ovn-default'],
        ]),
      },
      parent,
    );
  legacy('00000000-0000-4000-8000-000000000001', 'dead.shop', 'shop/dead');
  legacy('00000000-0000-4000-8000-000000000002', 'unsaid.shop', 'shop/unsaid');
  // As older versions made it: without a finalizer, and with the labels of Kube-OVN.
  scene.bench.put('ips', {
    metadata: { name: 'dead.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'false' } },
    spec: { podName: 'dead', namespace: 'shop', subnet: 'ovn-default', ipAddress: '10.16.4.5', v4IpAddress: '10.16.4.5' },
  });
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'dead.shop'), undefined);
  assert.equal(scene.bench.row('Logical_Switch_Port', 'dead.shop'), undefined);
  assert.notEqual(scene.bench.row('Logical_Switch_Port', 'unsaid.shop'), undefined, 'nothing shows that it has no owner');
});

test('a port without ownership keys stays in a foreign switch, and does not keep its IP object', () => {
  const scene = new PodScene();
  const uuid = '00000000-0000-4000-8000-000000000001';
  scene.bench.foreignRow('Logical_Switch', uuid, { name: 'theirs', external_ids: new Map([['neutron:network_name', 'theirs']]) });
  scene.bench.foreignRow(
    'Logical_Switch_Port',
    '00000000-0000-4000-8000-000000000002',
    {
      name: 'dead.shop',
      type: '',
      addresses: new Set(['0a:00:00:00:00:05 10.16.4.5']),
      external_ids: new Map([
        ['vendor', 'kube-ovn'],
        ['pod', 'shop/dead'],
      ]),
    },
    { table: 'Logical_Switch', uuid, column: 'ports' },
  );
  scene.bench.put('ips', {
    metadata: { name: 'dead.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'false' }, finalizers: ['kubeovn.io/kube-ovn-controller'] },
    spec: { podName: 'dead', namespace: 'shop', subnet: 'ovn-default', ipAddress: '10.16.4.5', v4IpAddress: '10.16.4.5' },
  });
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'dead.shop'), undefined);
  assert.notEqual(scene.bench.row('Logical_Switch_Port', 'dead.shop'), undefined);
});

test('a node that no label can name is left out of the labels of the IP object, and taken out again', () => {
  const label = 'ovn.kubernetes.io/node-name';
  for (const node of ['not a name', `${'long-'.repeat(13)}name`, '-x']) {
    const scene = new PodScene();
    scene.pod('web', { node });
    scene.bench.converge();
    const ip = scene.bench.object('ips', 'web.shop');
    assert.deepEqual([ip?.spec['nodeName'], ip?.metadata.labels?.[label]], [node, undefined]);
    assert.notEqual(scene.addressOf('shop/web'), undefined, 'the pod has its address');
    scene.bench.put('ips', {
      metadata: { ...ip?.metadata, name: 'web.shop', labels: { ...ip?.metadata.labels, [label]: 'old' } },
      spec: ip?.spec ?? {},
    });
    scene.bench.converge();
    assert.equal(scene.bench.object('ips', 'web.shop')?.metadata.labels?.[label], undefined);
  }
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'web.shop')?.metadata.labels?.[label], 'n1');
});

const OF_SUBNET = {
  spec: { subnet: 'net', v4IpAddress: '10.1.0.9', ipAddress: '10.1.0.9', namespace: 'default' },
  metadata: { finalizers: ['kubeovn.io/kube-ovn-controller'] },
} as const;

function ofSubnet(scene: PodScene, name: string): void {
  scene.bench.put('ips', { metadata: { name, ...OF_SUBNET.metadata }, spec: { ...OF_SUBNET.spec, podName: name } });
  scene.bench.converge();
}

test("a Subnet's own IP object does not block the Subnet, and is deleted after it, or before it if a user deletes it", () => {
  // That of a connection to the overlay: `subnet-interconnection.test.ts`.
  for (const name of ['mcast-querier.net']) {
    const scene = new PodScene();
    const { bench } = scene;
    scene.subnet('net', { cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
    ofSubnet(scene, name);
    assert.equal(bench.object('ips', name)?.metadata.deletionTimestamp, undefined, 'it stays with its Subnet');
    bench.delete('ips', name);
    bench.converge();
    assert.equal(bench.object('ips', name), undefined, 'deleted, it goes');
    ofSubnet(scene, name);
    scene.pod('web');
    bench.converge();
    bench.delete('subnets', 'net');
    bench.converge();
    assert.match(bench.condition('subnets', 'net', 'DeletionBlocked')?.message ?? '', /: one object still uses it: IP web\.shop\./);
    assert.ok(bench.object('ips', name), 'while the Subnet is there, so is this');
    bench.removeByForce('pods', 'shop/web');
    bench.converge();
    assert.deepEqual(
      [bench.object('subnets', 'net'), bench.object('ips', name), bench.object('ips', 'web.shop')],
      [undefined, undefined, undefined],
    );
  }
});

test('a pod with a similar name has its IP object like all others', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('net', { cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  scene.pod('mcast-querier');
  bench.converge();
  bench.delete('subnets', 'net');
  bench.converge();
  assert.match(bench.condition('subnets', 'net', 'DeletionBlocked')?.message ?? '', /IP mcast-querier\.shop/);
  bench.removeByForce('pods', 'shop/mcast-querier');
  bench.converge();
  assert.deepEqual([bench.object('subnets', 'net'), bench.object('ips', 'mcast-querier.shop')], [undefined, undefined]);
});

test("a pod's IP object edited to be the Subnet's own is deleted with the pod, deleted with the Subnet or not", () => {
  const scene = new PodScene();
  const { bench } = scene;
  const { metadata } = scene.subnet('net', { cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  scene.pod('web');
  bench.converge();
  const ip = bench.object('ips', 'web.shop');
  assert.ok(ip !== undefined);
  const owner = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', name: 'net', uid: metadata.uid, blockOwnerDeletion: true };
  bench.put('ips', { ...ip, metadata: { ...ip.metadata, ownerReferences: [owner] } });
  bench.converge();
  for (const id of ['subnets', 'ips'] as const) bench.delete(id, id === 'ips' ? 'web.shop' : 'net');
  bench.converge();
  assert.match(bench.condition('subnets', 'net', 'DeletionBlocked')?.message ?? '', /IP web\.shop/);
  assert.match(bench.conditionText('ips', 'web.shop'), /DeletionBlocked.*Pod shop\/web/);
  bench.removeByForce('pods', 'shop/web');
  bench.converge();
  assert.deepEqual([bench.object('subnets', 'net'), bench.object('ips', 'web.shop')], [undefined, undefined]);
});

test('an IP object whose pod has another address, in a conflict, is corrected and reports the conflict', () => {
  const next = '; delete the one that should not have it; kubectl describe ips.kubeovn.io back.shop';
  for (const [brought, sentence] of [
    ['10.9.0.2', 'IP back.shop: address 10.9.0.2 of Subnet s5 is also held by OvnEip e1 (10.9.0.2 of Subnet s5)'],
    ['10.9.0.51', 'IP back.shop: address 10.9.0.51 of Subnet s5 is also held by OvnEip e1 (10.9.0.51 of Subnet s5)'],
  ] as const) {
    const scene = new PodScene();
    const { bench } = scene;
    bench.put('ips', {
      metadata: { name: 'back.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } },
      spec: { podName: 'back', namespace: 'shop', subnet: 's5', podType: '', ipAddress: '10.9.0.51', v4IpAddress: '10.9.0.51' },
    });
    bench.converge();
    const annotations = {
      'ovn.kubernetes.io/allocated': 'true',
      'ovn.kubernetes.io/logical_switch': 's5',
      'ovn.kubernetes.io/ip_address': brought,
      'ovn.kubernetes.io/mac_address': '0a:00:00:00:00:01',
    };
    scene.ownPort(scene.pod('back', { annotations }), 's5', `0a:00:00:00:00:01 ${brought}`);
    bench.converge();
    bench.put('ovn-eips', {
      metadata: { name: 'e1', finalizers: ['kubeovn.io/kube-ovn-controller'] },
      spec: { externalSubnet: 's5', v4Ip: brought, macAddress: '0a:00:00:00:00:02', type: 'nat' },
    });
    bench.converge();
    const conflict = bench.condition('ips', 'back.shop', 'AddressConflict');
    assert.equal(conflict?.message, sentence + next);
  }
});
