/** Users can write the annotations of a pod: a claim without a proof is a request, and never counts as an allocation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';

function own(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`ovn.kubernetes.io/${key}`, value]));
}

function lies(of: { readonly subnet: string; readonly ip: string; readonly mac?: string }): Readonly<Record<string, string>> {
  return own({
    allocated: 'true',
    routed: 'true',
    logical_switch: of.subnet,
    ip_address: of.ip,
    ...(of.mac !== undefined && { mac_address: of.mac }),
    cidr: '10.1.0.0/24',
    gateway: '10.1.0.1',
  });
}

/** Two tenants, a victim with an address, and a pod that waits. */
function tenants(): PodScene {
  const scene = new PodScene();
  scene.namespace('mallory');
  scene.subnet('red', { cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  scene.subnet('green', { cidrBlock: '10.2.0.0/24', namespaces: ['mallory'] });
  scene.bench.converge();
  scene.pod('victim');
  scene.pod('liar', { namespace: 'mallory', annotations: own({ logical_switch: 'nosuch' }) });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/victim'), '10.1.0.2');
  return scene;
}

function allPortAddresses(scene: PodScene): readonly string[] {
  return scene.bench.rowIds('Logical_Switch_Port').map((name) => `${name} ${String(scene.portAddresses(name))}`);
}

function ofLiar(scene: PodScene): unknown {
  return [scene.portAddresses('liar.mallory'), scene.bench.object('ips', 'liar.mallory')?.spec['ipAddress']];
}

test("a pod with another tenant's address or MAC in forged annotations has no port with it, also after a restart, and the next pod gets it", () => {
  const scene = tenants();
  const mac = scene.annotations('shop/victim')['ovn.kubernetes.io/mac_address'] ?? '';
  const before = scene.portAddresses('victim.shop');
  scene.pod('liar', { namespace: 'mallory', annotations: lies({ subnet: 'red', ip: '10.1.0.2', mac }) });
  scene.bench.converge();
  assert.deepEqual(ofLiar(scene), [undefined, undefined]);
  assert.deepEqual(scene.portAddresses('victim.shop'), before);
  assert.equal(scene.bench.condition('pods', 'mallory/liar', BOUND)?.reason, 'AddressConflict');
  assert.equal(scene.annotations('mallory/liar')['ovn.kubernetes.io/allocated'], undefined, 'agents on the node act on it');
  scene.pod('liar', { namespace: 'mallory', annotations: lies({ subnet: 'red', ip: '10.1.0.77', mac }) });
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'mallory/liar', BOUND)?.reason, 'AddressConflict', 'its MAC');
  scene.pod('liar', { namespace: 'mallory', annotations: lies({ subnet: 'red', ip: '10.1.0.2', mac }) });
  const fresh = scene.bench.restarted();
  fresh.converge();
  assert.equal(fresh.row('Logical_Switch_Port', 'liar.mallory'), undefined);
  assert.deepEqual(fresh.row('Logical_Switch_Port', 'victim.shop')?.['addresses'], before);
});

test('an unproven claim of a free address is a request, with all rules of requests', () => {
  const scene = tenants();
  scene.pod('liar', { namespace: 'mallory', annotations: lies({ subnet: 'green', ip: '10.2.0.9' }) });
  scene.pod('greedy', { namespace: 'mallory', annotations: lies({ subnet: 'green', ip: '10.2.0.1' }) });
  scene.pod('lost', { namespace: 'mallory', annotations: lies({ subnet: 'gone', ip: '10.2.0.11' }) });
  scene.bench.converge();
  assert.match(String(scene.portAddresses('liar.mallory')), / 10\.2\.0\.9$/);
  assert.equal(scene.bench.object('ips', 'liar.mallory')?.spec['ipAddress'], '10.2.0.9');
  assert.equal(scene.portAddresses('greedy.mallory'), undefined, 'the gateway');
  assert.equal(scene.portAddresses('lost.mallory'), undefined);
  assert.equal(scene.bench.condition('pods', 'mallory/lost', BOUND)?.reason, 'WaitingForSubnet');
});

test('no pod has an address of the join Subnet, whatever its request', () => {
  const scene = tenants();
  const node = scene.portAddresses('node-n1');
  const [, join = ''] = String(node).split(' ');
  const mac = String(node).split(' ')[0] ?? '';
  scene.bench.put('vips', { metadata: { name: 'stolen' }, spec: { subnet: 'join', namespace: 'mallory' } });
  scene.bench.put('ippools', { metadata: { name: 'gate' }, spec: { subnet: 'join', ips: ['100.64.0.50..100.64.0.60'] } });
  const users = { podName: 'asked', namespace: 'mallory', subnet: 'join', podType: '' };
  scene.bench.put('ips', { metadata: { name: 'asked.mallory' }, spec: { ...users, ipAddress: '100.64.0.51' } });
  const completed = { ...users, podName: 'kept', ipAddress: '100.64.0.52', v4IpAddress: '100.64.0.52', macAddress: '0a:00:00:00:00:52' };
  const labels = { 'ovn.kubernetes.io/ip_reserved': 'true' };
  scene.bench.put('ips', { metadata: { name: 'kept.mallory', labels, finalizers: ['kubeovn.io/kube-ovn-controller'] }, spec: completed });
  const ways: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    network: lies({ subnet: 'join', ip: join, mac }),
    free: lies({ subnet: 'join', ip: '100.64.0.99' }),
    named: own({ logical_switch: 'join' }),
    pooled: own({ ip_pool: 'gate' }),
    vip: own({ vip: 'stolen' }),
    asked: own({ logical_switch: 'join' }),
    kept: own({ logical_switch: 'join' }),
    elsewhere: lies({ subnet: 'green', ip: join, mac: '0a:00:00:00:00:01' }),
  };
  for (const [name, annotations] of Object.entries(ways)) scene.pod(name, { namespace: 'mallory', annotations });
  scene.namespace('claimed', { annotations: own({ logical_switch: 'join' }) });
  scene.pod('web', { namespace: 'claimed' });
  for (const start of [() => scene.bench, () => scene.bench.restarted()]) {
    const bench = start();
    bench.converge();
    for (const port of [...Object.keys(ways).map((name) => `${name}.mallory`), 'web.claimed'])
      assert.doesNotMatch(String(bench.row('Logical_Switch_Port', port)?.['addresses']), /100\.64\./, port);
    assert.deepEqual(bench.row('Logical_Switch_Port', 'node-n1')?.['addresses'], node);
    assert.equal(bench.object('vips', 'stolen')?.spec['v4ip'], undefined);
  }
  assert.match(scene.bench.conditionText('vips', 'stolen'), /NodesOnly/);
});

test("a port that a pod has in the join Subnet is deleted: an address taken before the rule existed is the node's again", () => {
  const scene = tenants();
  scene.ownPort(
    scene.pod('old', { namespace: 'mallory', annotations: lies({ subnet: 'join', ip: '100.64.0.2', mac: '0a:00:00:00:00:07' }) }),
    'join',
    '0a:00:00:00:00:07 100.64.0.2',
  );
  scene.bench.converge();
  assert.deepEqual(
    allPortAddresses(scene).filter((text) => text.includes('0a:00:00:00:00:07')),
    [],
  );
});

test('a bound pod that claims another address keeps its own, and does not block requests for the other', () => {
  const scene = tenants();
  scene.pod('liar', { namespace: 'mallory', annotations: {} });
  scene.bench.converge();
  const before = scene.portAddresses('liar.mallory');
  assert.match(String(before), / 10\.2\.0\.2$/);
  const ownAnnotations = scene.annotations('mallory/liar');
  scene.pod('liar', { namespace: 'mallory', annotations: { ...ownAnnotations, ...lies({ subnet: 'red', ip: '10.1.0.3' }) } });
  scene.pod('next', { annotations: own({ ip_address: '10.1.0.3' }) });
  scene.bench.converge();
  assert.deepEqual(scene.portAddresses('liar.mallory'), before);
  assert.equal(scene.addressOf('mallory/liar'), '10.2.0.2');
  assert.match(String(scene.portAddresses('next.shop')), / 10\.1\.0\.3$/);
});

test('of a bound pod its IP object and its port row each are a proof; without both the pod requests its address again', () => {
  for (const gone of ['ip', 'row', 'both'] as const) {
    const scene = tenants();
    const before = scene.portAddresses('victim.shop');
    if (gone !== 'row') scene.bench.removeByForce('ips', 'victim.shop');
    if (gone !== 'ip') scene.bench.removeNamedRow('Logical_Switch_Port', 'victim.shop');
    const bench = scene.bench.restarted();
    bench.converge();
    assert.deepEqual(bench.row('Logical_Switch_Port', 'victim.shop')?.['addresses'], before, gone);
    assert.equal(bench.object('ips', 'victim.shop')?.spec['ipAddress'], '10.1.0.2', gone);
  }
});

test('an unproven claim fails if another claimant has the address', () => {
  const scene = tenants();
  const annotations = scene.annotations('shop/victim');
  scene.bench.removeByForce('pods', 'shop/victim');
  scene.bench.converge();
  scene.pod('next', { annotations: own({ ip_address: '10.1.0.2' }) });
  scene.bench.converge();
  scene.pod('victim', { annotations });
  scene.bench.converge();
  assert.match(String(scene.portAddresses('next.shop')), / 10\.1\.0\.2$/);
  assert.equal(scene.portAddresses('victim.shop'), undefined);
  assert.equal(scene.bench.condition('pods', 'shop/victim', BOUND)?.reason, 'AddressConflict');
});

test("legacy annotations are proven if the pod's IP object and the port row of its name agree, and by neither alone", () => {
  for (const [left, granted] of [
    ['both', true],
    ['ip', false],
    ['row', false],
  ] as const) {
    const scene = tenants();
    // A Subnet that its namespace may not name for a new pod: it is being deleted.
    scene.subnet('old', { cidrBlock: '10.5.0.0/24' });
    scene.bench.converge();
    scene.pod('anchor', { annotations: own({ logical_switch: 'old' }) });
    scene.bench.converge();
    scene.bench.delete('subnets', 'old');
    const mac = '0a:00:00:00:00:59';
    scene.pod('taken', { annotations: lies({ subnet: 'old', ip: '10.5.0.9', mac }) });
    const addresses = { subnet: 'old', ipAddress: '10.5.0.9', v4IpAddress: '10.5.0.9', v6IpAddress: '', macAddress: mac };
    if (left !== 'row')
      scene.bench.put('ips', {
        metadata: { name: 'taken.shop', finalizers: ['kubeovn.io/kube-ovn-controller'] },
        spec: { ...addresses, podName: 'taken', namespace: 'shop', podType: '' },
      });
    if (left !== 'ip') {
      const { northbound, world } = scene.bench;
      const [[home] = []] = [...northbound.table('Logical_Switch')].filter(([, row]) => row['name'] === 'old');
      const marks = { vendor: 'kube-ovn', ls: 'old', pod: 'shop/taken' };
      const row = { name: 'taken.shop', addresses: [`${mac} 10.5.0.9`], external_ids: marks };
      const parent = { table: 'Logical_Switch', uuid: home ?? '', column: 'ports' };
      world.rows.apply(northbound, northbound.insert('Logical_Switch_Port', '30000000-0000-4000-8000-000000000001', row, parent));
    }
    scene.bench.converge();
    const owner = scene.externalIds('Logical_Switch_Port', 'taken.shop')['kiln.io/owner'];
    assert.equal(owner, granted ? 'pod/shop/taken' : undefined, left);
    assert.equal(scene.bench.condition('pods', 'shop/taken', BOUND)?.status, granted ? undefined : 'False', left);
  }
});
