/** The join network is changed by an edit: the nodes that hold its addresses stay as long as the cluster, so they follow where it is allowed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkInvariants } from '../../invariants/check-invariants.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import { RuleBench } from '../../testing/rule-bench.ts';

const ALLOWED = { 'kiln.io/allow-change-under-pods': 'true' };
const POLICY = 'ovn-cluster|30000|ip4.dst == 192.168.1.11';

function twoNodes(): PodScene {
  const scene = new PodScene();
  scene.bench.put('nodes', {
    metadata: { name: 'n2' },
    spec: {},
    status: { addresses: [{ type: 'InternalIP', address: '192.168.1.12' }] },
  });
  scene.pod('web');
  scene.bench.converge();
  return scene;
}

function edit({ bench }: PodScene, spec: object, annotations: Readonly<Record<string, string>> = {}): void {
  const join = bench.object('subnets', 'join');
  assert.ok(join);
  bench.put('subnets', {
    metadata: { ...join.metadata, annotations: { ...join.metadata.annotations, ...annotations } },
    spec: { ...join.spec, ...spec },
  });
  bench.converge();
}

const annotation = ({ bench }: PodScene, node: string, suffix: string): string =>
  bench.object('nodes', node)?.metadata.annotations?.[`ovn.kubernetes.io/${suffix}`] ?? '';

function works(scene: PodScene, within: RegExp): void {
  const { bench } = scene;
  for (const node of ['n1', 'n2']) {
    const address = annotation(scene, node, 'ip_address');
    assert.match(address, within, node);
    assert.equal(bench.object('ips', `node-${node}`)?.spec['ipAddress'], address);
    assert.deepEqual(bench.row('Logical_Switch_Port', `node-${node}`)?.['addresses'], [
      `${annotation(scene, node, 'mac_address')} ${address.replace(',', ' ')}`,
    ]);
    assert.notEqual(address.split(',')[0], annotation(scene, node, 'gateway').split(',')[0]);
  }
  assert.deepEqual(bench.row('Logical_Router_Policy', POLICY)?.['nexthops'], [annotation(scene, 'n1', 'ip_address').split(',')[0]]);
  assert.equal(bench.condition('subnets', 'join', 'Accepted')?.status, 'True');
  assert.equal(bench.condition('subnets', 'join', 'Ready')?.status, 'True');
  assert.deepEqual(checkInvariants({ world: bench.world, plan: { rows: [], objects: [] } }), []);
  assert.equal(bench.writesAfterRestart(), 0);
}

const moved = { cidrBlock: '100.65.0.0/16', gateway: '100.65.0.1', excludeIps: ['100.65.0.1'] };

test('another join network waits for the nodes, the message has the way, and with it they get addresses there', () => {
  const scene = twoNodes();
  const macs = ['n1', 'n2'].map((node) => annotation(scene, node, 'mac_address'));
  edit(scene, moved);
  const { reason, message = '' } = scene.bench.condition('subnets', 'join', 'Accepted') ?? {};
  assert.equal(reason, 'CidrInUse');
  assert.match(
    message,
    /100\.64\.0\.0\/16 stays in effect until these are gone: Node n1, Node n2; kubectl annotate subnet join kiln\.io\/allow-change-under-pods=true gives the nodes other addresses/,
  );
  assert.doesNotMatch(message, /delete their pods/);
  assert.match(annotation(scene, 'n1', 'ip_address'), /^100\.64\./);
  edit(scene, {}, ALLOWED);
  works(scene, /^100\.65\.0\.\d+$/);
  assert.deepEqual(
    ['n1', 'n2'].map((node) => annotation(scene, node, 'mac_address')),
    macs,
  );
  assert.deepEqual(scene.bench.row('Logical_Router_Port', 'ovn-cluster-join')?.['networks'], ['100.65.0.1/16']);
});

test('a narrower join network leaves out one node alone: the others keep their addresses', () => {
  const scene = twoNodes();
  edit(scene, { cidrBlock: '100.64.0.0/30' }, ALLOWED);
  works(scene, /^100\.64\.0\.[23]$/);
  const other = new PodScene();
  for (const name of ['n2', 'n3', 'n4']) other.bench.put('nodes', { metadata: { name }, spec: {} });
  other.bench.converge();
  const before = ['n1', 'n2', 'n3', 'n4'].map((node) => annotation(other, node, 'ip_address'));
  edit(other, { cidrBlock: '100.64.0.4/30', gateway: '100.64.0.6', excludeIps: [] }, ALLOWED);
  assert.ok(before.includes('100.64.0.4') && before.includes('100.64.0.5'), before.join());
  const after = ['n1', 'n2', 'n3', 'n4'].map((node) => annotation(other, node, 'ip_address'));
  for (const kept of ['100.64.0.4', '100.64.0.5']) assert.equal(after.indexOf(kept), before.indexOf(kept));
});

test('a gateway that a node has becomes the gateway, and the node gets another address', () => {
  const scene = twoNodes();
  const taken = annotation(scene, 'n2', 'ip_address');
  edit(scene, { gateway: taken, excludeIps: [] });
  assert.match(
    scene.bench.condition('subnets', 'join', 'Accepted')?.message ?? '',
    /Node n2; kubectl annotate subnet join kiln\.io\/allow-change-under-pods=true/,
  );
  edit(scene, {}, ALLOWED);
  works(scene, /^100\.64\.0\.\d+$/);
  assert.equal(annotation(scene, 'n1', 'gateway'), taken);
});

test('one family becomes another network and both families: all of it follows', () => {
  const scene = twoNodes();
  edit(scene, { cidrBlock: '100.65.0.0/16,fd00:100::/112', gateway: '100.65.0.1,fd00:100::1', protocol: 'Dual', excludeIps: [] }, ALLOWED);
  works(scene, /^100\.65\.0\.\d+,fd00:100::/);
});

test('a network in the settings that is not that of the Subnet is told on it, until one of the two is changed', () => {
  const first = new PodScene().bench;
  const cases = [
    ['join', { joinCidr: '100.65.0.0/16' }, '--node-switch-cidr', '100.64.0.0/16'],
    ['ovn-default', { defaultCidr: '10.17.0.0/16' }, '--default-cidr', '10.16.0.0/16'],
    ['join', { joinCidr: '100.64.0.0/16,fd00:100::/112' }, '--node-switch-cidr', '100.64.0.0/16'],
  ] as const;
  for (const [name, settings, flag, has] of cases) {
    const bench = new RuleBench({ settings, after: first });
    bench.converge();
    const { reason, message = '' } = bench.condition('subnets', name, 'WithoutEffect') ?? {};
    assert.equal(reason, 'SettingWithoutEffect');
    assert.ok(message.includes(`${flag} "${Object.values(settings)[0]}" is not the network of the Subnet, which has ${has}`), message);
    assert.ok(message.includes(`set ${flag}=${has}, or change spec.cidrBlock`), message);
    const mended = new RuleBench({ after: bench });
    mended.converge();
    assert.equal(mended.condition('subnets', name, 'WithoutEffect'), undefined);
  }
});

test('another name of the join Subnet: the nodes move to the new one, and the former can be deleted', () => {
  const scene = twoNodes();
  const bench = new RuleBench({ settings: { joinSubnet: 'nodes', joinCidr: '100.65.0.0/16' }, after: scene.bench });
  bench.converge();
  for (const node of ['n1', 'n2']) {
    assert.match(bench.object('nodes', node)?.metadata.annotations?.['ovn.kubernetes.io/ip_address'] ?? '', /^100\.65\.0\.\d+$/);
    assert.equal(bench.object('ips', `node-${node}`)?.spec['subnet'], 'nodes');
    assert.equal(bench.externalIds('Logical_Switch_Port', `node-${node}`)['ls'], 'nodes');
  }
  bench.delete('subnets', 'join');
  bench.converge();
  assert.deepEqual(bench.keys('subnets'), ['nodes', 'ovn-default']);
});
