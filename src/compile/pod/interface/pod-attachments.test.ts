import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const NETWORKS = 'k8s.v1.cni.cncf.io/networks';

/** A network that OVN carries (`infra/fast`) and one for addresses only (`infra/wide`), each with a Subnet. */
function scene(settings: ConstructorParameters<typeof PodScene>[0] = {}): PodScene {
  const made = new PodScene(settings);
  made.attachment('infra/fast', 'kube-ovn');
  made.attachment('infra/wide', 'ipam-only');
  made.subnet('fast', { cidrBlock: '10.50.0.0/24', provider: 'fast.infra.ovn' });
  made.subnet('wide', { cidrBlock: '10.60.0.0/24', provider: 'wide.infra' });
  made.bench.converge();
  return made;
}

function using(made: PodScene, subnet: string): bigint | undefined {
  return made.bench.allocation.ledger.usage(subnet)?.v4?.using;
}

function named(made: PodScene, kind: 'ips' | 'ports', start: string): string[] {
  const all = kind === 'ips' ? made.bench.keys('ips') : made.bench.rowIds('Logical_Switch_Port');
  return all.filter((name) => name.startsWith(start));
}

function of(annotations: Readonly<Record<string, string>>, provider: string): Record<string, string> {
  const prefix = `${provider}.kubernetes.io/`;
  return Object.fromEntries(
    Object.entries(annotations)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => [key.slice(prefix.length), value]),
  );
}

test('an attached network gives the pod a second interface with an IP object, a port and annotations of its own', () => {
  const made = scene();
  made.pod('web', { annotations: { [NETWORKS]: 'infra/fast' } });
  made.bench.converge();
  const ip = made.bench.object('ips', 'web.shop.fast.infra.ovn');
  assert.equal(ip?.spec['podName'], 'web');
  assert.equal(ip?.spec['subnet'], 'fast');
  const mac = String(ip?.spec['macAddress']);
  assert.deepEqual(made.portAddresses('web.shop.fast.infra.ovn'), [`${mac} 10.50.0.2`]);
  assert.equal(made.externalIds('Logical_Switch_Port', 'web.shop.fast.infra.ovn')['pod'], 'shop/web');
  assert.deepEqual(of(made.annotations('shop/web'), 'fast.infra.ovn'), {
    ip_address: '10.50.0.2',
    mac_address: mac,
    cidr: '10.50.0.0/24',
    gateway: '10.50.0.1',
    logical_switch: 'fast',
    pod_nic_type: 'veth-pair',
    allocated: 'true',
    logical_router: 'ovn-cluster',
    routed: 'true',
  });
  assert.match(String(made.addressOf('shop/web')), /^10\.16\./);
  const fresh = made.bench.restarted();
  fresh.converge();
  assert.equal(fresh.writes, 0);
});

test('an interface for addresses only has an IP object and annotations, and neither port nor MAC', () => {
  const made = scene();
  const pod = made.pod('web', {
    annotations: { [NETWORKS]: '[{"name":"wide","namespace":"infra"}]', 'wide.infra.kubernetes.io/logical_switch': 'fast' },
  });
  made.bench.converge();
  const ip = made.bench.object('ips', 'web.shop.wide.infra');
  assert.deepEqual(
    [ip?.spec['ipAddress'], ip?.spec['macAddress'], ip?.metadata.annotations?.['kiln.io/pod-uid']],
    ['10.60.0.2', '', pod.metadata.uid],
  );
  assert.equal(made.portAddresses('web.shop.wide.infra'), undefined);
  assert.deepEqual(of(made.annotations('shop/web'), 'wide.infra'), {
    ip_address: '10.60.0.2',
    cidr: '10.60.0.0/24',
    gateway: '10.60.0.1',
    allocated: 'true',
  });
  made.bench.removeByForce('ips', 'web.shop.wide.infra');
  made.bench.converge();
  assert.equal(made.bench.object('ips', 'web.shop.wide.infra')?.spec['ipAddress'], '10.60.0.2', 'the annotation says which address it was');
  made.bench.removeByForce('pods', 'shop/web');
  made.bench.converge();
  assert.deepEqual([named(made, 'ips', 'web'), using(made, 'wide')], [[], 0n]);
});

test('several attachments of one network are interfaces of their own, with addresses of their own', () => {
  const made = scene();
  made.pod('web', {
    annotations: {
      [NETWORKS]: 'infra/fast@net1,infra/fast@net2',
      'fast.infra.kubernetes.io/ip_address.net1': '10.50.0.77',
      'fast.infra.kubernetes.io/mac_address.net1': '0A:00:00:00:00:77',
      'fast.infra.ovn.net2.kubernetes.io/ip_address': '10.50.0.88',
    },
  });
  made.bench.converge();
  assert.deepEqual(named(made, 'ports', 'web.shop.'), ['web.shop.fast.infra.ovn.net1', 'web.shop.fast.infra.ovn.net2']);
  assert.deepEqual(made.portAddresses('web.shop.fast.infra.ovn.net1'), ['0a:00:00:00:00:77 10.50.0.77']);
  assert.equal(of(made.annotations('shop/web'), 'fast.infra.ovn.net2')['ip_address'], '10.50.0.88');
});

test('one attachment keeps the plain provider though it names an interface, also when a second one is plugged and unplugged', () => {
  const made = scene();
  made.pod('web', { annotations: { [NETWORKS]: 'infra/fast@net1' } });
  made.bench.converge();
  const before = made.portAddresses('web.shop.fast.infra.ovn');
  assert.ok(before);
  made.pod('web', { annotations: { ...made.annotations('shop/web'), [NETWORKS]: 'infra/fast@net1,infra/fast@net2' } });
  made.bench.converge();
  assert.deepEqual(made.portAddresses('web.shop.fast.infra.ovn'), before);
  assert.deepEqual(named(made, 'ips', 'web.shop.'), ['web.shop.fast.infra.ovn', 'web.shop.fast.infra.ovn.net2']);
  made.pod('web', { annotations: { ...made.annotations('shop/web'), [NETWORKS]: 'infra/fast@net1' } });
  made.bench.converge();
  assert.deepEqual(named(made, 'ips', 'web.shop.'), ['web.shop.fast.infra.ovn']);
  assert.deepEqual(of(made.annotations('shop/web'), 'fast.infra.ovn.net2'), {});
  assert.equal(of(made.annotations('shop/web'), 'fast.infra.ovn')['allocated'], 'true');
});

test('addresses and MAC of the network selection count before the annotation of the provider', () => {
  const made = scene();
  made.pod('web', {
    annotations: {
      [NETWORKS]: '[{"name":"fast","namespace":"infra","ips":["10.50.0.9/24"],"mac":"0a:00:00:00:00:09"}]',
      'fast.infra.ovn.kubernetes.io/ip_address': '10.50.0.8',
    },
  });
  made.bench.converge();
  assert.deepEqual(made.portAddresses('web.shop.fast.infra.ovn'), ['0a:00:00:00:00:09 10.50.0.9']);
  assert.equal(of(made.annotations('shop/web'), 'fast.infra.ovn')['ip_address'], '10.50.0.9');
});

test('a Subnet that the pod names for the attachment counts before the one of its provider', () => {
  const made = scene();
  made.subnet('other', { cidrBlock: '10.51.0.0/24' });
  made.pod('web', { annotations: { [NETWORKS]: 'infra/fast', 'fast.infra.ovn.kubernetes.io/logical_switch': 'other' } });
  made.bench.converge();
  assert.equal(of(made.annotations('shop/web'), 'fast.infra.ovn')['ip_address'], '10.51.0.2');
});

test('a network that another plugin carries on its own gives nothing', () => {
  const made = scene();
  made.attachment('shop/mine', { config: '{"type":"macvlan","ipam":{"type":"host-local"}}' });
  made.pod('web', { annotations: { [NETWORKS]: 'mine' } });
  made.bench.converge();
  assert.deepEqual(named(made, 'ips', 'web'), ['web.shop']);
  assert.equal(made.annotations('shop/web')['ovn.kubernetes.io/allocated'], 'true');
});

test('a default network of the pod replaces its own interface', () => {
  const made = scene();
  made.pod('web', { annotations: { 'v1.multus-cni.io/default-network': 'infra/fast', [NETWORKS]: 'infra/wide' } });
  made.bench.converge();
  assert.deepEqual(named(made, 'ips', 'web'), ['web.shop.fast.infra.ovn', 'web.shop.wide.infra']);
});

test('no annotation is written before each interface has its addresses, and then all in one patch', () => {
  const made = scene();
  made.pod('web', { annotations: { [NETWORKS]: 'infra/fast,infra/slow,infra/late' } });
  made.attachment('infra/slow', 'kube-ovn');
  made.bench.converge();
  assert.match(made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.message ?? '', /infra\/late.*does not exist/);
  assert.equal(made.addressOf('shop/web'), undefined);
  made.attachment('infra/late', 'kube-ovn');
  made.bench.converge();
  assert.match(
    made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.message ?? '',
    /no Subnet has spec\.provider slow\.infra\.ovn/,
  );
  made.subnet('late', { cidrBlock: '10.52.0.0/24', provider: 'late.infra.ovn' });
  made.subnet('slow', { cidrBlock: '10.53.0.0/24', provider: 'slow.infra.ovn' });
  let rounds = 0;
  while (made.addressOf('shop/web') === undefined && rounds++ < 20) made.bench.step();
  const allocated = Object.keys(made.annotations('shop/web')).filter((key) => key.endsWith('/allocated'));
  assert.equal(allocated.length, 4, 'all four in the same write');
  made.bench.converge();
  assert.equal(made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.status, 'True');
});

test('an unreadable annotation is reported with its value, and removes no running interface', () => {
  const made = scene();
  made.pod('web', { annotations: { [NETWORKS]: 'infra/fast' } });
  made.bench.converge();
  const before = made.portAddresses('web.shop.fast.infra.ovn');
  made.pod('web', { annotations: { ...made.annotations('shop/web'), [NETWORKS]: '[{"name":' } });
  made.bench.converge();
  assert.deepEqual(made.portAddresses('web.shop.fast.infra.ovn'), before);
  const condition = made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound');
  assert.deepEqual([condition?.status, condition?.reason], ['False', 'InvalidAnnotation']);
  assert.match(condition?.message ?? '', /k8s\.v1\.cni\.cncf\.io\/networks "\[\{"name":" is neither a list/);
  for (const [selection, message] of [
    ['[{"name":"fast","namespace":"infra","ips":["10.50.0"]}]', /address "10\.50\.0" requested in network infra\/fast/],
    ['[{"name":"fast","namespace":"infra","mac":"zz"}]', /mac "zz" requested in network infra\/fast/],
  ] as const) {
    made.pod('other', { annotations: { [NETWORKS]: selection } });
    made.bench.converge();
    assert.match(made.bench.condition('pods', 'shop/other', 'kiln.io/NetworkBound')?.message ?? '', message);
    assert.deepEqual(named(made, 'ips', 'other.shop.'), []);
  }
  made.attachment('infra/broken', { config: '{' });
  made.pod('third', { annotations: { [NETWORKS]: 'infra/broken' } });
  made.bench.converge();
  assert.equal(made.bench.condition('pods', 'shop/third', 'kiln.io/NetworkBound')?.reason, 'InvalidNetwork');
});

test('a Subnet for addresses only has no ports', () => {
  const made = scene();
  made.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'wide' } });
  made.bench.converge();
  assert.match(made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.message ?? '', /Subnet wide has provider wide\.infra/);
  assert.equal(made.bench.object('ips', 'web.shop'), undefined);
});

test('unplugging takes exactly the annotations of its provider, and the address is free', () => {
  const made = scene();
  made.attachment('infra/fast2', 'kube-ovn');
  made.subnet('fast2', { cidrBlock: '10.54.0.0/24', provider: 'fast2.infra.ovn' });
  made.pod('web', { annotations: { [NETWORKS]: 'infra/fast,infra/fast2,infra/wide' } });
  made.bench.converge();
  const own = of(made.annotations('shop/web'), 'ovn');
  made.pod('web', {
    annotations: {
      ...made.annotations('shop/web'),
      [NETWORKS]: 'infra/fast2',
      'fast.infra.ovnx.kubernetes.io/allocated': 'false',
    },
  });
  made.bench.converge();
  const annotations = made.annotations('shop/web');
  assert.deepEqual([of(annotations, 'fast.infra.ovn'), of(annotations, 'wide.infra')], [{}, {}]);
  assert.equal(of(annotations, 'fast2.infra.ovn')['allocated'], 'true');
  assert.equal(of(annotations, 'fast.infra.ovnx')['allocated'], 'false');
  assert.deepEqual(of(annotations, 'ovn'), own);
  assert.deepEqual(named(made, 'ips', 'web'), ['web.shop', 'web.shop.fast2.infra.ovn']);
  assert.deepEqual(named(made, 'ports', 'web'), ['web.shop', 'web.shop.fast2.infra.ovn']);
  assert.deepEqual([using(made, 'fast'), using(made, 'wide')], [0n, 0n]);

  made.pod('web', { annotations: { ...annotations, [NETWORKS]: 'infra/fast2,infra/fast' } });
  made.bench.converge();
  assert.equal(of(made.annotations('shop/web'), 'fast.infra.ovn')['allocated'], 'true');
});

test('beside another plugin that is primary, attached networks alone are served', () => {
  const made = scene({ nonPrimaryCni: true });
  made.pod('web', { annotations: { [NETWORKS]: 'infra/fast,infra/wide' } });
  made.pod('plain');
  made.bench.converge();
  assert.deepEqual(named(made, 'ips', 'web'), ['web.shop.fast.infra.ovn', 'web.shop.wide.infra']);
  assert.deepEqual([named(made, 'ips', 'plain'), made.annotations('shop/plain')], [[], {}]);
});

test('a StatefulSet keeps the addresses of all interfaces that its template requests', () => {
  const made = scene();
  made.bench.put('statefulsets', {
    metadata: { name: 'db', namespace: 'shop' },
    spec: { replicas: 1, template: { metadata: { annotations: { [NETWORKS]: 'infra/fast,infra/wide' } } } },
  });
  const annotations = { [NETWORKS]: 'infra/fast,infra/wide' };
  made.pod('db-0', { statefulSet: 'db', annotations });
  made.bench.converge();
  const had = made.annotations('shop/db-0');
  made.bench.removeByForce('pods', 'shop/db-0');
  made.bench.converge();
  assert.deepEqual(named(made, 'ips', 'db-0'), ['db-0.shop', 'db-0.shop.fast.infra.ovn', 'db-0.shop.wide.infra']);
  made.pod('thief', { annotations });
  made.pod('db-0', { statefulSet: 'db', annotations });
  made.bench.converge();
  assert.deepEqual(made.annotations('shop/db-0'), had);

  made.bench.removeByForce('pods', 'shop/db-0');
  made.bench.put('statefulsets', { metadata: { name: 'db', namespace: 'shop' }, spec: { replicas: 1, template: {} } });
  made.bench.converge();
  assert.deepEqual(named(made, 'ips', 'db-0'), ['db-0.shop']);
});

test('an address that a user reserves for an attached interface is the one that the pod gets', () => {
  const made = scene();
  for (const [name, subnet, ipAddress] of [
    ['web.shop.fast.infra.ovn.net1', 'fast', '10.50.0.200'],
    ['web.shop.wide.infra', 'wide', '10.60.0.200'],
  ] as const)
    made.bench.put('ips', { metadata: { name }, spec: { podName: 'web', namespace: 'shop', subnet, ipAddress } });
  made.bench.converge();
  assert.equal(made.bench.object('ips', 'web.shop.fast.infra.ovn.net1')?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'], 'true');
  made.pod('web', { annotations: { [NETWORKS]: 'infra/fast@net1,infra/fast@net2,infra/wide' } });
  made.bench.converge();
  const annotations = made.annotations('shop/web');
  assert.equal(of(annotations, 'fast.infra.ovn.net1')['ip_address'], '10.50.0.200');
  assert.equal(of(annotations, 'fast.infra.ovn.net2')['ip_address'], '10.50.0.2');
  assert.deepEqual([of(annotations, 'wide.infra')['ip_address'], of(annotations, 'wide.infra')['mac_address']], ['10.60.0.200', undefined]);
  made.bench.removeByForce('pods', 'shop/web');
  made.bench.converge();
  assert.deepEqual(named(made, 'ips', 'web'), ['web.shop.fast.infra.ovn.net1', 'web.shop.wide.infra']);
  assert.deepEqual(named(made, 'ports', 'web'), []);
});

test('while one interface of a pod waits, the others have no IP object and no port; then all bind', () => {
  for (const scarce of ['net1', 'net2']) {
    const scene = new PodScene();
    for (const [i, name] of ['net1', 'net2'].entries()) {
      scene.bench.put('network-attachment-definitions', {
        metadata: { name, namespace: 'shop' },
        spec: { config: `{"cniVersion":"0.3.0","type":"kube-ovn","provider":"${name}.shop.ovn"}` },
      });
      scene.subnet(name, { cidrBlock: `10.${90 + i}.0.0/${name === scarce ? 30 : 24}`, provider: `${name}.shop.ovn` });
    }
    scene.pod('first', { annotations: { 'k8s.v1.cni.cncf.io/networks': scarce } });
    scene.bench.converge();
    scene.pod('second', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'net1,net2' } });
    scene.bench.converge();
    const ports = ['second.shop', 'second.shop.net1.shop.ovn', 'second.shop.net2.shop.ovn'];
    const using = (): readonly unknown[] =>
      ['ovn-default', 'net1', 'net2'].map((name) => scene.bench.object('subnets', name)?.status?.['v4usingIPs']);
    // The first pod has its addresses; the second, which cannot get all of its own, has none.
    const held = scarce === 'net1' ? [1n, 1n, 0n] : [1n, 0n, 1n];
    for (const bench of [scene.bench, scene.bench.restarted()]) {
      bench.converge();
      assert.equal(bench.condition('pods', 'shop/second', 'kiln.io/NetworkBound')?.reason, 'NoAvailableAddress');
      for (const port of ports)
        assert.deepEqual([bench.object('ips', port), bench.row('Logical_Switch_Port', port)], [undefined, undefined]);
    }
    assert.deepEqual(using(), held);
    scene.bench.delete('pods', 'shop/first');
    scene.bench.removeByForce('pods', 'shop/first');
    scene.bench.converge();
    assert.equal(scene.bench.condition('pods', 'shop/second', 'kiln.io/NetworkBound')?.status, 'True');
    for (const port of ports)
      assert.ok(scene.bench.object('ips', port) !== undefined && scene.bench.row('Logical_Switch_Port', port) !== undefined);
    assert.deepEqual(using(), [1n, 1n, 1n]);
  }
});

test('pods that need the last addresses of the same networks do not block each other: one gets all, then the next', () => {
  const scene = new PodScene();
  for (const [i, name] of ['net1', 'net2'].entries()) {
    scene.bench.put('network-attachment-definitions', {
      metadata: { name, namespace: 'shop' },
      spec: { config: `{"cniVersion":"0.3.0","type":"kube-ovn","provider":"${name}.shop.ovn"}` },
    });
    scene.subnet(name, { cidrBlock: `10.${90 + i}.0.0/30`, provider: `${name}.shop.ovn` });
  }
  const pods = ['a', 'b', 'c'];
  for (const [i, name] of pods.entries())
    scene.pod(name, { annotations: { 'k8s.v1.cni.cncf.io/networks': i % 2 === 0 ? 'net1,net2' : 'net2,net1' } });
  for (let left = pods; left.length > 0;) {
    scene.bench.converge();
    const whole = left.filter((name) => scene.annotations(`shop/${name}`)['net1.shop.ovn.kubernetes.io/ip_address'] !== undefined);
    assert.equal(whole.length, 1);
    assert.equal([...scene.bench.world.ips.keys()].filter((name) => name.includes('.net')).length, 2);
    for (const name of whole) {
      scene.bench.delete('pods', `shop/${name}`);
      scene.bench.removeByForce('pods', `shop/${name}`);
    }
    left = left.filter((name) => !whole.includes(name));
  }
});

test('two pods that each have the address that the other needs do not alternate', () => {
  const scene = new PodScene();
  for (const [i, name] of ['net1', 'net2'].entries()) {
    scene.bench.put('network-attachment-definitions', {
      metadata: { name, namespace: 'shop' },
      spec: { config: `{"cniVersion":"0.3.0","type":"kube-ovn","provider":"${name}.shop.ovn"}` },
    });
    scene.subnet(name, { cidrBlock: `10.${90 + i}.0.0/30`, provider: `${name}.shop.ovn` });
  }
  const pod = (name: string, networks: string): unknown => scene.pod(name, { annotations: { 'k8s.v1.cni.cncf.io/networks': networks } });
  const leave = (name: string): void => {
    scene.bench.delete('pods', `shop/${name}`);
    scene.bench.removeByForce('pods', `shop/${name}`);
  };
  for (const first of ['x', 'y']) {
    pod('x', 'net1');
    pod('y', 'net2');
    scene.bench.converge();
    pod('a', first === 'x' ? 'net1,net2' : 'net2,net1');
    pod('b', 'net2,net1');
    scene.bench.converge();
    leave(first);
    scene.bench.converge();
    leave(first === 'x' ? 'y' : 'x');
    scene.bench.converge();
    const bound = ['a', 'b'].filter((name) => scene.annotations(`shop/${name}`)['net2.shop.ovn.kubernetes.io/ip_address'] !== undefined);
    assert.equal(bound.length, 1);
    leave('a');
    leave('b');
    scene.bench.converge();
  }
});

test('a pod with an invalid request for one interface holds no address of the others', () => {
  const scene = new PodScene();
  scene.bench.put('network-attachment-definitions', {
    metadata: { name: 'net1', namespace: 'shop' },
    spec: { config: '{"cniVersion":"0.3.0","type":"kube-ovn","provider":"net1.shop.ovn"}' },
  });
  scene.subnet('net1', { cidrBlock: '10.90.0.0/24', provider: 'net1.shop.ovn' });
  const ask = (own: string): unknown =>
    scene.pod('web', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'net1', 'ovn.kubernetes.io/ip_address': own } });
  ask('10.99.0.9');
  scene.bench.converge();
  const using = (name: string): unknown => scene.bench.object('subnets', name)?.status?.['v4usingIPs'];
  assert.deepEqual([[...scene.bench.world.ips.keys()], using('net1'), using('ovn-default')], [['node-n1'], 0n, 0n]);
  ask('10.16.0.9');
  scene.bench.converge();
  assert.deepEqual([scene.addressOf('shop/web'), using('net1'), using('ovn-default')], ['10.16.0.9', 1n, 1n]);
});
