import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockersOf } from '../../../blockers/blockers.ts';
import { checkInvariants } from '../../../invariants/check-invariants.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const ROWS = ['Logical_Switch/red', 'Logical_Router_Port/blue-red', 'Logical_Switch_Port/red-blue', 'Logical_Switch_Port/web.shop'];

function setUp(vpc: string): PodScene {
  const scene = new PodScene();
  if (vpc !== 'ovn-cluster') scene.bench.put('vpcs', { metadata: { name: vpc } });
  return scene.webIn('red', { vpc, cidrBlock: '10.0.0.0/24', namespaces: ['shop'], enableDHCP: true });
}

const state = ({ bench }: PodScene, ids: readonly string[]): readonly unknown[] =>
  ids.map((id) => {
    const [table = '', name = ''] = id.split('/');
    return [...bench.northbound.table(table)].filter(([, row]) => row['name'] === name).map(([uuid]) => [id, uuid, bench.row(table, name)]);
  });

const uuids = (states: readonly unknown[]): readonly unknown[] => states.map((found) => (found as readonly (readonly unknown[])[])[0]?.[1]);

test('rows of a Subnet removed by force stay the same rows while a pod has an address of it, and a new Subnet takes them over', () => {
  const scene = setUp('blue');
  const before = state(scene, ROWS);
  assert.ok(before.every((found) => (found as readonly unknown[]).length === 1));
  scene.bench.removeByForce('subnets', 'red');
  scene.bench.converge();
  assert.deepEqual(state(scene, ROWS), before);
  assert.equal(scene.bench.writesAfterRestart(), 0);
  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaces: ['shop'], enableDHCP: true });
  scene.bench.converge();
  assert.deepEqual(uuids(state(scene, ROWS)), uuids(before));
  assert.equal(scene.bench.condition('subnets', 'red', 'Ready')?.status, 'True');
});

test('the same if the IP object is deleted as well: it is created again, and the network has the same rows', () => {
  for (const order of [['ips', 'subnets'] as const, ['subnets', 'ips'] as const]) {
    const scene = setUp('blue');
    const before = state(scene, ROWS);
    const { spec } = scene.bench.object('ips', 'web.shop') ?? {};
    for (const kind of order) scene.bench.removeByForce(kind, kind === 'ips' ? 'web.shop' : 'red');
    scene.bench.converge();
    assert.deepEqual(state(scene, ROWS), before);
    assert.deepEqual(scene.bench.object('ips', 'web.shop')?.spec, spec);
    assert.equal(scene.bench.writesAfterRestart(), 0);
    scene.bench.removeByForce('pods', 'shop/web');
    scene.bench.converge();
    assert.deepEqual(
      state(scene, ROWS),
      ROWS.map(() => []),
    );
    assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
  }
});

test('a port deleted while its Subnet is removed by force comes back into the port groups of its gateway', () => {
  for (const gatewayType of ['distributed', 'centralized']) {
    const scene = new PodScene().webIn('red', { cidrBlock: '10.0.0.0/24', gatewayType, gatewayNode: 'n1' });
    const groups = (): string[] =>
      ['node.n1', 'red.n1'].filter((group) => scene.bench.list('Port_Group', group, 'ports').includes('Logical_Switch_Port/web.shop'));
    const before = groups();
    assert.equal(before.length, gatewayType === 'distributed' ? 2 : 1);
    scene.bench.removeByForce('subnets', 'red');
    scene.bench.converge();
    scene.bench.removeNamedRow('Logical_Switch_Port', 'web.shop');
    scene.bench.converge();
    assert.deepEqual(groups(), before, gatewayType);
    assert.equal(scene.bench.writesAfterRestart(), 0);
  }
});

test('the owner of a network follows the ownership keys of its router port, whatever program writes them', () => {
  const scene = setUp('blue');
  const { northbound, world } = scene.bench;
  const blockers = (): readonly string[] => blockersOf(world, 'vpcs', 'blue').names;
  assert.deepEqual(blockers(), ['Subnet red']);
  const port = [...northbound.table('Logical_Router_Port').values()].find(({ name }) => name === 'blue-red');
  assert.ok(port?.['external_ids'] instanceof Map);
  const row = { external_ids: new Map([...port['external_ids'], ['kiln.io/uid', 'an older one']]) };
  world.rows.apply(northbound, northbound.apply([{ kind: 'update', table: 'Logical_Router_Port', uuid: port._uuid, row }]));
  assert.deepEqual(blockers(), ['Subnet red', 'IP web.shop']);
  scene.bench.converge();
  assert.deepEqual(blockers(), ['Subnet red']);
});

test('a port deleted while its Subnet is removed by force is created again in the orphaned network', () => {
  const scene = setUp('blue');
  const before = scene.bench.row('Logical_Switch_Port', 'web.shop')?.['addresses'];
  scene.bench.removeByForce('subnets', 'red');
  scene.bench.converge();
  scene.bench.removeNamedRow('Logical_Switch_Port', 'web.shop');
  scene.bench.converge();
  assert.deepEqual(scene.bench.row('Logical_Switch_Port', 'web.shop')?.['addresses'], before);
  assert.ok(scene.bench.list('Logical_Switch', 'red', 'ports').includes('Logical_Switch_Port/web.shop'));
  assert.equal(scene.bench.writesAfterRestart(), 0);
  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaces: ['shop'], enableDHCP: true });
  scene.bench.converge();
  assert.ok(scene.bench.row('Logical_Switch_Port', 'web.shop')?.['dhcpv4_options']);
});

test('a Subnet created again is validated while annotations and port of a pod in the orphaned network disagree', () => {
  const scene = setUp('blue');
  const before = state(scene, ROWS);
  scene.bench.removeByForce('subnets', 'red');
  scene.bench.converge();
  const pod = scene.bench.object('pods', 'shop/web');
  assert.ok(pod);
  const annotations = { ...pod.metadata.annotations, 'ovn.kubernetes.io/ip_address': '10.0.0.77' };
  scene.bench.put('pods', { ...pod, metadata: { ...pod.metadata, annotations } });
  scene.bench.removeByForce('ips', 'web.shop');
  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaces: ['shop'], enableDHCP: true });
  scene.bench.converge();
  assert.equal(scene.bench.condition('subnets', 'red', 'Ready')?.status, 'True');
  assert.deepEqual(uuids(state(scene, ROWS)).slice(0, 3), uuids(before).slice(0, 3));
});

test('a row that a Vpc with Subnets no longer requests is not retained', () => {
  const { bench } = setUp('blue');
  bench.edit('vpcs', 'blue', { staticRoutes: [{ cidr: '10.77.0.0/16', nextHopIP: '10.0.0.9', policy: 'policyDst' }] });
  bench.converge();
  const routes = (): unknown[] => bench.rows('Logical_Router_Static_Route').filter((row) => row['ip_prefix'] === '10.77.0.0/16');
  assert.equal(routes().length, 1);
  bench.edit('vpcs', 'blue', { staticRoutes: [] });
  bench.converge();
  assert.deepEqual(routes(), []);
});

test('a load balancer that another program deletes comes back into the switch of an orphaned network', () => {
  const { bench } = setUp('blue');
  const held = (): readonly string[] => bench.list('Logical_Switch', 'red', 'load_balancer');
  const before = held();
  assert.ok(before.length > 0);
  bench.removeByForce('subnets', 'red');
  bench.converge();
  assert.deepEqual(held(), before);
  bench.removeNamedRow('Load_Balancer', (before[0] ?? '').replace('Load_Balancer/', ''));
  bench.converge();
  assert.deepEqual(held(), before);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('the rows are deleted with the last pod', () => {
  const scene = setUp('blue');
  scene.bench.removeByForce('subnets', 'red');
  scene.bench.converge();
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.converge();
  assert.deepEqual(
    state(scene, ROWS),
    ROWS.map(() => []),
  );
  assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
});

test('an IP object that only requests an address does not keep an orphaned network, and another Subnet can have it', () => {
  const scene = setUp('blue');
  scene.bench.removeByForce('subnets', 'red');
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.removeByForce('ips', 'web.shop');
  // Created while no controller is running.
  scene.bench.put('ips', {
    metadata: { name: 'web.shop' },
    spec: { subnet: 'red', podName: 'web', namespace: 'shop', podType: 'VirtualMachine' },
  });
  scene.subnet('green', { vpc: 'blue', cidrBlock: '10.0.0.0/24' });
  const again = scene.bench.restarted();
  again.converge();
  assert.deepEqual(
    ROWS.map((id) => again.row(...(id.split('/') as [string, string]))),
    ROWS.map(() => undefined),
  );
  assert.deepEqual(again.row('Logical_Router_Port', 'blue-green')?.['networks'], ['10.0.0.1/24']);
  assert.equal(again.condition('subnets', 'green', 'Ready')?.status, 'True');
});

const NOT_CARRIED_ON: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'in a Vpc that does not exist': { vpc: 'nowhere', cidrBlock: '10.0.0.0/24' },
  'with a network that cannot be read': { vpc: 'blue', cidrBlock: 'nonsense' },
  'with the network of another Subnet': { vpc: 'blue', cidrBlock: '10.9.0.0/24' },
  'outside of OVN': { vpc: 'blue', cidrBlock: '10.0.0.0/24', provider: 'lan.shop' },
};

for (const [how, spec] of Object.entries(NOT_CARRIED_ON)) {
  test(`a Subnet created again ${how} does not delete the network of running pods, and a valid one takes it over`, () => {
    const scene = setUp('blue');
    scene.subnet('other', { vpc: 'blue', cidrBlock: '10.9.0.0/24' });
    scene.bench.put('vips', { metadata: { name: 'db' }, spec: { subnet: 'red', namespace: 'shop' } });
    scene.bench.converge();
    const before = state(scene, ROWS);
    scene.bench.removeByForce('subnets', 'red');
    scene.bench.converge();
    scene.subnet('red', spec);
    scene.bench.converge();
    assert.deepEqual(state(scene, ROWS), before);
    assert.equal(scene.bench.writesAfterRestart(), 0);

    // Deleted while pods are in the orphaned network: it waits for them, like any other.
    scene.bench.delete('subnets', 'red');
    scene.bench.converge();
    assert.match(scene.bench.condition('subnets', 'red', 'DeletionBlocked')?.message ?? '', /IP web\.shop, Vip db/);
    assert.deepEqual(state(scene, ROWS), before);
    scene.bench.removeByForce('subnets', 'red');
    scene.subnet('red', { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaces: ['shop'], enableDHCP: true });
    scene.bench.converge();
    assert.deepEqual(uuids(state(scene, ROWS)), uuids(before));
    assert.equal(scene.bench.condition('subnets', 'red', 'Ready')?.status, 'True');
  });

  test(`the rows that a Subnet created again ${how} found are deleted with the last pod, and it can be deleted`, () => {
    const scene = setUp('blue');
    scene.subnet('other', { vpc: 'blue', cidrBlock: '10.9.0.0/24' });
    scene.bench.converge();
    scene.bench.removeByForce('subnets', 'red');
    scene.subnet('red', spec);
    scene.bench.converge();
    scene.bench.delete('subnets', 'red');
    scene.bench.removeByForce('pods', 'shop/web');
    scene.bench.converge();
    assert.deepEqual(
      state(scene, ROWS),
      ROWS.map(() => []),
    );
    assert.equal(scene.bench.object('subnets', 'red'), undefined);
    assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
  });
}

test("a join Subnet created again with an invalid CIDR leaves the nodes' ports as they are", () => {
  const scene = new PodScene();
  const rows = ['Logical_Switch/join', 'Logical_Switch_Port/node-n1'];
  scene.bench.put('nodes', { metadata: { name: 'n1' }, spec: {} });
  scene.bench.converge();
  const before = state(scene, rows);
  assert.ok(before.every((found) => (found as readonly unknown[]).length === 1));
  scene.bench.removeByForce('subnets', 'join');
  scene.subnet('join', { vpc: 'ovn-cluster', cidrBlock: 'nonsense' });
  scene.bench.converge();
  assert.deepEqual(state(scene, rows), before);
});

test('a pod of the default Vpc stays in the port groups of its gateway', () => {
  const scene = setUp('ovn-cluster');
  const groups = ['Port_Group/node.n1', 'Port_Group/red.n1'];
  const before = state(scene, groups);
  assert.match(JSON.stringify(before), /web\.shop.*web\.shop/);
  scene.bench.removeByForce('subnets', 'red');
  scene.bench.converge();
  assert.deepEqual(state(scene, groups), before);
});

const OBJECTS = [
  ['vips', { namespace: 'shop' }, ['Logical_Switch_Port/two']],
  ['vips', { type: 'switch_lb_vip', namespace: 'shop' }, ['Logical_Switch_Port/two', 'Logical_Switch_Port/two.shop']],
  ['ovn-eips', { type: 'nat' }, []],
  ['iptables-eips', {}, []],
] as const;

for (const [resource, spec, ports] of OBJECTS) {
  test(`the same rows stay for ${resource} ${JSON.stringify(spec)} with nothing else in the Subnet, and are deleted with the last object`, () => {
    const rows = [...ROWS.slice(0, 3), ...ports];
    const scene = setUp('blue');
    scene.bench.delete('pods', 'shop/web');
    for (const name of ['one', 'two'])
      scene.bench.put(resource, {
        metadata: { name },
        spec: { ...spec, ...(resource === 'vips' ? { subnet: 'red' } : { externalSubnet: 'red' }) },
      });
    scene.bench.converge();
    scene.bench.removeByForce('pods', 'shop/web');
    scene.bench.converge();
    const before = state(scene, rows);
    assert.ok(
      before.every((found) => (found as readonly unknown[]).length === 1),
      JSON.stringify(before),
    );
    scene.bench.removeByForce('subnets', 'red');
    scene.bench.converge();
    assert.deepEqual(state(scene, rows), before);
    // The object whose rule emitted the rows is deleted, with its own ports.
    scene.bench.delete(resource, 'one');
    scene.bench.converge();
    assert.equal(scene.bench.object(resource, 'one'), undefined);
    assert.deepEqual(uuids(state(scene, rows)), uuids(before));
    assert.equal(scene.bench.writesAfterRestart(), 0);
    scene.bench.delete(resource, 'two');
    scene.bench.converge();
    assert.deepEqual(
      state(scene, rows),
      rows.map(() => []),
    );
  });
}

/** Rows of the router and of the link to it. */
const ROUTER = ['Logical_Router/blue', ...ROWS];

for (const order of [
  ['vpcs', 'subnets'],
  ['subnets', 'vpcs'],
] as const) {
  test(`Vpc and Subnet removed by force, ${order.join(' then ')}: a running pod keeps its gateway until it is deleted or they are created again`, () => {
    const scene = setUp('blue');
    const before = state(scene, ROUTER);
    for (const kind of order) {
      scene.bench.removeByForce(kind, kind === 'vpcs' ? 'blue' : 'red');
      scene.bench.converge();
    }
    assert.deepEqual(state(scene, ROUTER), before);
    const again = scene.bench.restarted();
    again.converge();
    assert.equal(again.writes, 0);
    const violations = checkInvariants({ world: again.world, plan: { rows: [], objects: [] } });
    assert.deepEqual(
      violations.filter(({ invariant }) => invariant === 'I3'),
      [],
    );

    // A Vpc of that name adopts the router, and its deletion waits for the pods in the orphaned network.
    scene.bench.put('vpcs', { metadata: { name: 'blue' } });
    scene.bench.converge();
    assert.deepEqual(uuids(state(scene, ROUTER)), uuids(before));
    scene.bench.delete('vpcs', 'blue');
    scene.bench.converge();
    assert.match(scene.bench.condition('vpcs', 'blue', 'DeletionBlocked')?.message ?? '', /one object still uses it: IP web\.shop\. /);
    assert.deepEqual(uuids(state(scene, ROUTER)), uuids(before));
    scene.bench.removeByForce('vpcs', 'blue');
    scene.bench.converge();
    assert.deepEqual(uuids(state(scene, ROUTER)), uuids(before));

    scene.bench.removeByForce('pods', 'shop/web');
    scene.bench.converge();
    assert.deepEqual(
      state(scene, ROUTER),
      ROUTER.map(() => []),
    );
  });
}

test('the Vpc of a Subnet removed by force waits for the pods in its network, and is deleted with the last one', () => {
  const scene = setUp('blue');
  scene.subnet('green', { vpc: 'blue', cidrBlock: '10.1.0.0/24' });
  scene.bench.put('vips', { metadata: { name: 'db' }, spec: { subnet: 'red', namespace: 'shop' } });
  scene.bench.converge();
  const before = state(scene, ROUTER);
  scene.bench.removeByForce('subnets', 'red');
  scene.bench.delete('vpcs', 'blue');
  scene.bench.converge();
  assert.match(scene.bench.condition('vpcs', 'blue', 'DeletionBlocked')?.message ?? '', /: Subnet green, IP web\.shop, Vip db\. /);
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.removeByForce('subnets', 'green');
  scene.bench.converge();
  assert.match(scene.bench.condition('vpcs', 'blue', 'DeletionBlocked')?.message ?? '', /one object still uses it: Vip db\. /);
  assert.deepEqual(uuids(state(scene, ROUTER.slice(0, 4))), uuids(before.slice(0, 4)));
  scene.bench.delete('vips', 'db');
  scene.bench.converge();
  assert.equal(scene.bench.object('vpcs', 'blue'), undefined);
  assert.deepEqual(
    state(scene, ROUTER),
    ROUTER.map(() => []),
  );
});

test('a router with several orphaned networks is deleted with the last one in use', () => {
  const scene = setUp('blue');
  scene.bench.put('namespaces', { metadata: { name: 'yard' } });
  scene.subnet('green', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['yard'] });
  scene.bench.put('pods', { metadata: { name: 'cat', namespace: 'yard' }, spec: { nodeName: 'n1' } });
  scene.bench.converge();
  for (const name of ['red', 'green']) scene.bench.removeByForce('subnets', name);
  scene.bench.removeByForce('vpcs', 'blue');
  scene.bench.converge();
  assert.deepEqual(scene.bench.list('Logical_Router', 'blue', 'ports').toSorted(), [
    'Logical_Router_Port/blue-green',
    'Logical_Router_Port/blue-red',
  ]);
  scene.bench.removeByForce('pods', 'yard/cat');
  scene.bench.converge();
  assert.deepEqual(scene.bench.list('Logical_Router', 'blue', 'ports'), ['Logical_Router_Port/blue-red']);
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.converge();
  assert.equal(scene.bench.row('Logical_Router', 'blue'), undefined);
});

test('no other Subnet of the Vpc gets an orphaned network while a pod has an address of it; one of its name takes it over', () => {
  const scene = setUp('blue');
  const { bench } = scene;
  bench.put('vpcs', { metadata: { name: 'grey' } });
  const before = state(scene, ROWS);
  bench.removeByForce('subnets', 'red');
  for (const [name, vpc] of [
    ['other', 'blue'],
    ['far', 'grey'],
  ] as const)
    scene.subnet(name, { vpc, cidrBlock: '10.0.0.0/25' });
  bench.converge();
  assert.equal(
    bench.condition('subnets', 'other', 'Accepted')?.message,
    'Subnet other: spec.cidrBlock "10.0.0.0/25" overlaps 10.0.0.0/24 of Subnet red, which is gone and has addresses in use ' +
      '(kubectl get ips -l ovn.kubernetes.io/subnet=red); networks of one Vpc (blue) and Vlan must be apart',
  );
  assert.deepEqual([bench.row('Logical_Switch', 'other'), state(scene, ROWS)], [undefined, before]);
  assert.equal(bench.condition('subnets', 'far', 'Accepted')?.status, 'True');
  assert.equal(bench.writesAfterRestart(), 0);

  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaces: ['shop'], enableDHCP: true });
  bench.converge();
  assert.deepEqual(uuids(state(scene, ROWS)), uuids(before));
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.status, 'True', 'though the other one is older');
  assert.match(bench.condition('subnets', 'other', 'Accepted')?.message ?? '', /overlaps 10\.0\.0\.0\/24 of Subnet red;/);

  bench.removeByForce('subnets', 'red');
  bench.converge();
  bench.removeByForce('pods', 'shop/web');
  bench.converge();
  assert.equal(bench.condition('subnets', 'other', 'Ready')?.status, 'True', 'with the last address');
});

for (const [what, spec] of [
  ['in another Vpc', { vpc: 'grey', cidrBlock: '10.0.0.0/24', gateway: '10.9.9.9' }],
  ['with another network', { vpc: 'blue', cidrBlock: '10.7.0.0/24', gateway: '10.9.9.9' }],
] as const)
  test(`an orphaned network in use does not go to another Subnet while an invalid one of its name is created ${what}`, () => {
    const scene = setUp('blue');
    const { bench } = scene;
    bench.put('vpcs', { metadata: { name: 'grey' } });
    bench.removeByForce('subnets', 'red');
    scene.subnet('other', { vpc: 'blue', cidrBlock: '10.0.0.0/25' });
    bench.converge();
    scene.subnet('red', spec);
    bench.converge();
    assert.match(bench.condition('subnets', 'other', 'Accepted')?.message ?? '', /overlaps 10\.0\.0\.0\/24 of Subnet red[,;]/);
    assert.deepEqual(
      [bench.row('Logical_Router_Port', 'blue-other'), bench.row('Logical_Router_Port', 'blue-red')?.['networks']],
      [undefined, ['10.0.0.1/24']],
    );
    bench.removeByForce('subnets', 'red');
    bench.converge();
    bench.removeByForce('pods', 'shop/web');
    bench.converge();
    assert.equal(bench.condition('subnets', 'other', 'Ready')?.status, 'True', 'with the last address');
  });

/** The keys of the router after another program's edit. */
const KEYS_LEFT: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'the vendor key': [['vendor', 'kube-ovn']],
  'all of them': [],
  'and puts its own there': [['theirs', 'yes']],
};

for (const [what, marks] of Object.entries(KEYS_LEFT))
  test(`an orphaned network is in its router also while the router has lost its ownership keys: ${what}`, () => {
    const scene = setUp('blue');
    const { bench } = scene;
    const before = bench.row('Logical_Router_Port', 'blue-red')?.['networks'];
    const [uuid] = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue') ?? assert.fail();
    const row = { external_ids: new Map(marks) };
    bench.world.rows.apply(bench.northbound, bench.northbound.apply([{ kind: 'update', table: 'Logical_Router', uuid, row }]));
    bench.removeByForce('subnets', 'red');
    scene.subnet('other', { vpc: 'blue', cidrBlock: '10.0.0.0/25' });
    bench.delete('vpcs', 'blue');
    bench.converge();
    assert.match(bench.condition('subnets', 'other', 'Accepted')?.message ?? '', /overlaps 10\.0\.0\.0\/24 of Subnet red, which is gone/);
    assert.match(bench.condition('vpcs', 'blue', 'DeletionBlocked')?.message ?? '', /IP web\.shop/);
    assert.deepEqual(
      [bench.row('Logical_Router_Port', 'blue-other'), bench.row('Logical_Router_Port', 'blue-red')?.['networks']],
      [undefined, before],
    );
    assert.equal(bench.writesAfterRestart(), 0);
    for (const [kind, key] of [
      ['subnets', 'other'],
      ['pods', 'shop/web'],
    ] as const)
      bench.removeByForce(kind, key);
    bench.converge();
    assert.deepEqual(
      [bench.row('Logical_Router_Port', 'blue-red'), bench.object('vpcs', 'blue')],
      [undefined, undefined],
      'with the last address',
    );
  });

test('the network of a Subnet removed by force drops its link once another Subnet has the router port of that name', () => {
  // Both ports have the name blue-a-red: of Subnet red in Vpc blue-a, and of Subnet a-red in Vpc blue.
  const scene = setUp('blue-a');
  const { bench } = scene;
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  const link = (): unknown => bench.row('Logical_Switch_Port', 'red-blue-a')?.['options'];
  bench.removeByForce('subnets', 'red');
  bench.converge();
  assert.deepEqual(link(), { 'router-port': 'blue-a-red' });

  const [uuid] = [...bench.northbound.table('Logical_Router_Port')].find(([, row]) => row['name'] === 'blue-a-red') ?? assert.fail();
  const { uid } = scene.subnet('a-red', { vpc: 'blue', cidrBlock: '10.8.0.0/24' }).metadata;
  const keys = { vendor: 'kube-ovn', 'kiln.io/owner': 'subnet//a-red', 'kiln.io/uid': uid, 'kiln.io/rule': 'subnet' };
  const row = { external_ids: new Map(Object.entries(keys)) };
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([{ kind: 'update', table: 'Logical_Router_Port', uuid, row }]));
  bench.converge();
  assert.equal(link(), undefined, 'it would lead into the other router');
  assert.deepEqual(bench.row('Logical_Switch_Port', 'a-red-blue')?.['options'], { 'router-port': 'blue-a-red' });
  assert.equal(bench.writesAfterRestart(), 0);
});

test('load balancers with session affinity keep what they select by after Subnet and Vpc were removed by force', () => {
  const scene = setUp('blue');
  const fields = (): unknown => scene.bench.list('Load_Balancer', 'vpc-blue-tcp-sess-load', 'selection_fields');
  assert.deepEqual(fields(), ['ip_src', 'ipv6_src']);
  scene.bench.removeByForce('subnets', 'red');
  scene.bench.removeByForce('vpcs', 'blue');
  scene.bench.converge();
  assert.deepEqual(fields(), ['ip_src', 'ipv6_src']);
  assert.equal(scene.bench.writesAfterRestart(), 0);
});
