import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkInvariants } from '../../invariants/check-invariants.ts';
import { rowId } from '../../nb/row-id.ts';
import { PodScene } from '../../testing/pod-scene.ts';

const STATUS = {
  addresses: [
    { type: 'Hostname', address: 'n2' },
    { type: 'InternalIP', address: '192.168.1.12' },
    { type: 'InternalIP', address: 'fd00:1::12' },
  ],
};

test('a node joins: address, IP object, port, annotations, port group, policy', () => {
  const scene = new PodScene();
  const node = scene.bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: STATUS });
  scene.bench.converge();
  const ip = scene.bench.object('ips', 'node-n2');
  const [address, mac] = [String(ip?.spec['v4IpAddress']), String(ip?.spec['macAddress'])];
  assert.match(address, /^100\.64\.0\.\d+$/);
  assert.deepEqual(ip?.spec, {
    podName: 'n2',
    namespace: '',
    subnet: 'join',
    ipAddress: address,
    v4IpAddress: address,
    v6IpAddress: '',
    macAddress: mac,
    nodeName: 'n2',
    attachIps: [],
    attachMacs: [],
    attachSubnets: [],
    containerID: '',
    podType: '',
  });
  assert.deepEqual(scene.bench.world.ips.peek('node-n2')?.metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Node', name: 'n2', uid: node.metadata.uid },
  ]);
  const port = scene.bench.row('Logical_Switch_Port', 'node-n2');
  assert.deepEqual([port?.['addresses'], port?.['port_security']], [[`${mac} ${address}`], []]);
  assert.deepEqual(scene.bench.object('nodes', 'n2')?.metadata.annotations, {
    'ovn.kubernetes.io/ip_address': address,
    'ovn.kubernetes.io/mac_address': mac,
    'ovn.kubernetes.io/cidr': '100.64.0.0/16',
    'ovn.kubernetes.io/gateway': '100.64.0.1',
    'ovn.kubernetes.io/logical_switch': 'join',
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/port_name': 'node-n2',
  });
  const { node: name, np } = scene.externalIds('Port_Group', 'node.n2');
  assert.deepEqual([name, np], ['n2', 'node/n2']);
  const policy = scene.bench.row('Logical_Router_Policy', 'ovn-cluster|30000|ip4.dst == 192.168.1.12');
  assert.deepEqual(
    [
      policy?.['action'],
      policy?.['nexthops'],
      scene.externalIds('Logical_Router_Policy', 'ovn-cluster|30000|ip4.dst == 192.168.1.12')['address-family'],
    ],
    ['reroute', [address], '4'],
  );
  assert.equal(scene.bench.row('Logical_Router_Policy', 'ovn-cluster|30000|ip6.dst == fd00:1::12'), undefined);
});

test('all rows and objects of a node are deleted with it', () => {
  const scene = new PodScene();
  const rows = scene.bench
    .rowIds('Logical_Switch_Port')
    .concat(scene.bench.rowIds('Port_Group'), scene.bench.rowIds('Logical_Router_Policy'));
  scene.bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: STATUS });
  scene.bench.converge();
  scene.bench.removeByForce('nodes', 'n2');
  scene.bench.converge();
  assert.equal(scene.bench.object('ips', 'node-n2'), undefined);
  assert.deepEqual(
    scene.bench.rowIds('Logical_Switch_Port').concat(scene.bench.rowIds('Port_Group'), scene.bench.rowIds('Logical_Router_Policy')),
    rows,
  );
});

test('a node created again under its name gets its address again, under its new uid', () => {
  const scene = new PodScene();
  const address = scene.bench.object('ips', 'node-n1')?.spec['v4IpAddress'];
  const annotations = scene.bench.object('nodes', 'n1')?.metadata.annotations;
  scene.bench.removeByForce('nodes', 'n1');
  const node = scene.bench.put('nodes', {
    metadata: { name: 'n1', ...(annotations !== undefined && { annotations }) },
    spec: {},
    status: STATUS,
  });
  scene.bench.converge();
  const ip = scene.bench.object('ips', 'node-n1');
  assert.equal(ip?.spec['v4IpAddress'], address);
  assert.equal(scene.bench.world.ips.peek('node-n1')?.metadata.ownerReferences?.[0]?.uid, node.metadata.uid);
  assert.equal(scene.externalIds('Logical_Switch_Port', 'node-n1')['kiln.io/uid'], node.metadata.uid);
});

test('a MAC or an address that a user writes to a node, its port or its IP object is restored from the other two', () => {
  const scene = new PodScene();
  const { bench } = scene;
  bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: STATUS });
  bench.converge();
  const all = (): readonly unknown[] => [
    bench.object('ips', 'node-n2')?.spec,
    bench.row('Logical_Switch_Port', 'node-n2')?.['addresses'],
    annotationsOf(scene, 'n2'),
  ];
  const before = all();
  const address = String(bench.object('ips', 'node-n2')?.spec['v4IpAddress']);
  const node = bench.object('nodes', 'n2');
  assert.ok(node);
  const carried = (portAddress: string): void => {
    const { northbound, world } = bench;
    const port = [...northbound.table('Logical_Switch_Port').values()].find(({ name }) => name === 'node-n2');
    assert.ok(port);
    const row = { addresses: [portAddress] };
    world.rows.apply(northbound, northbound.apply([{ kind: 'update', table: 'Logical_Switch_Port', uuid: port._uuid, row }]));
  };
  const reported = (annotations: Readonly<Record<string, string>>): void => {
    bench.put('nodes', { ...node, metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, ...annotations } } });
  };
  const changes: Readonly<Record<string, () => void>> = {
    'MAC of the annotation': () => reported({ 'ovn.kubernetes.io/mac_address': '00:00:00:11:22:33' }),
    'address of the annotation': () => reported({ 'ovn.kubernetes.io/ip_address': '100.64.0.200' }),
    port: () => carried(`00:00:00:11:22:33 ${address}`),
    'IP object': () => bench.edit('ips', 'node-n2', { macAddress: '00:00:00:11:22:33' }),
    'port and annotation at once': () => {
      carried('00:00:00:44:55:66 100.64.0.77');
      reported({ 'ovn.kubernetes.io/mac_address': '00:00:00:11:22:33' });
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    change();
    bench.converge();
    assert.deepEqual(all(), before, what);
  }
});

/** The annotations for the node agent, without the conditions. */
function annotationsOf({ bench }: PodScene, name: string): Readonly<Record<string, string>> {
  const { 'kiln.io/conditions': conditions, ...annotations } = bench.object('nodes', name)?.metadata.annotations ?? {};
  void conditions;
  return annotations;
}

/** The condition `kiln.io/NetworkBound`. */
function boundOf(
  { bench }: PodScene,
  name: string,
): { readonly status: string; readonly reason?: string; readonly message?: string } | undefined {
  return bench.condition('nodes', name, 'kiln.io/NetworkBound');
}

test('a heartbeat of a node runs no rule', () => {
  const scene = new PodScene();
  const { world } = scene.bench;
  const node = world.nodes.peek('n1');
  assert.ok(node);
  const before = world.reactor.runs;
  world.nodes.set('n1', { ...node, status: { ...node.status, conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }] } });
  world.reactor.runDue();
  assert.ok(world.reactor.runs - before <= 2, `${world.reactor.runs - before} runs`);
});

test('a node whose address is outside of the CIDR of a new join Subnet keeps its port and its policies, and reports that', () => {
  const scene = new PodScene();
  scene.bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: STATUS });
  scene.bench.converge();
  const address = String(scene.bench.object('ips', 'node-n2')?.spec['v4IpAddress']);
  const place = () => [
    scene.bench.row('Logical_Switch_Port', 'node-n2')?.['addresses'],
    scene.bench.row('Logical_Router_Policy', 'ovn-cluster|30000|ip4.dst == 192.168.1.12')?.['nexthops'],
    annotationsOf(scene, 'n2'),
  ];
  const before = place();
  scene.bench.removeByForce('subnets', 'join');
  scene.subnet('join', { cidrBlock: '10.1.1.0/24' });
  scene.bench.converge();
  assert.deepEqual(place(), before);
  const { spec } = scene.bench.object('ips', 'node-n2') ?? {};
  scene.bench.edit('ips', 'node-n2', { subnet: 'ovn-default', ipAddress: 'oops' });
  scene.bench.converge();
  assert.deepEqual([scene.bench.object('ips', 'node-n2')?.spec, place()], [spec, before]);
  assert.ok(scene.bench.events.some(({ reason, message }) => reason === 'AddressOutOfRange' && message.includes(address)));
  assert.deepEqual(boundOf(scene, 'n2'), {
    type: 'kiln.io/NetworkBound',
    status: 'False',
    reason: 'AddressOutOfRange',
    message:
      `Node n2 keeps the address that it has: the address ${address} cannot be allocated in Subnet "join": ` +
      'its CIDR is 10.1.1.0/24; kubectl get subnet join',
    lastTransitionTime: '2026-01-01T00:00:23Z',
  });
  assert.equal(scene.bench.writesAfterRestart(), 0);
});

test('InternalIPs that are no address, or that two nodes have: each node reports field, value and rule until it is corrected', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const internal = (...list: readonly string[]): object => ({ addresses: list.map((address) => ({ type: 'InternalIP', address })) });
  const reported = (name: string): readonly { readonly reason?: string; readonly message?: string }[] => bench.conditions('nodes', name);
  bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: internal('ten', '192.168.1.11', 'fd00::2') });
  bench.put('nodes', { metadata: { name: 'n3' }, spec: {}, status: internal('192.168.1.13', 'FD00::2') });
  bench.converge();
  const [first] = reported('n2');
  assert.equal(first?.reason, 'NodeAddressInvalid');
  const shared = (name: string, value: string, other: string, oldest: string): string =>
    `Node ${name}: status.addresses of type InternalIP "${value}" is also that of node ${other}; ` +
    `only one node can have an address: traffic of pods to it goes to the oldest of them, ${oldest}`;
  assert.equal(
    first?.message,
    [
      'Node n2: status.addresses[0].address "ten" is not an IP address; an InternalIP is one IPv4 or IPv6 address; without one pods do not reach the node',
      shared('n2', '192.168.1.11', 'n1', 'n1'),
      `${shared('n2', 'fd00::2', 'n3', 'n2')}; kubectl describe node n2`,
    ].join('. '),
  );
  assert.deepEqual(
    reported('n1').map(({ reason, message }) => [reason, message]),
    [['NodeAddressTaken', `${shared('n1', '192.168.1.11', 'n2', 'n1')}; kubectl describe node n1`]],
  );
  assert.equal(reported('n3')[0]?.message, `${shared('n3', 'FD00::2', 'n2', 'n2')}; kubectl describe node n3`);
  assert.equal(bench.events.filter(({ reason }) => reason === 'NodeAddressTaken').length, 2);
  assert.deepEqual(
    bench.events.filter(({ reason }) => reason === 'Conflict'),
    [],
    'not in the names of rows',
  );
  const policy = 'ovn-cluster|30000|ip4.dst == 192.168.1.11';
  assert.equal(scene.externalIds('Logical_Router_Policy', policy)['node'], 'n1');

  bench.removeByForce('nodes', 'n1');
  bench.converge();
  assert.equal(scene.externalIds('Logical_Router_Policy', policy)['node'], 'n2', 'and once it goes, to the other one');
  bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: internal('192.168.1.11') });
  bench.converge();
  assert.deepEqual([reported('n2'), reported('n3')], [[], []]);
});

test('a node keeps its port, its IP object and its policies when join Subnet and IP object are removed by force, whatever is written into the port', () => {
  for (const again of [undefined, '10.1.1.0/24']) {
    const scene = new PodScene();
    scene.bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: STATUS });
    scene.bench.converge();
    const has = () => [
      scene.bench.object('ips', 'node-n2')?.spec,
      scene.bench.row('Logical_Switch_Port', 'node-n2')?.['addresses'],
      scene.bench.row('Logical_Router_Policy', 'ovn-cluster|30000|ip4.dst == 192.168.1.12')?.['nexthops'],
      annotationsOf(scene, 'n2'),
    ];
    const before = has();
    scene.bench.removeByForce('subnets', 'join');
    if (again !== undefined) scene.subnet('join', { cidrBlock: again });
    for (const ip of scene.bench.keys('ips')) scene.bench.removeByForce('ips', ip);
    scene.bench.converge();
    assert.deepEqual(has(), before, again);
    const { northbound, world } = scene.bench;
    const port = [...northbound.table('Logical_Switch_Port').values()].find(({ name }) => name === 'node-n2');
    assert.ok(port);
    const row = { addresses: ['00:00:00:00:00:01 10.1.0.9'] };
    world.rows.apply(northbound, northbound.apply([{ kind: 'update', table: 'Logical_Switch_Port', uuid: port._uuid, row }]));
    scene.bench.converge();
    assert.deepEqual(has(), before, again);
    assert.equal(scene.bench.writesAfterRestart(), 0);
  }
});

test('an edited IP object of a node is restored while the join Subnet is removed by force', () => {
  for (const again of [undefined, { cidrBlock: 'nonsense' }]) {
    const scene = new PodScene();
    const { bench } = scene;
    const before = bench.object('ips', 'node-n1')?.['spec'];
    bench.removeByForce('subnets', 'join');
    if (again !== undefined) scene.subnet('join', again);
    bench.edit('ips', 'node-n1', { subnet: 's5', ipAddress: 'oops' });
    bench.converge();
    assert.deepEqual(bench.object('ips', 'node-n1')?.['spec'], before);
    const violations = checkInvariants({ world: bench.world, plan: { rows: [], objects: [] } });
    assert.deepEqual(
      violations.filter(({ invariant }) => invariant === 'I3'),
      [],
      'the network is held by it',
    );
  }
});

test('an orphaned join network stays for its nodes, whichever port is observed first', () => {
  const scene = new PodScene();
  scene.bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: STATUS });
  scene.bench.converge();
  const before = scene.bench.row('Logical_Switch_Port', 'node-n2')?.['addresses'];
  const { writes } = scene.bench;
  scene.bench.removeByForce('nodes', 'n1');
  scene.bench.removeByForce('subnets', 'join');
  for (const ip of scene.bench.keys('ips')) scene.bench.removeByForce('ips', ip);
  scene.bench.compile();
  const wanted = [...scene.bench.desired.rows.rowIds];
  assert.ok(wanted.includes(rowId('Logical_Switch', 'join')), 'it stays meanwhile');
  assert.ok(wanted.includes(rowId('Logical_Switch_Port', 'node-n2')));
  assert.ok(!wanted.includes(rowId('Logical_Switch_Port', 'node-n1')));
  scene.bench.converge();
  assert.deepEqual(scene.bench.row('Logical_Switch_Port', 'node-n2')?.['addresses'], before);
  assert.ok(scene.bench.writes > writes);
});

test('a node keeps its port when the join Subnet is invalid and its router port is deleted, which comes back', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const before = [
    bench.object('ips', 'node-n1')?.spec,
    bench.row('Logical_Switch_Port', 'node-n1')?.['addresses'],
    annotationsOf(scene, 'n1'),
  ];
  bench.edit('subnets', 'join', { cidrBlock: '10.6.0.0/24,10.7.0.0/24' });
  bench.converge();
  takeAway(scene, 'Logical_Router_Port', 'ovn-cluster-join');
  bench.converge();
  const after = [
    bench.object('ips', 'node-n1')?.spec,
    bench.row('Logical_Switch_Port', 'node-n1')?.['addresses'],
    annotationsOf(scene, 'n1'),
  ];
  assert.deepEqual(after, before);
  assert.equal(boundOf(scene, 'n1'), undefined);
  assert.deepEqual(bench.list('Logical_Router_Port', 'ovn-cluster-join', 'networks'), ['100.64.0.1/16']);
});

test('traffic does not move away from a node whose port another program deletes: the port is restored at once', () => {
  const scene = new PodScene();
  const { bench } = scene;
  for (const name of ['n2', 'n3'])
    bench.put('nodes', { metadata: { name }, spec: {}, status: { ...STATUS, conditions: [{ type: 'Ready', status: 'True' }] } });
  scene.subnet('red', { cidrBlock: '10.3.0.0/24', gatewayType: 'centralized', gatewayNode: 'n2,n3' });
  bench.converge();
  const gateway = (): unknown => bench.object('subnets', 'red')?.status?.['activateGateway'];
  assert.equal(gateway(), 'n2');
  const port = bench.row('Logical_Switch_Port', 'node-n2');
  takeAway(scene, 'Logical_Switch_Port', 'node-n2');
  bench.compile();
  const toNode = rowId('Logical_Router_Policy', 'ovn-cluster|30000|ip4.dst == 192.168.1.12');
  assert.ok([...bench.desired.rows.rowIds].includes(toNode), 'the way to the node stays');
  bench.converge();
  assert.deepEqual(bench.row('Logical_Switch_Port', 'node-n2')?.['addresses'], port?.['addresses']);
  assert.equal(gateway(), 'n2');
});

test('traffic does not move away from a node whose port lost its ownership keys: the next transaction restores them', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const { northbound, world } = bench;
  for (const name of ['n2', 'n3'])
    bench.put('nodes', { metadata: { name }, spec: {}, status: { ...STATUS, conditions: [{ type: 'Ready', status: 'True' }] } });
  scene.subnet('red', { cidrBlock: '10.3.0.0/24', gatewayType: 'centralized', gatewayNode: 'n2,n3' });
  bench.converge();
  const port = [...northbound.table('Logical_Switch_Port').values()].find((one) => one['name'] === 'node-n2');
  assert.ok(port);
  const markless = { external_ids: new Map([['vendor', 'kube-ovn']]) };
  world.rows.apply(northbound, northbound.apply([{ kind: 'update', table: 'Logical_Switch_Port', uuid: port._uuid, row: markless }]));
  bench.converge();
  assert.equal(bench.object('subnets', 'red')?.status?.['activateGateway'], 'n2');
  assert.equal(world.rows.state(rowId('Logical_Switch_Port', 'node-n2'))?.ownership.kind, 'ours');
});

test('traffic does not move away from a node whose IP object and port are deleted, with a running controller or after a restart', () => {
  const scene = new PodScene();
  for (const name of ['n2', 'n3'])
    scene.bench.put('nodes', { metadata: { name }, spec: {}, status: { ...STATUS, conditions: [{ type: 'Ready', status: 'True' }] } });
  scene.subnet('red', { cidrBlock: '10.3.0.0/24', gatewayType: 'centralized', gatewayNode: 'n2,n3' });
  scene.bench.converge();
  const port = scene.bench.row('Logical_Switch_Port', 'node-n2');
  for (const again of [false, true]) {
    takeAway(scene, 'Logical_Switch_Port', 'node-n2');
    scene.bench.removeByForce('ips', 'node-n2');
    const bench = again ? scene.bench.restarted() : scene.bench;
    bench.converge();
    assert.deepEqual(bench.row('Logical_Switch_Port', 'node-n2')?.['addresses'], port?.['addresses']);
    assert.equal(bench.object('subnets', 'red')?.status?.['activateGateway'], 'n2');
  }
});

/** As with `ovn-nbctl`. */
function takeAway({ bench: { northbound, world } }: PodScene, table: string, name: string): void {
  const row = [...northbound.table(table).values()].find((one) => one['name'] === name);
  assert.ok(row);
  world.rows.apply(northbound, northbound.remove(table, row._uuid));
}

test('a new node whose port is foreign reports that, and joins once the row is gone', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const [uuid, home] = ['00000000-0000-4000-8000-000000000008', '00000000-0000-4000-8000-000000000009'];
  bench.foreignRow('Logical_Switch', home, { name: 'theirs', external_ids: new Map([['theirs', 'yes']]) });
  bench.foreignRow('Logical_Switch_Port', uuid, { name: 'node-n2', type: '' }, { table: 'Logical_Switch', uuid: home, column: 'ports' });
  const id = rowId('Logical_Switch_Port', 'node-n2');
  const message = 'Logical_Switch_Port node-n2 belongs to another program';
  bench.world.rowConflicts.set(id, { owners: ['node//n2'], message });
  bench.put('nodes', { metadata: { name: 'n2' }, spec: {} });
  bench.converge();
  const reported = boundOf(scene, 'n2');
  assert.deepEqual(
    [reported?.status, reported?.reason, reported?.message],
    ['False', 'RowConflict', `Node n2 has no port in Subnet join: ${message}`],
  );
  assert.equal(annotationsOf(scene, 'n2')['ovn.kubernetes.io/allocated'], undefined);
  assert.deepEqual(
    bench.events.filter(({ object }) => object === 'nodes/n2').map(({ reason }) => reason),
    ['Conflict'],
    'one Event for the row',
  );
  bench.removeForeignRow('Logical_Switch_Port', uuid);
  bench.world.rowConflicts.delete(id);
  bench.converge();
  assert.equal(boundOf(scene, 'n2'), undefined);
  assert.equal(annotationsOf(scene, 'n2')['ovn.kubernetes.io/allocated'], 'true');
});

test('a node that has joined and whose port becomes foreign reports that, and gets its port again once the row is gone', () => {
  const scene = new PodScene();
  const { bench } = scene;
  bench.put('nodes', { metadata: { name: 'n2' }, spec: {} });
  bench.converge();
  const annotations = annotationsOf(scene, 'n2');
  const port = bench.row('Logical_Switch_Port', 'node-n2');
  takeAway(scene, 'Logical_Switch_Port', 'node-n2');
  const [uuid, home] = ['00000000-0000-4000-8000-000000000008', '00000000-0000-4000-8000-000000000009'];
  bench.foreignRow('Logical_Switch', home, { name: 'theirs', external_ids: new Map([['theirs', 'yes']]) });
  bench.foreignRow('Logical_Switch_Port', uuid, { name: 'node-n2', type: '' }, { table: 'Logical_Switch', uuid: home, column: 'ports' });
  const id = rowId('Logical_Switch_Port', 'node-n2');
  const message = 'Logical_Switch_Port node-n2 belongs to another program';
  bench.world.rowConflicts.set(id, { owners: ['node//n2'], message });
  bench.converge();
  const reported = boundOf(scene, 'n2');
  assert.deepEqual(
    [reported?.status, reported?.reason, reported?.message],
    ['False', 'RowConflict', `Node n2 has no port in Subnet join: ${message}`],
  );
  assert.deepEqual(annotationsOf(scene, 'n2')['ovn.kubernetes.io/ip_address'], annotations['ovn.kubernetes.io/ip_address']);
  bench.removeForeignRow('Logical_Switch_Port', uuid);
  bench.world.rowConflicts.delete(id);
  bench.converge();
  assert.equal(boundOf(scene, 'n2'), undefined);
  assert.deepEqual(bench.row('Logical_Switch_Port', 'node-n2')?.['addresses'], port?.['addresses']);
});

test("a node whose port has the name of a pod's port joins, and the pod yields", () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.namespace('team');
  scene.pod('node-a', { namespace: 'team' });
  bench.converge();
  assert.match(scene.addressOf('team/node-a') ?? '', /^10\.16\./);
  bench.put('nodes', { metadata: { name: 'a.team' }, spec: {} });
  bench.converge();
  assert.equal(boundOf(scene, 'a.team'), undefined);
  assert.equal(bench.object('ips', 'node-a.team')?.spec['subnet'], 'join');
  assert.equal(bench.condition('pods', 'team/node-a', 'kiln.io/NetworkBound')?.reason, 'NameTaken');
});

test('a node whose port has the name of an IP object reserved for a pod reports that, takes no address, and joins once the object is gone', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.namespace('team');
  const spec = { subnet: 'ovn-default', podName: 'node-a', namespace: 'team', podType: '' };
  bench.put('ips', { metadata: { name: 'node-a.team', labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } }, spec });
  bench.converge();
  bench.put('nodes', { metadata: { name: 'a.team' }, spec: {} });
  bench.converge();
  assert.equal(boundOf(scene, 'a.team')?.reason, 'ReservedElsewhere');
  bench.delete('ips', 'node-a.team');
  bench.converge();
  assert.equal(boundOf(scene, 'a.team'), undefined);
  assert.equal(bench.object('ips', 'node-a.team')?.spec['subnet'], 'join');
});

test('nodes whose names differ only in `-` and `.` have one port group in OVN: both report that while both exist', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const reported = (name: string): readonly { readonly reason?: string; readonly message?: string }[] => bench.conditions('nodes', name);
  bench.put('nodes', { metadata: { name: 'n-0' }, spec: {} });
  bench.put('nodes', { metadata: { name: 'n.0' }, spec: {} });
  bench.converge();
  assert.deepEqual(
    ['n-0', 'n.0', 'n1'].map((name) => reported(name).map(({ reason }) => reason)),
    [['NodeNameTaken'], ['NodeNameTaken'], []],
  );
  assert.match(
    reported('n.0')[0]?.message ?? '',
    /^Node n\.0: metadata\.name "n\.0" has the same port groups in OVN as node n-0; .*; kubectl describe node n\.0$/,
  );
  bench.removeByForce('nodes', 'n-0');
  bench.converge();
  assert.deepEqual(reported('n.0'), []);
});

test('the join Subnet changes from two families to one: its nodes keep the address of that one, report that, and block nothing', () => {
  const scene = new PodScene({ joinCidr: '100.64.0.0/16,fd00:100:64::/112' });
  const { bench } = scene;
  bench.converge();
  const before = bench.object('ips', 'node-n1')?.spec;
  assert.match(String(before?.['v6IpAddress']), /^fd00:100:64::/);
  bench.edit('subnets', 'join', { cidrBlock: '100.64.0.0/16', gateway: '100.64.0.1', excludeIps: ['100.64.0.1'], protocol: 'IPv4' });
  bench.converge();
  const v4 = String(before?.['v4IpAddress']);
  assert.equal(bench.condition('subnets', 'join', 'Accepted')?.status, 'True');
  const after = bench.object('ips', 'node-n1')?.spec;
  assert.deepEqual([after?.['ipAddress'], after?.['v6IpAddress'], after?.['macAddress']], [v4, '', before?.['macAddress']]);
  assert.equal(bench.object('nodes', 'n1')?.metadata.annotations?.['ovn.kubernetes.io/ip_address'], v4);
  assert.deepEqual(scene.portAddresses('node-n1'), [`${String(before?.['macAddress'])} ${v4}`]);
  assert.deepEqual(bench.list('Logical_Router_Port', 'ovn-cluster-join', 'networks'), ['100.64.0.1/16']);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('nodes with one chassis: each has a condition that names the others and the way out; one with a chassis of its own has none', () => {
  const { bench } = new PodScene();
  const put = (name: string, chassis: string, address: string): void =>
    void bench.put('nodes', {
      metadata: { name, annotations: { 'ovn.kubernetes.io/chassis': chassis } },
      spec: {},
      status: { addresses: [{ type: 'InternalIP', address }] },
    });
  put('a', 'copied', '192.168.1.31');
  put('b', 'copied', '192.168.1.32');
  put('c', 'own', '192.168.1.33');
  const told = (): readonly string[] => {
    bench.converge();
    return ['a', 'b', 'c', 'd'].flatMap((name) => {
      const { reason = '', message = '' } = bench.condition('nodes', name, 'WithoutEffect') ?? {};
      return reason === 'ChassisConflict' ? [`${name}: ${message}`] : [];
    });
  };
  const [first = '', second = '', ...more] = told();
  assert.match(
    first,
    /^a: Node a: metadata\.annotations\[ovn\.kubernetes\.io\/chassis\] "copied" is the chassis of Node b as well: .*; .*ovs-vsctl set/,
  );
  assert.match(second, /^b: .* is the chassis of Node a as well/);
  assert.deepEqual(more, []);
  put('d', 'own', '192.168.1.34');
  assert.equal(told().length, 4);
  put('d', 'd', '192.168.1.34');
  put('b', 'b', '192.168.1.32');
  assert.deepEqual(told(), []);
});
