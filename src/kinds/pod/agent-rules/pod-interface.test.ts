/** What the rule of a pod's interface emits, by what is observed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentKey, hostDevice } from '../../../agent/world/attachment.ts';
import { API_SERVER, NodeWorld, type ObservedDevice } from '../../../agent/world/node-world.ts';
import type { NodeSubnet } from '../../subnet/agent-table.ts';
import type { Answer, NodeOutput } from '../../../agent/world/outputs.ts';
import { agentTable } from '../agent-table.ts';
import { podInterface } from './pod-interface.ts';

const SETTINGS = { node: 'node-1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: 1400 } as const;
const KEY = attachmentKey('c0ffee', 'eth0');
const HOST = hostDevice('c0ffee', 'eth0');
const ANNOTATIONS = {
  'ovn.kubernetes.io/allocated': 'true',
  'ovn.kubernetes.io/routed': 'true',
  'ovn.kubernetes.io/ip_address': '10.16.0.5,fd00:10:16::5',
  'ovn.kubernetes.io/mac_address': '00:00:00:AA:BB:CC',
  // In the other order than the addresses.
  'ovn.kubernetes.io/cidr': 'fd00:10:16::/112,10.16.0.0/16',
  'ovn.kubernetes.io/gateway': 'fd00:10:16::1,10.16.0.1',
  'ovn.kubernetes.io/logical_switch': 'ovn-default',
};
const PRESENT = {
  kind: 'present',
  mac: '00:00:00:aa:bb:cc',
  mtu: 1400,
  up: true,
  addresses: [],
  routes: [],
} as const satisfies ObservedDevice;
const ADDRESSED = { ...PRESENT, addresses: ['10.16.0.5/16', 'fd00:10:16::5/112'] } as const;
const ROUTES = ['0.0.0.0/0 10.16.0.1', '::/0 fd00:10:16::1'] as const;
const REACHED = { ...ADDRESSED, routes: ROUTES, reached: ['10.16.0.1', 'fd00:10:16::1'] } as const;

const SUBNET: NodeSubnet = {
  ...{
    mtu: 0,
    vpc: '',
    cidrs: [],
    overlay: true,
    natOutgoing: false,
    gatewayNodes: '',
    gatewaySelectors: [],
    centralized: false,
    natRules: [],
  },
  checksGateway: true,
};

function scene(): NodeWorld {
  const world = new NodeWorld();
  world.attachments.set(KEY, {
    key: KEY,
    order: 1,
    containerId: 'c0ffee',
    interfaceName: 'eth0',
    namespacePath: '/run/netns/a',
    pod: { namespace: 'shop', name: 'web' },
    provider: 'ovn',
    routes: [],
  });
  world.pods.set('shop/web', { uid: 'u', annotations: ANNOTATIONS });
  return world;
}

function run(world: NodeWorld, key: string = KEY): readonly NodeOutput[] {
  return world.glance(() => podInterface(SETTINGS).run(world, key));
}

function answerOf(outputs: readonly NodeOutput[]): Answer | undefined {
  return outputs.find((output) => output.kind === 'answer')?.answer;
}

function kinds(outputs: readonly NodeOutput[]): readonly string[] {
  return outputs.map(({ kind }) => kind);
}

test('a bound pod: a device with both addresses, each with the network of its family, and a port', () => {
  const [device, port] = run(scene());
  assert.partialDeepStrictEqual(device, {
    kind: 'device',
    name: HOST,
    innerName: 'eth0',
    mtu: 1400,
    addresses: ['10.16.0.5/16', 'fd00:10:16::5/112'],
    routes: [
      { destination: '0.0.0.0/0', gateway: '10.16.0.1' },
      { destination: '::/0', gateway: 'fd00:10:16::1' },
    ],
  });
  assert.partialDeepStrictEqual(port, {
    kind: 'port',
    bridge: 'br-int',
    externalIds: { 'iface-id': 'web.shop', pod_netns: '/run/netns/a' },
  });
});

test('nothing is undone in pods whose runtime may have a network of its own: a virtual machine, and a runtime class', () => {
  const world = scene();
  const ofMachine = (): unknown => run(world).find(({ kind }) => kind === 'device');
  assert.ok(!Object.hasOwn(ofMachine() as object, 'ofMachine'));
  const [metadata, spec] = [{ name: 'web', namespace: 'shop', uid: 'u', annotations: ANNOTATIONS }, { runtimeClassName: 'gvisor' }];
  world.pods.set('shop/web', agentTable.view({ metadata, spec }, 'node-1'));
  assert.partialDeepStrictEqual(ofMachine(), { ofMachine: true });
});

test('the port is that of a virtual machine only for a pod that the machine owns', () => {
  const world = scene();
  const annotations = { ...ANNOTATIONS, 'ovn.kubernetes.io/virtualmachine': 'vm' };
  const owned = (kind: string, apiVersion: string, name = 'vm'): object => ({ ownerReferences: [{ kind, apiVersion, name, uid: 'm' }] });
  const port = (more: object): unknown => {
    const metadata = { name: 'web', namespace: 'shop', uid: 'u', annotations, ...more };
    world.pods.set('shop/web', agentTable.view({ metadata }, 'node-1'));
    const found = run(world).find((output) => output.kind === 'port');
    return found?.externalIds['iface-id'];
  };
  // The annotation alone would bring the port of another pod here.
  assert.equal(port({}), 'web.shop');
  assert.equal(port(owned('VirtualMachineInstance', 'example.com/v1')), 'web.shop');
  assert.equal(port(owned('ReplicaSet', 'apps/v1')), 'web.shop');
  assert.equal(port(owned('VirtualMachineInstance', 'kubevirt.io/v1', 'another')), 'web.shop');
  assert.equal(port(owned('VirtualMachineInstance', 'kubevirt.io/v1')), 'vm.shop');
});

test('N02: the answer comes when device, port and flows were observed, and says before that what is missing', () => {
  const world = scene();
  const reason = (): string => {
    const answer = answerOf(run(world));
    return answer?.kind === 'waiting' ? answer.reason : '';
  };
  assert.match(reason(), /device c0ffee_h is not there yet/);
  world.devices.set(HOST, PRESENT);
  assert.match(reason(), /port c0ffee_h is not in bridge br-int yet/);
  world.ports.set(HOST, { externalIds: {}, error: 'No such device' });
  assert.match(reason(), /Open vSwitch cannot use port c0ffee_h: No such device/);
  world.ports.set(HOST, { externalIds: {}, error: '' });
  assert.match(reason(), /ovn-controller has not installed the flows of logical switch port web\.shop yet/);
  assert.partialDeepStrictEqual(run(world)[0], { connected: false });
  world.ports.set(HOST, { externalIds: { 'ovn-installed': 'true' }, error: '' });
  assert.partialDeepStrictEqual(run(world)[0], { connected: true, gateways: ['10.16.0.1', 'fd00:10:16::1'] });
  assert.match(reason(), /address 10\.16\.0\.5, fd00:10:16::5 is not set on device c0ffee_h yet/);
  world.devices.set(HOST, { ...ADDRESSED, tentative: ['fd00:10:16::5/112'] });
  assert.match(reason(), /asks whether another host has address fd00:10:16::5/);
  world.devices.set(HOST, { ...ADDRESSED, reached: ['10.16.0.1'] });
  assert.match(reason(), /gateway fd00:10:16::1 has not answered yet/);
  world.devices.set(HOST, REACHED);
  assert.deepEqual(answerOf(run(world)), {
    kind: 'ready',
    reply: {
      ips: [
        { protocol: 'IPv4', ip: '10.16.0.5', cidr: '10.16.0.0/16', gateway: '10.16.0.1' },
        { protocol: 'IPv6', ip: 'fd00:10:16::5', cidr: 'fd00:10:16::/112', gateway: 'fd00:10:16::1' },
      ],
      mac_address: '00:00:00:aa:bb:cc',
      routes: [
        { dst: '0.0.0.0/0', gw: '10.16.0.1' },
        { dst: '::/0', gw: 'fd00:10:16::1' },
      ],
      mtu: 1400,
      nicname: 'eth0',
    },
  });
  for (const [change, what] of [
    [{ routes: [ROUTES[1]] }, /routes are ::\/0 fd00:10:16::1, not 0\.0\.0\.0\/0 10\.16\.0\.1, ::\/0/],
    [{ mtu: 600 }, /MTU is 600, not 1400/],
    [{ mac: '02:00:00:00:00:01' }, /MAC address is 02:00:00:00:00:01, not 00:00:00:aa:bb:cc/],
  ] as const) {
    world.devices.set(HOST, { ...REACHED, ...change });
    assert.match(reason(), what);
    // The launcher of a virtual machine changes it.
    world.pods.set('shop/web', { uid: 'u', machine: 'vm', annotations: { ...ANNOTATIONS, 'ovn.kubernetes.io/virtualmachine': 'vm' } });
    assert.equal(answerOf(run(world))?.kind, 'ready');
    world.pods.set('shop/web', { uid: 'u', annotations: ANNOTATIONS });
  }
  world.failures.set(`device ${HOST}`, 'ip link add: RTNETLINK answers: No buffer space available');
  assert.match(reason(), /No buffer space available/);
});

test('N39: an address in use: refused at once, with the MAC address of its holder, and the pod if it is of this node', () => {
  const world = scene();
  world.ports.set(HOST, { externalIds: { 'ovn-installed': 'true' }, error: '' });
  const reason = (holder: string): string => {
    world.devices.set(HOST, { ...PRESENT, duplicates: [{ address: '10.16.0.5', holder }] });
    const answer = answerOf(run(world));
    return answer?.kind === 'refused' ? answer.reason : '';
  };
  assert.match(
    reason('00:00:00:00:00:99'),
    /^address 10\.16\.0\.5 of pod shop\/web is in use: .* with MAC address 00:00:00:00:00:99; kubectl get ips/,
  );
  world.pods.set('shop/thief', { uid: 'v', annotations: { 'ovn.kubernetes.io/mac_address': '00:00:00:00:00:99' } });
  assert.match(reason('00:00:00:00:00:99'), /00:00:00:00:00:99: pod shop\/thief;/);
  assert.match(reason(''), /of its network has it; kubectl/);
});

test('gateways are not asked after a restart, where the Subnet says so, and in a live migration, which keeps its addresses elsewhere for now', () => {
  const gateways = (change: (world: NodeWorld) => void): unknown => {
    const world = scene();
    change(world);
    const [device] = run(world);
    return device?.kind === 'device' ? [device.gateways.length, device.needsGateways, device.detectsDuplicates] : undefined;
  };
  const annotated =
    (more: object) =>
    (world: NodeWorld): void =>
      world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, ...more } });
  const found = scene().attachments.peek(KEY);
  assert.ok(found);
  assert.deepEqual(
    gateways(() => {}),
    [2, true, true],
  );
  assert.deepEqual(
    gateways((world) => world.attachments.set(KEY, { ...found, order: 0 })),
    [0, true, true],
  );
  assert.deepEqual(
    gateways((world) => world.subnets.set('ovn-default', { ...SUBNET, checksGateway: false })),
    [2, false, true],
  );
  assert.deepEqual(gateways(annotated({ 'kubevirt.io/migrationJobName': 'm' })), [0, true, false]);
});

test('N38: in a physical network no address is set before the port to it is there', () => {
  const world = scene();
  world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, 'ovn.kubernetes.io/provider_network': 'net1' } });
  world.devices.set(HOST, REACHED);
  world.ports.set(HOST, { externalIds: { 'ovn-installed': 'true' }, error: '' });
  assert.partialDeepStrictEqual(run(world)[0], { connected: false, mtu: 1500 });
  const labels = { 'net1.provider-network.kubernetes.io/mtu': '9000' };
  world.nodes.set('node-1', { uid: 'u', addresses: [], annotations: {}, labels, conditions: {} });
  assert.partialDeepStrictEqual(run(world)[0], { mtu: 9000 });
  const answer = answerOf(run(world));
  assert.match(
    answer?.kind === 'waiting' ? answer.reason : '',
    /patch-localnet\.ovn-default-to-br-int to the bridge of the provider network is not there/,
  );
  world.ports.set('patch-localnet.ovn-default-to-br-int', { externalIds: {}, error: '' });
  world.devices.set(HOST, { ...REACHED, mtu: 9000 });
  assert.equal(answerOf(run(world))?.kind, 'ready');
});

/** The scene with an attachment of another network. */
function attached(provider: string, annotations: Readonly<Record<string, string>>, interfaceName = 'net1'): readonly NodeOutput[] {
  const world = scene();
  const attachment = world.attachments.peek(KEY);
  assert.ok(attachment);
  world.attachments.set(KEY, { ...attachment, provider, interfaceName });
  const scoped = Object.entries(annotations).map(([key, value]) => [`${provider}.kubernetes.io/${key}`, value]);
  world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, ...(Object.fromEntries(scoped) as Record<string, string>) } });
  return run(world);
}

test('u2o: the router of the Vpc is the gateway of a pod once it has its addresses; what runs has the physical one until then', () => {
  const world = scene();
  world.devices.set(HOST, PRESENT);
  const routes = (): unknown => {
    const found = run(world).find((output) => output.kind === 'device');
    return found?.kind === 'device' ? [found.routes.map(({ gateway }) => gateway), found.gateways] : undefined;
  };
  const connected = (...routers: readonly string[]): void => {
    world.subnets.set('ovn-default', { ...SUBNET, overlay: false, interconnection: { routers, balanced: true } });
  };
  connected();
  assert.deepEqual(routes(), [['10.16.0.1', 'fd00:10:16::1'], ['fd00:10:16::1', '10.16.0.1'].toSorted()]);
  const waiting = answerOf(run(world));
  assert.match(
    waiting?.kind === 'waiting' ? waiting.reason : '',
    /the router of its Vpc has no address in it yet; kubectl describe subnet/,
  );
  connected('10.16.0.9', 'fd00:10:16::9');
  assert.deepEqual(routes(), [
    ['10.16.0.9', 'fd00:10:16::9'],
    ['10.16.0.9', 'fd00:10:16::9'],
  ]);
  world.subnets.set('ovn-default', { ...SUBNET, overlay: false });
  assert.deepEqual(routes(), [
    ['10.16.0.1', 'fd00:10:16::1'],
    ['10.16.0.1', 'fd00:10:16::1'],
  ]);
});

const KEY_OF_ROUTES = 'ovn.kubernetes.io/routes';

test('a route that the kernel refuses: the answer names it, its gateway, and where it was written, not the default route', () => {
  const world = scene();
  world.devices.set(HOST, PRESENT);
  const reason = (annotated: readonly object[], configured: readonly { dst: string; gw: string }[] = []): string => {
    world.attachments.set(KEY, { ...(world.attachments.peek(KEY) ?? assert.fail()), routes: configured });
    world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, [KEY_OF_ROUTES]: JSON.stringify(annotated) } });
    const found = answerOf(run(world));
    return found?.kind === 'waiting' ? found.reason : assert.fail(found?.kind);
  };
  const failure = 'device c0ffee_h: ip route replace 10.9.0.0/16 via 192.0.2.9 dev eth0: Error: Nexthop has invalid gateway.';
  world.failures.set(`device ${HOST}`, failure);
  const networks =
    /: the gateway is in no network of the interface \(10\.16\.0\.0\/16, fd00:10:16::\/112\); device c0ffee_h: ip route replace 10\.9/;
  for (const [annotated, configured, text] of [
    [[{ dst: '10.9.0.0/16', gw: '192.0.2.9' }], [], `route 10.9.0.0/16 by gateway 192.0.2.9 of annotation ${KEY_OF_ROUTES}`],
    [[{ gw: '192.0.2.9' }], [], `route 0.0.0.0/0 by gateway 192.0.2.9 of annotation ${KEY_OF_ROUTES}`],
    [[], [{ dst: '2001:db8::/32', gw: '2001:db8::1' }], 'route 2001:db8::/32 by gateway 2001:db8::1 of the network configuration'],
  ] as const) {
    const told = reason(annotated, configured);
    assert.ok(told.startsWith(text), told);
    assert.match(told, networks);
  }
  // What else fails is no matter of the routes.
  assert.ok(reason([{ dst: '10.9.0.0/16', gw: '10.16.0.9' }]).startsWith(failure));
});

test('of two routes of one destination the later one is in effect, and an Event names both; one in place of the default route is as it should be', () => {
  const world = scene();
  world.devices.set(HOST, PRESENT);
  const events = (annotated: readonly object[], configured: readonly { dst: string; gw: string }[] = []): readonly string[] => {
    world.attachments.set(KEY, { ...(world.attachments.peek(KEY) ?? assert.fail()), routes: configured });
    world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, [KEY_OF_ROUTES]: JSON.stringify(annotated) } });
    return run(world).flatMap((output) =>
      output.kind === 'object-event' && output.reason === 'PodRoutesIneffective' ? [`${output.name}: ${output.message}`] : [],
    );
  };
  const route = (dst: string, gw: string): { dst: string; gw: string } => ({ dst, gw });
  const both = [route('10.9.0.0/16', '10.16.0.8'), route('10.9.0.0/16', '10.16.0.9')];
  const ending = 'has the same destination; take one of them away';
  assert.deepEqual(events(both), [
    `web: route 10.9.0.0/16 by gateway 10.16.0.8 of annotation ${KEY_OF_ROUTES} has no effect: that by 10.16.0.9 of annotation ${KEY_OF_ROUTES} ${ending}`,
  ]);
  assert.deepEqual(events(both.slice(1), both.slice(0, 1)), [
    `web: route 10.9.0.0/16 by gateway 10.16.0.8 of the network configuration has no effect: that by 10.16.0.9 of annotation ${KEY_OF_ROUTES} ${ending}`,
  ]);
  // Written in two ways.
  assert.equal(events([route('fd01::/64', 'fd00:10:16::8'), route('fd01:0::7/64', 'fd00:10:16::9')]).length, 1);
  for (const fine of [
    [{ gw: '10.16.0.8' }],
    [both[0] ?? {}, both[0] ?? {}],
    [route('10.9.0.0/16', '10.16.0.8'), route('10.9.0.0/17', '10.16.0.9')],
  ])
    assert.deepEqual(events(fine), []);
});

test('a queue whose row is lost is taken away, and comes with the next row', () => {
  const world = scene();
  world.devices.set(HOST, PRESENT);
  world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, 'ovn.kubernetes.io/ingress_rate': '3' } });
  const queues = (queue: string | undefined): readonly boolean[] => {
    world.ports.set(HOST, { externalIds: {}, error: '', ...(queue === undefined ? {} : { queue }) });
    return run(world).flatMap((one) => (one.kind === 'port' ? [one.queue !== undefined] : one.kind === 'queue' ? [true] : []));
  };
  assert.deepEqual(queues('row-1'), [true, true]);
  world.lostQueues.set(HOST, 'row-1');
  assert.deepEqual(queues('row-1'), [false, true]);
  assert.deepEqual(queues(undefined), [true, true]);
  assert.deepEqual(queues('row-2'), [true, true]);
});

test('addresses alone for another plugin: an answer without a MAC address, and nothing is made', () => {
  const allocated = { allocated: 'true', ip_address: '192.168.9.5', cidr: '192.168.9.0/24', gateway: '192.168.9.1' };
  const ips = [{ protocol: 'IPv4', ip: '192.168.9.5', cidr: '192.168.9.0/24' }];
  assert.deepEqual(attached('mac.shop', allocated), [
    { kind: 'answer', attachment: KEY, answer: { kind: 'ready', reply: { ips, routes: [] } } },
  ]);
  const routes = '[{"dst":"172.30.0.0/16","gw":"192.168.9.254"}]';
  const [answer] = attached('mac.shop', { ...allocated, default_route: 'true', routes });
  assert.partialDeepStrictEqual(answer, {
    answer: {
      reply: {
        ips: [{ ...ips[0], gateway: '192.168.9.1' }],
        routes: [
          { dst: '0.0.0.0/0', gw: '192.168.9.1' },
          { dst: '172.30.0.0/16', gw: '192.168.9.254' },
        ],
      },
    },
  });
});

test('a further network, and one of two attachments of the same: its own keys, port and no default route', () => {
  const own = { allocated: 'true', ip_address: '10.50.0.5', cidr: '10.50.0.0/24', gateway: '10.50.0.1', mac_address: '00:00:00:00:00:05' };
  const [device, port] = attached('net.shop.ovn', own);
  assert.partialDeepStrictEqual(device, { innerName: 'net1', mac: '00:00:00:00:00:05', addresses: ['10.50.0.5/24'], routes: [] });
  assert.partialDeepStrictEqual(port, { externalIds: { 'iface-id': 'web.shop.net.shop.ovn' } });
  const twice = Object.fromEntries(Object.entries(own).map(([key, value]) => [`net.shop.ovn.net1.kubernetes.io/${key}`, value]));
  const world = scene();
  const attachment = world.attachments.peek(KEY);
  assert.ok(attachment);
  world.attachments.set(KEY, { ...attachment, provider: 'net.shop.ovn', interfaceName: 'net1' });
  world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, ...twice } });
  assert.partialDeepStrictEqual(run(world)[1], { externalIds: { 'iface-id': 'web.shop.net.shop.ovn.net1' } });
});

test('a Subnet without a network: a MAC address alone', () => {
  const world = scene();
  const change = { 'ovn.kubernetes.io/ip_address': '', 'ovn.kubernetes.io/cidr': '', 'ovn.kubernetes.io/routed': '' };
  world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, ...change } });
  assert.partialDeepStrictEqual(run(world)[0], { kind: 'device', mac: '00:00:00:aa:bb:cc', addresses: [], routes: [], gateways: [] });
});

test('routes of configuration and annotation, each parsed and printed anew; the last of a destination is in effect', () => {
  const world = scene();
  const attachment = world.attachments.peek(KEY);
  assert.ok(attachment);
  world.attachments.set(KEY, { ...attachment, routes: [{ dst: '10.99.0.1/8', gw: '10.16.0.254' }] });
  const [, port] = run(world);
  assert.equal(port?.kind === 'port' && port.externalIds['kiln.io/routes'], '[{"dst":"10.99.0.1/8","gw":"10.16.0.254"}]');
  const routes = '[{"gw":"10.16.0.253"},{"dst":"FD00:9::/64","gw":"fd00:10:16::9"},{"dst":"192.0.2.1","gw":"10.16.0.2"}]';
  world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, 'ovn.kubernetes.io/routes': routes } });
  const [device] = run(world);
  assert.deepEqual(device?.kind === 'device' && device.routes, [
    { destination: '0.0.0.0/0', gateway: '10.16.0.253' },
    { destination: '::/0', gateway: 'fd00:10:16::1' },
    { destination: '10.0.0.0/8', gateway: '10.16.0.254' },
    { destination: 'fd00:9::/64', gateway: 'fd00:10:16::9' },
    { destination: '192.0.2.1/32', gateway: '10.16.0.2' },
  ]);
});

test('refused at once, with nothing made: another kind of interface, and an MTU that loses packets', () => {
  const refused = (change: (world: NodeWorld) => void): string => {
    const world = scene();
    change(world);
    const outputs = run(world);
    assert.deepEqual(kinds(outputs), ['retained-port', 'retained-device', 'answer']);
    const answer = answerOf(outputs);
    return answer?.kind === 'refused' ? answer.reason : '';
  };
  const annotations = { ...ANNOTATIONS, 'ovn.kubernetes.io/pod_nic_type': 'sriov' };
  assert.match(
    refused((world) => world.pods.set('shop/web', { uid: 'u', annotations })),
    /pod_nic_type of the pod is "sriov", which the node agent does not implement/,
  );
  const large = (world: NodeWorld): void => {
    world.nodes.set('node-1', { uid: 'u', addresses: ['172.18.0.2'], annotations: {}, labels: {}, conditions: {} });
    world.hostLinks.set('eth0', { mac: '', mtu: 1500, up: true, master: '', addresses: ['172.18.0.2/16'], routes: [] });
    world.subnets.set('ovn-default', { ...SUBNET, mtu: 9000 });
  };
  assert.match(
    refused(large),
    /^mtu 9000 of Subnet ovn-default is too large for pod shop\/web: device eth0 of node node-1 has MTU 1500, .*; kubectl edit subnet ovn-default$/,
  );
});

test('N02: the pod that the runtime means is awaited: an earlier one of its name is not it', () => {
  const world = scene();
  const attachment = world.attachments.peek(KEY);
  assert.ok(attachment);
  world.attachments.set(KEY, { ...attachment, podUid: 'next' });
  const answer = answerOf(run(world));
  assert.match(answer?.kind === 'waiting' ? answer.reason : '', /uid next is not observed yet: u is an earlier one/);
  world.pods.set('shop/web', { uid: 'next', annotations: ANNOTATIONS });
  assert.deepEqual(kinds(run(world)), ['device', 'port', 'answer']);
});

for (const [what, change, expected] of [
  ['routes', { 'ovn.kubernetes.io/routes': '10.0.0.0/8 via x' }, /routes of the pod is no JSON list of routes/],
  ['allocated', { 'ovn.kubernetes.io/allocated': '' }, /allocated of the pod is not "true".*kiln explain pod web -n shop/],
  ['routed', { 'ovn.kubernetes.io/routed': '' }, /routed of the pod is not "true"/],
  ['a MAC address', { 'ovn.kubernetes.io/mac_address': 'x' }, /"x", which is no MAC address/],
  ['an address', { 'ovn.kubernetes.io/ip_address': '10.16.0.5; reboot' }, /which is no address/],
  ['a network', { 'ovn.kubernetes.io/cidr': '10.16.0.0/16' }, /without the network of fd00:10:16::5/],
] as const)
  test(`without ${what} nothing is made, what exists stays, and the reason names the annotation`, () => {
    const world = scene();
    world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, ...change } });
    const outputs = run(world);
    assert.deepEqual(kinds(outputs), ['retained-port', 'retained-device', 'answer']);
    const answer = answerOf(outputs);
    assert.match(answer?.kind === 'waiting' ? answer.reason : '', expected);
  });

test('N16: the port of a virtual machine has its name, and stays while the namespace of its launcher does, whatever pods are observed', () => {
  const world = scene();
  const annotations = { ...ANNOTATIONS, 'ovn.kubernetes.io/virtualmachine': 'vm' };
  world.pods.set('shop/web', { uid: 'u', machine: 'vm', annotations });
  const port = run(world).find(({ kind }) => kind === 'port');
  assert.partialDeepStrictEqual(port, { externalIds: { 'iface-id': 'vm.shop', pod_netns: '/run/netns/a' } });
  world.devices.set(HOST, PRESENT);
  world.pods.delete('shop/web');
  world.pods.set('shop/vm', { uid: 'v', annotations: {} });
  assert.deepEqual(kinds(run(world)).slice(0, 2), ['retained-port', 'retained-device']);
});

test('N16: a pod that is gone keeps its interface until its namespace is gone too', () => {
  const world = scene();
  world.devices.set(HOST, PRESENT);
  world.pods.delete('shop/web');
  assert.deepEqual(kinds(run(world)), ['retained-port', 'retained-device', 'answer']);
  world.devices.set(HOST, { kind: 'no-namespace' });
  assert.deepEqual(run(world), [{ kind: 'answer', attachment: KEY, answer: { kind: 'abandoned' } }]);
});

test('N15: after a reboot what the agent finds without a namespace is abandoned, though its pod exists; a namespace that lost its path is not', () => {
  const world = scene();
  const attachment = world.attachments.peek(KEY);
  assert.ok(attachment);
  world.attachments.set(KEY, { ...attachment, order: 0 });
  world.devices.set(HOST, { kind: 'no-namespace', linked: true });
  assert.deepEqual(kinds(run(world)), ['device', 'port', 'answer']);
  world.devices.set(HOST, { kind: 'no-namespace' });
  assert.deepEqual(run(world), [{ kind: 'answer', attachment: KEY, answer: { kind: 'abandoned' } }]);
});

test('N06: a pod that is not observed: awaited, and refused at once while the API server is away', () => {
  const world = scene();
  world.pods.delete('shop/web');
  assert.equal(answerOf(run(world))?.kind, 'waiting');
  world.failures.set(API_SERVER, 'the API server does not answer');
  assert.deepEqual(answerOf(run(world)), {
    kind: 'refused',
    reason: 'pod shop/web is not observed on node node-1: the API server does not answer',
  });
  // What is known is enough.
  world.pods.set('shop/web', { uid: 'u', annotations: ANNOTATIONS });
  assert.deepEqual(kinds(run(world)), ['device', 'port', 'answer']);
});

test('a namespace that vanishes while its interface is made: refused at once', () => {
  const world = scene();
  world.devices.set(HOST, { kind: 'no-namespace' });
  const answer = answerOf(run(world));
  assert.match(
    answer?.kind === 'refused' ? answer.reason : '',
    /^network namespace \/run\/netns\/a of pod shop\/web does not exist: its sandbox is gone/,
  );
});

test('N01: of two sandboxes of a pod the later one has the port; the earlier one gets no answer that it is ready', () => {
  const world = scene();
  const later = attachmentKey('decaf0', 'eth0');
  const first = world.attachments.get(KEY);
  assert.ok(first);
  world.attachments.set(later, { ...first, key: later, containerId: 'decaf0', order: 2 });
  assert.deepEqual(kinds(run(world)), ['retained-port', 'retained-device', 'answer']);
  assert.deepEqual(kinds(run(world, later)), ['device', 'port', 'answer']);
  // What has the port keeps it until the later one has a device: its ADD may come when it is gone already.
  world.ports.set(HOST, { externalIds: {}, error: '' });
  assert.deepEqual(kinds(run(world, later)), ['device', 'answer']);
  world.devices.set(hostDevice('decaf0', 'eth0'), { kind: 'no-namespace' });
  assert.deepEqual(kinds(run(world, later)), ['device', 'answer']);
  world.devices.set(hostDevice('decaf0', 'eth0'), PRESENT);
  assert.deepEqual(kinds(run(world, later)), ['device', 'port', 'answer']);
  world.devices.set(HOST, { kind: 'no-namespace' });
  assert.deepEqual(run(world), [{ kind: 'answer', attachment: KEY, answer: { kind: 'abandoned' } }]);
  world.devices.delete(HOST);
  world.attachments.set(later, { ...first, key: later, containerId: 'decaf0', order: 2, removing: true });
  assert.deepEqual(kinds(run(world)), ['device', 'port', 'answer']);
});

test('removal: nothing is emitted, and the answer comes when nothing is left', () => {
  const world = scene();
  world.devices.set(HOST, PRESENT);
  world.ports.set(HOST, { externalIds: {}, error: '' });
  const attachment = world.attachments.get(KEY);
  assert.ok(attachment);
  world.attachments.set(KEY, { ...attachment, removing: true });
  assert.deepEqual(run(world), []);
  world.ports.delete(HOST);
  assert.deepEqual(run(world), []);
  world.devices.delete(HOST);
  assert.deepEqual(run(world), [{ kind: 'answer', attachment: KEY, answer: { kind: 'removed' } }]);
});

test('names of devices: as Kube-OVN, at most 15 bytes, and unique where the name of the interface is long', () => {
  const id = '0123456789abcdef'.repeat(4);
  assert.equal(hostDevice(id, 'eth0'), '0123456789ab_h');
  assert.equal(hostDevice(id, 'net1'), '01234567_net1_h');
  for (const name of ['net1', 'podabcdefghijk', 'a23456789012345']) assert.ok(hostDevice(id, name).length <= 15);
  assert.notEqual(hostDevice(id, 'podabcdefghijk'), hostDevice(`f${id.slice(1)}`, 'podabcdefghijk'));
});

test('a device that is lost takes its port with it, which comes again once it is gone', () => {
  const world = scene();
  const outputs = (): readonly string[] => kinds(run(world)).filter((kind) => kind === 'port' || kind === 'device');
  assert.deepEqual(outputs(), ['device', 'port'], 'both at once where there was none');
  world.devices.set(HOST, { kind: 'absent' });
  world.ports.set(HOST, { externalIds: {}, error: '' });
  assert.deepEqual(outputs(), ['device', 'port'], 'Open vSwitch has opened none: it opens the one that comes');
  world.ports.set(HOST, { externalIds: { 'ovn-installed': 'true' }, error: '', opened: 'row' });
  assert.deepEqual(outputs(), ['device']);
  world.ports.delete(HOST);
  assert.deepEqual(outputs(), ['device', 'port']);
  world.devices.set(HOST, PRESENT);
  assert.deepEqual(outputs(), ['device', 'port']);
});

test('limits that are not in effect are told by an Event of the pod, whatever the reason', () => {
  const world = scene();
  world.devices.set(HOST, REACHED);
  world.ports.set(HOST, { externalIds: { 'ovn-installed': 'true' }, error: '' });
  const told = (limits: Readonly<Record<string, string>>, settings: Parameters<typeof podInterface>[0] = SETTINGS): readonly string[] => {
    const annotations = Object.entries(limits).map(([suffix, value]) => [`ovn.kubernetes.io/${suffix}`, value] as const);
    world.pods.set('shop/web', { uid: 'u', annotations: { ...ANNOTATIONS, ...Object.fromEntries(annotations) } });
    const outputs = world.glance(() => podInterface(settings).run(world, KEY));
    return outputs.flatMap((output) =>
      output.kind === 'object-event' ? [`${output.namespace}/${output.name} ${output.uid}: ${output.message}`] : [],
    );
  };
  assert.deepEqual(told({ ingress_rate: '3', egress_rate: '3' }), []);
  assert.match(
    told({ ingress_rate: '3', latency: '5', loss: '1' }).join(),
    /^shop\/web u: latency, loss of interface eth0 have no effect beside ingress_rate/,
  );
  assert.match(
    told({ egress_rate: '3' }, { ...SETTINGS, datapath: 'netdev' }).join(),
    /egress_rate and egress_burst .* node node-1 has that of userspace/,
  );
  assert.match(
    told({ latency: 'ten' }).join(),
    /the limits of the pod stay as they were: annotation ovn\.kubernetes\.io\/latency of the pod is "ten"/,
  );
  world.failures.set(`queue of ${HOST}`, 'device c0ffee_h of pod shop/web has no queue of netem');
  assert.match(told({ latency: '5' }).join(), /c0ffee_h of pod shop\/web has no queue of netem/);
  // Before it has its interface the runtime's Event says it.
  world.devices.delete(HOST);
  assert.deepEqual(told({ latency: 'ten' }), []);
});

test('a name that another program has is refused at once, with the command that shows it', () => {
  const world = scene();
  const reason = (taken: 'in-pod' | 'on-node'): string => {
    world.devices.set(HOST, { kind: 'absent', taken });
    const answer = answerOf(run(world));
    return answer?.kind === 'refused' ? answer.reason : '';
  };
  assert.match(
    reason('in-pod'),
    /^network namespace \/run\/netns\/a of pod shop\/web has a device eth0 already, .*; nsenter --net=\/run\/netns\/a ip -details link show dev eth0$/,
  );
  assert.match(reason('on-node'), /^device c0ffee_h of the node, .*; ip -details link show dev c0ffee_h$/);
});
