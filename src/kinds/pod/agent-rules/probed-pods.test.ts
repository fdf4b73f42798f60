/** Which pods' probes are led to them, and how. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentKey, hostDevice } from '../../../agent/world/attachment.ts';
import { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeSubnet } from '../../subnet/agent-table.ts';
import type { NodeOutput } from '../../../agent/world/outputs.ts';
import { KUBELET } from '../../../agent/world/probe.ts';
import { podProbes } from './pod-probes.ts';
import { probedPods, probeFilter } from './probed-pods.ts';

const SETTINGS = { node: 'node-1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: 1400 } as const;
const SUBNET: NodeSubnet = {
  ...{ mtu: 0, vpc: 'red', cidrs: ['10.0.0.0/24', 'fd00:1::/64'], overlay: true, natOutgoing: false, gatewayNodes: '' },
  ...{ gatewaySelectors: [], centralized: false, natRules: [], checksGateway: true },
};
const PROBES = podProbes({
  containers: [
    {
      ports: [{ name: 'web', containerPort: 8080 }],
      livenessProbe: { httpGet: { port: 'web', path: 'live', httpHeaders: [{ name: 'X-Pod', value: 'a' }] } },
      readinessProbe: { tcpSocket: { port: '9000' }, periodSeconds: 3 },
      startupProbe: { grpc: { port: 9001 } },
      lifecycle: { preStop: { httpGet: { port: 8443, scheme: 'HTTPS' } } },
    },
    // A request to another host is not one to the pod.
    { livenessProbe: { httpGet: { port: 80, host: '10.0.0.9' } }, readinessProbe: { tcpSocket: { port: 81, host: '10.0.0.9' } } },
    { livenessProbe: { tcpSocket: { port: 'unknown' } }, readinessProbe: {} },
  ],
});

function scene(change: (world: NodeWorld) => void = () => undefined): readonly NodeOutput[] {
  const world = new NodeWorld();
  const key = attachmentKey('c0ffee', 'eth0');
  world.attachments.set(key, {
    ...{ key, order: 1, containerId: 'c0ffee', interfaceName: 'eth0', namespacePath: '/run/netns/a', provider: 'ovn', routes: [] },
    pod: { namespace: 'shop', name: 'web' },
  });
  const annotations = {
    ...{ 'ovn.kubernetes.io/allocated': 'true', 'ovn.kubernetes.io/routed': 'true', 'ovn.kubernetes.io/logical_switch': 'red' },
    ...{ 'ovn.kubernetes.io/ip_address': '10.0.0.5,fd00:1::5', 'ovn.kubernetes.io/cidr': '10.0.0.0/24,fd00:1::/64' },
    'ovn.kubernetes.io/mac_address': '00:00:00:AA:BB:CC',
  };
  world.pods.set('shop/web', { uid: 'u', annotations, probes: PROBES });
  world.subnets.set('red', SUBNET);
  const addresses = ['10.0.0.5/24', 'fd00:1::5/64'];
  world.devices.set(hostDevice('c0ffee', 'eth0'), { kind: 'present', mac: '', mtu: 1400, up: true, addresses, routes: [] });
  change(world);
  return world.glance(() => probedPods(SETTINGS).run(world, key));
}

function ends(outputs: readonly NodeOutput[]): readonly string[] {
  return outputs.flatMap((output) => (output.kind === 'probed-pod' ? [`${output.address} ${output.port} ${output.probes.length}`] : []));
}

test('probes of a spec: by number and name, hooks, none to another host', () => {
  assert.deepEqual(PROBES, [
    { kind: 'http', port: 8080, tls: false, path: 'live', headers: [['X-Pod', 'a']] },
    { kind: 'tcp', port: 9000, periodMs: 3_000 },
    { kind: 'grpc', port: 9001 },
    { kind: 'http', port: 8443, tls: true, path: '', headers: [] },
  ]);
});

test('a pod of a custom Vpc: each port of each address; nothing once it goes, or without its device', () => {
  const both = ['10.0.0.5', 'fd00:1::5'].flatMap((address) => [8080, 9000, 9001, 8443].map((port) => `${address} ${port} 1`));
  assert.deepEqual(ends(scene()), both);
  const key = attachmentKey('c0ffee', 'eth0');
  const gone = scene((world) => {
    const attachment = world.attachments.peek(key);
    if (attachment !== undefined) world.attachments.set(key, { ...attachment, removing: true });
  });
  assert.deepEqual(gone, []);
  assert.deepEqual(
    scene((world) => world.devices.set(hostDevice('c0ffee', 'eth0'), { kind: 'no-namespace' })),
    [],
  );
});

test('nobody takes over what the node itself reaches: the default Vpc, its own networks, addresses outside of the Subnet', () => {
  for (const vpc of ['', 'ovn-cluster'])
    assert.deepEqual(
      scene((world) => world.subnets.set('red', { ...SUBNET, vpc })),
      [],
    );
  const owners = (change: (world: NodeWorld) => void): unknown =>
    scene(change).flatMap((output) => (output.kind === 'unprobed-pod' ? [`${output.address}: ${output.owner}`] : []));
  const v4 = (owner: string): readonly string[] => [`10.0.0.5: ${owner}`];
  assert.deepEqual(
    owners((world) => world.subnets.set('ovn-default', { ...SUBNET, vpc: '', cidrs: ['10.0.0.0/16'] })),
    v4('Subnet ovn-default of the default Vpc'),
  );
  const link = { mac: '', mtu: 1500, up: true, master: '', addresses: ['10.0.0.77/8 brd 10.255.255.255'], routes: [] };
  assert.deepEqual(
    owners((world) => world.hostLinks.set('eth0', link)),
    v4("a network of the node's interface eth0"),
  );
  const routes = ['0.0.0.0/0 via 172.18.0.1', '10.0.0.0/25 via 172.18.0.9'];
  assert.deepEqual(
    owners((world) => world.hostLinks.set('eth0', { ...link, addresses: [], routes })),
    v4("a network of the node's interface eth0"),
  );
  const [first] = routes;
  assert.equal(ends(scene((world) => world.hostLinks.set('eth0', { ...link, addresses: [], routes: [first ?? ''] }))).length, 8);
  // A forged annotation.
  const outside = { ...SUBNET, cidrs: ['10.0.1.0/24'] };
  assert.deepEqual(
    scene((world) => world.subnets.set('red', outside)),
    [],
  );
});

test('the table: led to the listeners by family, refused where no pod has the port open, none without listeners', () => {
  const world = new NodeWorld();
  const script = (): unknown =>
    world.glance(() => probeFilter.run(world, '')).map((output) => output.kind === 'probe-filter' && output.script);
  assert.deepEqual(script(), ['']);
  world.probeListeners.set('a', { address: '10.0.0.5', port: 80, local: 4001, open: true });
  world.probeListeners.set('b', { address: 'fd00::5', port: 81, local: 4002, open: false });
  assert.deepEqual(script(), [''], 'nobody is led before kubelet is known');
  world.kubelet.set(KUBELET, { kind: 'none', reason: 'it is in the root cgroup' });
  assert.deepEqual(script(), [''], 'nor where nothing tells its connections from others');
  world.kubelet.set(KUBELET, { kind: 'class', id: 7 });
  assert.deepEqual(script(), [
    [
      'map listeners4 {',
      '  typeof ip daddr . tcp dport : ip daddr . tcp dport',
      '  elements = { 10.0.0.5 . 80 : 127.0.0.1 . 4001 }',
      '}',
      'chain led {',
      '  dnat ip to ip daddr . tcp dport map @listeners4',
      '}',
      'chain probes {',
      '  type nat hook output priority -90; policy accept;',
      '  meta cgroup 7 meta l4proto tcp goto led',
      '}',
      'chain refused {',
      '  ct state new ip6 daddr . tcp dport { fd00::5 . 81 } reject with tcp reset',
      '}',
      'chain closed {',
      '  type filter hook output priority -80; policy accept;',
      '  meta cgroup 7 meta l4proto tcp goto refused',
      '}',
    ].join('\n'),
  ]);
  const cgroup = {
    kind: 'cgroup',
    path: 'system.slice/kubelet.service',
    file: '../../../proc/9/root/x',
    namespace: '/proc/9/ns/cgroup',
  } as const;
  const scripts = ['71', '72'].map((id) => (world.kubelet.set(KUBELET, { ...cgroup, id }), String(script())));
  assert.match(scripts[0] ?? '', /socket cgroupv2 level 2 "..\/..\/..\/proc\/9\/root\/x" meta l4proto tcp goto led/);
  assert.notEqual(scripts[0], scripts[1], 'a cgroup that was made again is another one');
});

test('what the node talks to is never led to a pod, whatever its routes, and the pod is told', () => {
  for (const what of [
    'the API server in /etc/kubernetes/kubelet.conf',
    'a resolver in /etc/resolv.conf',
    'registry registry.shop.example',
  ]) {
    const outputs = scene((world) => world.hostPeers.set('10.0.0.5', what));
    assert.deepEqual(
      ends(outputs).filter((text) => text.startsWith('10.')),
      [],
    );
    assert.match(
      outputs.map((one) => (one.kind === 'object-event' ? one.message : '')).join(),
      new RegExp(`10.0.0.5 is in use by ${what} as well`),
    );
  }
  const outputs = scene((world) => world.kubelet.set(KUBELET, { kind: 'none', reason: 'no kubelet' }));
  assert.match(outputs.map((one) => (one.kind === 'object-event' ? one.message : '')).join(), /cannot probe pod shop\/web: no kubelet/);
});
