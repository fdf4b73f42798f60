import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_BLOCKERS } from '../blockers/blockers.ts';
import { rowId } from '../nb/row-id.ts';
import { rowConflictOf } from '../compile/row-conflict.ts';
import { PodScene } from '../testing/pod-scene.ts';
import type { ResourceName } from '../world/resources.ts';
import type { AnyObservedObject } from '../world/world.ts';
import { ageText } from './age.ts';
import { cascadeOf } from './cascade.ts';
import type { DrawnObject } from './dependents.ts';
import type { Explanation } from './explanation.ts';
import { explain } from './explanation.ts';
import { explanationJson } from './explanation-json.ts';
import { resourceNamed } from './kind-names.ts';
import { nextCommands } from './next-commands.ts';
import { statusOf } from './status.ts';
import { explanationLine, treeLines } from './tree-text.ts';

function treeText(...of: Parameters<typeof treeLines>): string {
  return treeLines(...of)
    .map(({ painted }) => `${painted}\n`)
    .join('');
}

const NOW = Date.parse('2026-01-01T01:00:00Z');

function tenant(pods: number): PodScene {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['shop'] } });
  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
  for (let i = 0; i < pods; i++) scene.pod(`web-${String(i).padStart(2, '0')}`);
  scene.bench.converge();
  return scene;
}

function explained({ bench }: PodScene, resource: ResourceName, key: string, children = 10): Explanation {
  const object = bench.object(resource, key);
  assert.ok(object);
  return explain(bench.world, resource, object, {
    limits: { children },
    rows: true,
    unimplemented: () => undefined,
  });
}

function drawn(explanation: Explanation): string[] {
  return treeText(explanationLine(explanation, NOW))
    .split('\n')
    .map((line) => line.replace(/ {2,}/g, '  '));
}

test('a tree goes from a Vpc over its Subnets and addresses to the pods, with its rows beside', () => {
  const text = treeText(explanationLine(explained(tenant(2), 'vpcs', 'blue'), NOW));
  const lines = text.split('\n');
  assert.match(lines[0] ?? '', /^NAME +READY +REASON +AGE$/);
  assert.match(lines[1] ?? '', /^Vpc\/blue +True +\S+ +59m$/);
  assert.deepEqual(
    lines.slice(2, 9).map((line) => line.replace(/ {3,}(True|False|-).*$/, '').replace(/\(\d+\)/, '(n)')),
    [
      '├─ used by (blocks deletion)',
      '│  └─ Subnet/red  10.1.0.0/24',
      '│     ├─ IP/web-00.shop  10.1.0.2',
      '│     │  └─ Pod/shop/web-00',
      '│     └─ IP/web-01.shop  10.1.0.3',
      '│        └─ Pod/shop/web-01',
      '└─ Northbound rows (n)',
    ],
  );
  assert.ok(
    lines.some((line) => /^ {3}└─ Logical_Router blue +vpc-router$/.test(line)),
    text,
  );
});

test('a pod shows its dependencies: its address, the Subnet of that, and the Vpc', () => {
  const lines = drawn(explained(tenant(1), 'pods', 'shop/web-00'));
  const at = lines.findIndex((line) => line.startsWith('├─ depends on'));
  assert.match(lines[at + 1] ?? '', /^│ {2}├─ IP\/web-00\.shop {2}10\.1\.0\.2/);
  assert.match(lines[at + 2] ?? '', /^│ {2}│ {2}└─ Subnet\/red/);
  assert.match(lines[at + 3] ?? '', /Vpc\/blue/);
  assert.ok(
    lines.some((line) => line.includes('Logical_Switch_Port web-00.shop')),
    lines.join('\n'),
  );
});

test('whatever has its address through an IP object shows it: pods, nodes, virtual machines', () => {
  const scene = tenant(1);
  const { bench } = scene;
  const addressesIn = (resource: ResourceName, key: string): readonly string[] =>
    (explanationJson(explained(scene, resource, key)) as { readonly object: { readonly addresses: readonly string[] } }).object.addresses;
  assert.deepEqual(addressesIn('pods', 'shop/web-00'), ['10.1.0.2']);
  for (const resource of ['virtualmachines', 'virtualmachineinstances'] as const) {
    bench.put(resource, { metadata: { name: 'vm', namespace: 'shop' } });
    assert.deepEqual(addressesIn(resource, 'shop/vm'), []);
  }
  bench.put('ips', {
    metadata: { name: 'vm.shop' },
    spec: { podName: 'vm', namespace: 'shop', podType: 'VirtualMachine', subnet: 'red', v4IpAddress: '10.1.0.9', ipAddress: '10.1.0.9' },
  });
  for (const resource of ['virtualmachines', 'virtualmachineinstances'] as const) {
    assert.deepEqual(addressesIn(resource, 'shop/vm'), ['10.1.0.9']);
    assert.ok(drawn(explained(scene, resource, 'shop/vm')).some((line) => /IP\/vm\.shop +10\.1\.0\.9/.test(line)));
  }
  bench.put('nodes', { metadata: { name: 'node-1' }, status: { addresses: [{ type: 'InternalIP', address: '192.168.0.1' }] } });
  bench.converge();
  assert.match(addressesIn('nodes', 'node-1')[0] ?? '', /^100\.64\.0\.\d+$/);
});

test('a waiting object shows what it waits for, since when, and what to do; ten are named and drawn, the others counted', () => {
  const scene = tenant(13);
  scene.bench.delete('subnets', 'red');
  scene.bench.converge();
  const explanation = explained(scene, 'subnets', 'red');
  const { waiting, blockers, next } = explanation;
  assert.equal(waiting?.reason, 'DeletionBlocked');
  assert.match(waiting.message, /13 objects still use it: IP web-00\.shop, .* and 3 more/);
  assert.equal(waiting.since, scene.bench.object('subnets', 'red')?.metadata.deletionTimestamp);
  assert.deepEqual([blockers.count, blockers.names.length], [13, 10]);
  assert.deepEqual(next, ['kiln delete subnet red --cascade --dry-run=client', 'kiln explain ip web-00.shop']);
  assert.ok(drawn(explanation).includes('│  └─ … and 3 more (--all shows them)'));
  assert.equal(explained(scene, 'subnets', 'red', 100).dependents.more, 0);
});

test('kiln explain and kiln status report that a default Vpc in deletion needs no action', () => {
  const scene = new PodScene();
  scene.bench.delete('vpcs', 'ovn-cluster');
  scene.bench.converge();
  const { waiting, next } = explained(scene, 'vpcs', 'ovn-cluster');
  assert.match(waiting?.message ?? '', /: Subnet join, Subnet ovn-default\. The cluster needs it: .* nothing needs to be done\./);
  assert.equal(waiting?.message, scene.bench.condition('vpcs', 'ovn-cluster', 'DeletionBlocked')?.message);
  assert.deepEqual(next, ['kiln explain subnet join']);
  assert.deepEqual(
    statusOf(scene.bench.world, true).findings.map(({ what, key, message }) => [what, key, message]),
    [['blocked', 'ovn-cluster', waiting?.message]],
  );
});

test('an object that is well waits for nothing', () => {
  const scene = tenant(1);
  for (const [resource, key] of [
    ['vpcs', 'blue'],
    ['subnets', 'red'],
    ['ips', 'web-00.shop'],
    ['nodes', 'n1'],
    ['namespaces', 'shop'],
  ] as const) {
    const { waiting, next } = explained(scene, resource, key);
    assert.deepEqual([waiting, next], [undefined, []], key);
  }
});

test('a condition with status False is the reason, and the command at its end is the next one', () => {
  const scene = tenant(0);
  scene.subnet('lost', { vpc: 'nowhere', cidrBlock: '10.2.0.0/24' });
  scene.bench.converge();
  const { waiting, next } = explained(scene, 'subnets', 'lost');
  assert.equal(waiting?.reason, 'VpcMissing');
  assert.deepEqual(next, ['kubectl get vpcs']);
});

test('the command that shows a conflicting row can be run unchanged, also with several such rows', () => {
  const { bench } = tenant(0);
  const owner = { kind: 'subnet', namespace: '', name: 'red', uid: '' } as const;
  const command = 'ovn-nbctl list Logical_Switch_Port 22';
  const next = (): readonly string[] => {
    const message = `Subnet red cannot be deleted yet: ${rowConflictOf(bench.world, owner)}`;
    const waiting = { reason: 'DeletionBlocked', message, since: '' };
    return nextCommands(bench.world, { resource: 'subnets', key: 'red', blockers: NO_BLOCKERS, waiting, dependencies: [] });
  };
  for (const [i, message] of [`Kiln waits until that program removes it: ${command}`, 'another', 'a third'].entries()) {
    bench.world.rowConflicts.set(rowId('Logical_Switch', String(i)), { owners: ['subnet//red'], message: message });
    assert.equal(
      rowConflictOf(bench.world, owner),
      `Kiln waits until that program removes it: ${command}${['', ' (and 1 more row)', ' (and 2 more rows)'][i]}`,
    );
    assert.deepEqual(next(), [command]);
  }
});

test('a foreign finalizer is named', () => {
  const scene = tenant(0);
  const red = scene.bench.object('subnets', 'red');
  assert.ok(red);
  scene.bench.put('subnets', {
    metadata: { ...red.metadata, finalizers: [...(red.metadata.finalizers ?? []), 'example.com/keep'] },
    spec: red.spec,
  });
  scene.bench.delete('subnets', 'red');
  scene.bench.converge();
  const { waiting } = explained(scene, 'subnets', 'red');
  assert.deepEqual(
    [waiting?.reason, waiting?.message],
    ['ForeignFinalizer', 'Subnet red waits for the programs that set its finalizers example.com/keep'],
  );
});

test('rows of an earlier object of the name are marked', () => {
  const scene = tenant(1);
  const pod = scene.bench.object('pods', 'shop/web-00');
  assert.ok(pod);
  const object = { ...pod, metadata: { ...pod.metadata, uid: 'another' } } as unknown as AnyObservedObject;
  const { rows } = explain(scene.bench.world, 'pods', object, { limits: { children: 10 }, rows: true, unimplemented: () => undefined });
  assert.deepEqual(
    rows?.rows.map(({ table, ofPredecessor }) => [table, ofPredecessor]),
    [['Logical_Switch_Port', true]],
  );
});

test('a kind that is not implemented is reported', () => {
  const { bench } = tenant(0);
  const object = {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Vlan',
    metadata: { name: 'v', uid: 'v', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  };
  const explanation = explain(bench.world, 'vlans', object, {
    limits: { children: 10 },
    rows: true,
    unimplemented: () => 'underlay networks',
  });
  assert.equal(explanation.implemented, false);
  assert.match(explanation.waiting?.message ?? '', /does not implement this yet: underlay networks/);
});

test('the JSON form keeps its fields', () => {
  const scene = tenant(1);
  scene.bench.delete('subnets', 'red');
  scene.bench.converge();
  const json = JSON.parse(JSON.stringify(explanationJson(explained(scene, 'subnets', 'red')))) as Record<string, unknown>;
  assert.deepEqual(Object.keys(json), [
    'object',
    'carriedOut',
    'waiting',
    'notes',
    'unattended',
    'blockers',
    'holds',
    'heldBy',
    'madeBy',
    'makes',
    'northbound',
    'next',
  ]);
  const { uid } = scene.bench.object('subnets', 'red')?.metadata ?? {};
  assert.deepEqual(json['object'], {
    kind: 'Subnet',
    resource: 'subnet',
    name: 'red',
    uid,
    created: '2026-01-01T00:00:18Z',
    addresses: ['10.1.0.0/24'],
    ready: 'False',
    reason: 'DeletionBlocked',
    since: scene.bench.object('subnets', 'red')?.metadata.deletionTimestamp,
  });
  const heldBy = json['heldBy'] as {
    readonly objects: readonly { readonly kind: string; readonly heldBy: { readonly objects: readonly object[] } }[];
  };
  assert.deepEqual([heldBy.objects[0]?.kind, heldBy.objects[0]?.heldBy.objects.length], ['IP', 1]);
});

test('kinds go by every name that kubectl takes', () => {
  const expected: Readonly<Record<string, ResourceName>> = {
    vpc: 'vpcs',
    Subnet: 'subnets',
    'subnets.kubeovn.io': 'subnets',
    ip: 'ips',
    ippool: 'ippools',
    po: 'pods',
    ns: 'namespaces',
    no: 'nodes',
    oeip: 'ovn-eips',
    'vpc-nat-gw': 'vpc-nat-gateways',
  };
  for (const [name, resource] of Object.entries(expected)) assert.equal(resourceNamed(name), resource, name);
  assert.equal(resourceNamed('deployment'), undefined);
});

test('ages as kubectl prints them', () => {
  const seconds = [0, 119, 120, 200, 600, 10_799, 10_800, 20_000, 28_800, 172_799, 172_800, 800_000, 40_000_000, 64_000_000];
  assert.deepEqual(
    seconds.map((one) => ageText(one * 1_000)),
    ['0s', '119s', '2m', '3m20s', '10m', '179m', '3h', '5h33m', '8h', '47h', '2d', '9d', '462d', '2y10d'],
  );
});

test('an IPPool shows the holders of its addresses, and their users', () => {
  const scene = tenant(0);
  scene.bench.put('ippools', { metadata: { name: 'few' }, spec: { subnet: 'red', ips: ['10.1.0.20..10.1.0.22'] } });
  scene.bench.converge();
  for (const name of ['a', 'b', 'c']) scene.pod(name, { annotations: { 'ovn.kubernetes.io/ip_pool': 'few' } });
  scene.pod('other');
  scene.bench.converge();
  assert.deepEqual(cascadeOf(scene.bench.world, 'vpcs', 'blue').pools, ['few'], 'it stays when its Subnet goes, and a warning says so');
  const lines = drawn(explained(scene, 'ippools', 'few', 2)).map((line) => line.replace(/ {2}(True|False|-) .*$/, ''));
  const at = lines.indexOf('└─ used by');
  assert.deepEqual(lines.slice(at, at + 6), [
    '└─ used by',
    '  ├─ IP/a.shop  10.1.0.20',
    '  │  └─ Pod/shop/a',
    '  ├─ IP/b.shop  10.1.0.21',
    '  │  └─ Pod/shop/b',
    '  └─ … and 1 more (--all shows them)',
  ]);
});

test('an ineffective field is a reason although the object is ready; kiln status finds it too', () => {
  const scene = tenant(0);
  scene.bench.edit('vpcs', 'blue', { staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: '10.9.0.1' }] });
  scene.bench.converge();
  const { subject, waiting, next } = explained(scene, 'vpcs', 'blue');
  assert.deepEqual([subject.state.ready, waiting?.reason], ['True', 'NextHopUnreachable']);
  assert.deepEqual(next, ['kubectl edit vpc blue']);
  const { findings } = statusOf(scene.bench.world, true);
  assert.deepEqual(
    findings.map(({ what, key }) => `${what} ${key}`),
    ['without effect blue'],
  );
});

test('a field that is not implemented is a note for a ready object, and is beside the reason for a waiting one', () => {
  const scene = tenant(0);
  const annotations = { 'ovn.kubernetes.io/north_gateway': '10.9.0.1' };
  scene.pod('web', { annotations });
  scene.pod('lost', { annotations: { ...annotations, 'ovn.kubernetes.io/logical_switch': 'nowhere' } });
  scene.bench.edit('subnets', 'red', { enableMulticastSnoop: true });
  scene.bench.converge();
  const web = explained(scene, 'pods', 'shop/web');
  assert.deepEqual(
    web.notes.map(({ what, reason, message }) => [what, reason, message.replace(/ is not implemented.*/, '')]),
    [['not implemented', 'NotCarriedOut', 'Pod shop/web: annotation ovn.kubernetes.io/north_gateway']],
  );
  const { waiting, notes } = explained(scene, 'pods', 'shop/lost');
  assert.deepEqual([waiting?.reason, notes.map(({ reason }) => reason)], ['WaitingForSubnet', ['NotCarriedOut']]);
  const red = explained(scene, 'subnets', 'red');
  assert.deepEqual([red.waiting, red.notes.map(({ reason }) => reason)], [undefined, ['UnsupportedField']]);
});

test('a namespace with an annotation that no program reads leads on to its correction', () => {
  const scene = tenant(0);
  scene.bench.put('namespaces', { metadata: { name: 'shop', annotations: { 'kiln.io/await-subnets': 'true' } } });
  scene.bench.converge();
  assert.deepEqual(explained(scene, 'namespaces', 'shop').next, ['kubectl edit namespace shop']);
});

test('a namespace that is being deleted waits for what is in it', () => {
  const { bench } = tenant(1);
  bench.put('namespaces', { metadata: { name: 'shop' } });
  const object = bench.object('namespaces', 'shop');
  assert.ok(object);
  const going = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:30:00Z' } };
  const options = { limits: { children: 10 }, rows: true, unimplemented: () => undefined };
  const { waiting, next } = explain(bench.world, 'namespaces', going, options);
  assert.equal(waiting?.message, 'Namespace shop is deleted when all objects in it are gone');
  assert.deepEqual(next, ['kubectl describe namespace shop']);
});

test('a pod that waits for what it depends on leads on to that, and not to itself', () => {
  const scene = tenant(1);
  scene.bench.removeByForce('subnets', 'red');
  scene.bench.converge();
  const gone = explained(scene, 'pods', 'shop/web-00');
  assert.match(gone.waiting?.message ?? '', /Subnet "red" allocates no addresses/);
  assert.deepEqual(gone.next, ['kubectl get subnets']);
});

test('a pod that is bound to a node that does not exist names it, and the next command lists the nodes', () => {
  const scene = tenant(0);
  const { bench } = scene;
  scene.pod('web', { node: 'ghost' });
  bench.converge();
  bench.put('pods', { ...bench.object('pods', 'shop/web'), status: { phase: 'Pending' } } as Parameters<typeof bench.put>[1]);
  bench.converge();
  const { waiting, next } = explained(scene, 'pods', 'shop/web');
  assert.deepEqual([waiting?.reason, waiting?.message, next], ['Pending', 'Node ghost does not exist', ['kubectl get nodes']]);
});

test('a pod that waits for a Subnet that is wrong leads on to that; what is built in is not to be deleted with all that is in it', () => {
  const scene = tenant(0);
  scene.subnet('lost', { cidrBlock: '10.2.0.0/32' });
  scene.pod('early', { annotations: { 'ovn.kubernetes.io/logical_switch': 'lost' } });
  scene.pod('plain', { annotations: { 'ovn.kubernetes.io/logical_switch': 'ovn-default' } });
  scene.bench.converge();
  assert.deepEqual(explained(scene, 'pods', 'shop/early').next, ['kiln explain subnet lost']);
  scene.bench.delete('subnets', 'ovn-default');
  scene.bench.converge();
  assert.deepEqual(explained(scene, 'subnets', 'ovn-default').next, ['kiln explain ip plain.shop']);
});

test('a pod that runs in another Subnet than its namespace now has reports it', () => {
  const scene = new PodScene();
  scene.pod('early');
  scene.bench.converge();
  const early = (): Explanation => {
    const object = scene.bench.object('pods', 'shop/early') as AnyObservedObject;
    const running = { ...object, status: { ...(object.status as object), phase: 'Running' } } as AnyObservedObject;
    return explain(scene.bench.world, 'pods', running, { limits: { children: 10 }, rows: true, unimplemented: () => undefined });
  };
  assert.equal(early().waiting, undefined);
  scene.subnet('red', { cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
  const { waiting } = early();
  assert.equal(waiting?.reason, 'Misbound');
  assert.match(waiting.message, /has its address from Subnet ovn-default, and Namespace shop belongs to red since/);
});

test('a Vip shows its address and the pods that declare it, and each of these the Vip', () => {
  const scene = tenant(0);
  scene.bench.put('vips', { metadata: { name: 'db' }, spec: { subnet: 'red' } });
  scene.bench.converge();
  scene.pod('one', { annotations: { 'ovn.kubernetes.io/aaps': 'db' } });
  scene.pod('two', { annotations: { 'ovn.kubernetes.io/aaps': 'other,db' } });
  scene.bench.converge();
  const lines = drawn(explained(scene, 'vips', 'db'));
  assert.match(lines[1] ?? '', /^Vip\/db {2}10\.1\.0\.2 +True/);
  const at = lines.findIndex((line) => line.endsWith('─ used by'));
  assert.deepEqual(
    lines.slice(at + 1, at + 3).map((line) => /Pod\/shop\/\w+/.exec(line)?.[0]),
    ['Pod/shop/one', 'Pod/shop/two'],
  );
  assert.ok(drawn(explained(scene, 'pods', 'shop/one')).some((line) => line.includes('Vip/db')));
  assert.equal(explained(scene, 'vips', 'db').blockers.count, 0);
});

for (const root of [
  ['vpcs', 'blue'],
  ['subnets', 'red'],
  ['ovn-eips', 'blue-red'],
] as const)
  test(`the circle of a Vpc, its external Subnet and the address of its port is drawn once, from ${root.join('/')}`, () => {
    const scene = new PodScene();
    scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: { enableExternal: true, extraExternalSubnets: ['red'] } });
    scene.subnet('red', { vpc: 'blue', cidrBlock: '10.1.0.0/24' });
    scene.bench.put('ovn-eips', { metadata: { name: 'blue-red' }, spec: { externalSubnet: 'red', type: 'lrp' } });
    scene.bench.converge();
    const ways = (objects: readonly DrawnObject[]): readonly string[][] =>
      objects.flatMap(({ name, children }) => (children.length === 0 ? [[name]] : ways(children).map((way) => [name, ...way])));
    const { dependencies, dependents } = explained(scene, root[0], root[1]);
    for (const trees of [dependencies.objects, dependents.objects]) {
      const found = ways(trees);
      for (const way of found) assert.equal(new Set(way).size, way.length, `no name twice: ${way.join(' ')}`);
      assert.ok(
        found.some((way) => way.length === 3 && way.at(-1) === root[1]),
        `it ends where it began: ${found.join('; ')}`,
      );
    }
  });
