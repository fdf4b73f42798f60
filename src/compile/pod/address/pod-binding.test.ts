import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';
import { objectId } from '../../output.ts';
import { portId } from '../interface/pod-interface.ts';

test('a pod gets its address, IP object, port and annotations', () => {
  const scene = new PodScene();
  const pod = scene.pod('web');
  scene.bench.converge();
  const ip = scene.bench.object('ips', 'web.shop');
  const address = String(ip?.spec['v4IpAddress']);
  const mac = String(ip?.spec['macAddress']);
  assert.match(address, /^10\.16\.0\.\d+$/);
  assert.deepEqual(ip?.spec, {
    podName: 'web',
    namespace: 'shop',
    subnet: 'ovn-default',
    ipAddress: address,
    v4IpAddress: address,
    v6IpAddress: '',
    macAddress: mac,
    nodeName: 'n1',
    attachIps: [],
    attachMacs: [],
    attachSubnets: [],
    containerID: '',
    podType: '',
  });
  assert.deepEqual(ip?.metadata.labels, {
    'ovn.kubernetes.io/subnet': 'ovn-default',
    'ovn.kubernetes.io/node-name': 'n1',
    'ovn-default': '',
    'ovn.kubernetes.io/ip_reserved': 'false',
  });
  assert.deepEqual(ip?.metadata.finalizers, ['kubeovn.io/kube-ovn-controller']);
  assert.equal(ip?.metadata.annotations?.['kiln.io/pod-uid'], pod.metadata.uid);
  const row = scene.bench.row('Logical_Switch_Port', 'web.shop');
  assert.deepEqual(row?.['addresses'], [`${mac} ${address}`]);
  assert.deepEqual(row?.['port_security'], []);
  const { pod: podKey, ls, vendor } = scene.externalIds('Logical_Switch_Port', 'web.shop');
  assert.deepEqual({ podKey, ls, vendor }, { podKey: 'shop/web', ls: 'ovn-default', vendor: 'kube-ovn' });
  assert.deepEqual(scene.annotations('shop/web'), {
    'ovn.kubernetes.io/ip_address': address,
    'ovn.kubernetes.io/mac_address': mac,
    'ovn.kubernetes.io/cidr': '10.16.0.0/16',
    'ovn.kubernetes.io/gateway': '10.16.0.1',
    'ovn.kubernetes.io/logical_switch': 'ovn-default',
    'ovn.kubernetes.io/pod_nic_type': 'veth-pair',
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/logical_router': 'ovn-cluster',
    'ovn.kubernetes.io/routed': 'true',
  });
  assert.deepEqual(scene.bench.row('Port_Group', 'node.n1')?.['ports'], ['Logical_Switch_Port/web.shop']);
});

test('the IP object comes first, then the row, then the annotations', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.compile();
  const { desired } = scene.bench;
  const wants = (): readonly string[] => [
    ...desired.objects.of(objectId('ips', 'web.shop')).map(({ kind }) => `ip ${kind}`),
    ...(desired.rows.row(portId('web.shop')) === undefined ? [] : ['row']),
    ...desired.objects.of(objectId('pods', 'shop/web')).map(() => 'annotations'),
  ];
  assert.deepEqual(wants(), ['ip create']);
  scene.bench.put('ips', objectOf(scene, 'web.shop'));
  scene.bench.compile();
  assert.ok(wants().includes('row'));
  assert.ok(!wants().includes('annotations'));
  scene.bench.converge();
  assert.ok(wants().includes('annotations'));
});

test('a pod without a node is allocated, and routed when it has one', () => {
  const scene = new PodScene();
  scene.pod('web', { node: '' });
  scene.bench.converge();
  assert.equal(scene.annotations('shop/web')['ovn.kubernetes.io/allocated'], 'true');
  assert.equal(scene.annotations('shop/web')['ovn.kubernetes.io/routed'], undefined);
  assert.equal(scene.bench.object('ips', 'web.shop')?.spec['nodeName'], '');
  scene.bench.edit('pods', 'shop/web', { nodeName: 'n1' });
  scene.bench.converge();
  assert.equal(scene.annotations('shop/web')['ovn.kubernetes.io/routed'], 'true');
  assert.equal(scene.bench.object('ips', 'web.shop')?.spec['nodeName'], 'n1');
  assert.equal(scene.bench.object('ips', 'web.shop')?.metadata.labels?.['ovn.kubernetes.io/node-name'], 'n1');
});

test('a pod in the host network has nothing', () => {
  const scene = new PodScene();
  scene.pod('agent', { spec: { hostNetwork: true } });
  scene.bench.converge();
  assert.deepEqual(
    [scene.bench.object('ips', 'agent.shop'), scene.portAddresses('agent.shop'), scene.annotations('shop/agent')],
    [undefined, undefined, {}],
  );
});

test('a port follows the annotations that shape it', () => {
  const scene = new PodScene();
  scene.pod('web', {
    annotations: {
      'ovn.kubernetes.io/ip_address': '10.16.3.4',
      'ovn.kubernetes.io/mac_address': '0A:00:00:00:00:07',
      'ovn.kubernetes.io/port_security': 'true',
      'ovn.kubernetes.io/port_vips': '10.16.0.99',
      'ovn.kubernetes.io/security_groups': 'front,back',
      'ovn.kubernetes.io/layer2_forward': 'true',
    },
  });
  scene.bench.converge();
  const row = scene.bench.row('Logical_Switch_Port', 'web.shop');
  assert.deepEqual(row?.['addresses'], ['0a:00:00:00:00:07 10.16.3.4', 'unknown']);
  assert.deepEqual(row?.['port_security'], ['0a:00:00:00:00:07 10.16.3.4 10.16.0.99']);
  const externalIds = scene.externalIds('Logical_Switch_Port', 'web.shop');
  assert.equal(externalIds['security_groups'], 'front/back');
  assert.equal(externalIds['associated_sg_front'], 'true');
  assert.equal(externalIds['attach-vips'], 'true');
  assert.equal(scene.annotations('shop/web')['ovn.kubernetes.io/mac_address'], '0a:00:00:00:00:07');
});

test('dual stack writes both families, IPv4 first', () => {
  const scene = new PodScene();
  scene.subnet('red', { cidrBlock: '10.20.0.0/24,fd00:20::/120', namespaces: ['shop'] });
  scene.pod('web');
  scene.pod('six', { annotations: { 'ovn.kubernetes.io/ip_family': 'ipv6' } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web'), '10.20.0.2,fd00:20::2');
  assert.equal(scene.addressOf('shop/six'), 'fd00:20::3');
  assert.equal(scene.annotations('shop/web')['ovn.kubernetes.io/cidr'], '10.20.0.0/24,fd00:20::/120');
  assert.match(String((scene.portAddresses('web.shop') as string[])[0]), / 10\.20\.0\.2 fd00:20::2$/);
});

test('a fresh controller plans nothing', () => {
  const scene = new PodScene();
  scene.statefulSet('db', 2);
  for (const name of ['a', 'b', 'c']) scene.pod(name);
  scene.pod('db-0', { statefulSet: 'db' });
  scene.pod('db-1', { statefulSet: 'db' });
  scene.bench.converge();
  scene.bench.removeByForce('pods', 'shop/db-1');
  scene.bench.converge();
  assert.equal(scene.bench.writesAfterRestart(), 0);
});

/** The IP object that the rules emit. */
function objectOf(scene: PodScene, name: string): { readonly metadata: { readonly name: string } } {
  const output = scene.bench.desired.objects.of(objectId('ips', name)).find(({ kind }) => kind === 'create');
  assert.ok(output?.kind === 'create');
  return output.object as unknown as { readonly metadata: { readonly name: string } };
}

test('edits by hand under a running pod are undone: annotation, IP object or row', () => {
  const scene = new PodScene();
  scene.subnet('red', { cidrBlock: '10.40.0.0/24' });
  scene.pod('web');
  scene.bench.converge();
  const before = [scene.annotations('shop/web'), scene.bench.object('ips', 'web.shop')?.spec, scene.portAddresses('web.shop')];
  const same = (): void => {
    scene.bench.converge();
    assert.deepEqual([scene.annotations('shop/web'), scene.bench.object('ips', 'web.shop')?.spec, scene.portAddresses('web.shop')], before);
  };
  scene.pod('web', { annotations: { ...scene.annotations('shop/web'), 'ovn.kubernetes.io/ip_address': '10.16.7.7' } });
  same();
  scene.pod('web', { annotations: { ...scene.annotations('shop/web'), 'ovn.kubernetes.io/logical_switch': 'red' } });
  same();
  scene.pod('web', { annotations: {} });
  same();
  scene.bench.edit('ips', 'web.shop', { v4IpAddress: '10.16.7.7', ipAddress: '10.16.7.7' });
  same();
  const row = [...scene.bench.northbound.table('Logical_Switch_Port').values()].find(({ name }) => name === 'web.shop');
  assert.ok(row);
  scene.bench.world.rows.apply(
    scene.bench.northbound,
    scene.bench.northbound.apply([
      { kind: 'update', table: 'Logical_Switch_Port', uuid: row._uuid, row: { addresses: ['0a:00:00:00:00:01 10.16.7.7'] } },
    ]),
  );
  same();
});

test('a pod that terminates before it had an address requests none', () => {
  const scene = new PodScene();
  const pod = scene.pod('web');
  const { world } = scene.bench;
  world.pods.set('shop/web', {
    ...(world.pods.peek('shop/web') as NonNullable<ReturnType<typeof world.pods.peek>>),
    metadata: { ...pod.metadata, deletionTimestamp: '2026-03-01T00:00:00Z', deletionGracePeriodSeconds: 30 },
  });
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
  assert.equal(scene.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound'), undefined);
});

for (const subnet of ['no-such', 'other'])
  test(`a pod whose port is deleted while its IP object is edited to name Subnet ${subnet} keeps the address that its Subnet has`, () => {
    const scene = new PodScene();
    scene.subnet('other', { cidrBlock: '10.77.0.0/24' });
    scene.pod('web');
    scene.bench.converge();
    const before = scene.portAddresses('web.shop');
    const ip = scene.bench.object('ips', 'web.shop');
    assert.ok(ip !== undefined && before !== undefined);
    scene.bench.removeNamedRow('Logical_Switch_Port', 'web.shop');
    scene.bench.put('ips', { metadata: ip.metadata, spec: { ...ip.spec, subnet, ipAddress: '10.77.0.9' } });
    scene.bench.converge();
    assert.deepEqual(scene.portAddresses('web.shop'), before);
    assert.deepEqual(scene.bench.object('ips', 'web.shop')?.spec, ip.spec);
  });
