import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';

function pool(scene: PodScene, name: string, subnet: string, ips: readonly string[], namespaces: readonly string[] = ['shop']): void {
  scene.bench.put('ippools', { metadata: { name }, spec: { subnet, ips, namespaces } });
}

function addresses(scene: PodScene, pods: readonly string[]): readonly (string | undefined)[] {
  for (const name of pods) scene.pod(name);
  scene.bench.converge();
  return pods.map((name) => scene.addressOf(`shop/${name}`));
}

test('pods of a namespace get addresses from its IPPools, the first with room in the declared order of its Subnets', () => {
  const scene = new PodScene();
  scene.subnet('s1', { cidrBlock: '10.81.0.0/24', namespaces: ['shop'] });
  scene.subnet('s2', { cidrBlock: '10.82.0.0/24', namespaces: ['shop'] });
  pool(scene, 'c', 's1', ['10.81.0.50']);
  pool(scene, 'b', 's2', ['10.82.0.50']);
  pool(scene, 'a', 's1', ['10.81.0.20..10.81.0.21']);
  scene.bench.converge();
  assert.equal(scene.bench.object('namespaces', 'shop')?.metadata.annotations?.['ovn.kubernetes.io/ip_pool'], 'a,b,c');
  assert.deepEqual(addresses(scene, ['p1', 'p2', 'p3', 'p4', 'p5']), ['10.81.0.20', '10.81.0.21', '10.82.0.50', '10.81.0.50', undefined]);
  const { reason, message } = scene.bench.condition('pods', 'shop/p5', BOUND) ?? {};
  assert.equal(reason, 'NoAvailableAddress');
  assert.match(message ?? '', /IPPool "a" of Subnet "s1".*IPPool "b" of Subnet "s2".*IPPool "c" of Subnet "s1"/);
  scene.bench.removeByForce('pods', 'shop/p1');
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/p5'), '10.81.0.20', 'a released address goes to the waiting pod');
});

test('a pod with an address of a later pool keeps it when an earlier one has room, also after a restart', () => {
  const scene = new PodScene();
  scene.subnet('s1', { cidrBlock: '10.81.0.0/24', namespaces: ['shop'] });
  pool(scene, 'a', 's1', ['10.81.0.20']);
  pool(scene, 'b', 's1', ['10.81.0.30']);
  scene.bench.converge();
  assert.deepEqual(addresses(scene, ['p1', 'p2']), ['10.81.0.20', '10.81.0.30']);
  scene.bench.removeByForce('pods', 'shop/p1');
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/p2'), '10.81.0.30');
  assert.equal(scene.bench.writesAfterRestart(), 0);
  assert.deepEqual(addresses(scene, ['p3']), ['10.81.0.20']);
});

test('a Subnet of the namespace that is not ready does not delay pools of another one', () => {
  const scene = new PodScene();
  scene.subnet('a-broken', { vpc: 'nowhere', cidrBlock: '10.83.0.0/24', namespaces: ['shop'] });
  scene.subnet('s2', { cidrBlock: '10.82.0.0/24', namespaces: ['shop'] });
  pool(scene, 'p', 's2', ['10.82.0.40']);
  assert.deepEqual(addresses(scene, ['web']), ['10.82.0.40']);
});

test('a pool in a Subnet of no namespace binding does not count; a pod that names a pool or an address gets it', () => {
  const scene = new PodScene();
  scene.subnet('s1', { cidrBlock: '10.81.0.0/24', namespaces: ['shop'] });
  scene.subnet('s9', { cidrBlock: '10.89.0.0/24' });
  pool(scene, 'far', 's9', ['10.89.0.20']);
  assert.deepEqual(addresses(scene, ['web']), ['10.81.0.2']);
  pool(scene, 'near', 's1', ['10.81.0.20']);
  pool(scene, 'other', 's1', ['10.81.0.30'], []);
  scene.pod('named', { annotations: { 'ovn.kubernetes.io/ip_pool': 'other' } });
  scene.pod('static', { annotations: { 'ovn.kubernetes.io/ip_address': '10.81.0.99' } });
  scene.bench.converge();
  assert.deepEqual([scene.addressOf('shop/named'), scene.addressOf('shop/static')], ['10.81.0.30', '10.81.0.99']);
});

test('a dual-stack pod may get each family from another pool of the Subnet', () => {
  const scene = new PodScene();
  scene.subnet('s1', { cidrBlock: '10.81.0.0/24,fd00:81::/120', namespaces: ['shop'] });
  pool(scene, 'four', 's1', ['10.81.0.20']);
  pool(scene, 'six', 's1', ['fd00:81::20']);
  assert.deepEqual(addresses(scene, ['web']), ['10.81.0.20,fd00:81::20']);
});

/** The objects of a chart: Subnet, pool and pod of a namespace that waits for the pool, in this order. */
function chart(order: readonly string[], awaits: string): PodScene {
  const scene = new PodScene();
  scene.namespace('shop', { annotations: { 'kiln.io/await-subnet': 'true', 'kiln.io/await-ip-pool': awaits } });
  const objects: Record<string, () => void> = {
    subnet: () => scene.subnet('s1', { cidrBlock: '10.81.0.0/24', namespaces: ['shop'] }),
    pool: () => pool(scene, 'a', 's1', ['10.81.0.50..10.81.0.60']),
    pod: () => scene.pod('web'),
  };
  for (const one of order) {
    objects[one]?.();
    scene.bench.converge();
  }
  return scene;
}

test('a namespace that waits for a pool has its pods in the pool, in whatever order Subnet, pool and pod are created', () => {
  const orders = ['subnet', 'pool', 'pod'].flatMap((first, _, all) =>
    all.filter((one) => one !== first).map((second) => [first, second, ...all.filter((one) => one !== first && one !== second)]),
  );
  assert.equal(orders.length, 6);
  for (const awaits of ['true', 'a'])
    for (const order of orders) assert.equal(chart(order, awaits).addressOf('shop/web'), '10.81.0.50', `${order.join()} ${awaits}`);
});

test('a pod reports the pool that its namespace waits for', () => {
  const reported = (scene: PodScene): readonly (string | undefined)[] => {
    const { reason, message } = scene.bench.condition('pods', 'shop/web', BOUND) ?? {};
    return [reason, message];
  };
  const named = chart(['subnet', 'pool', 'pod'], 'a, b');
  assert.equal(named.addressOf('shop/web'), undefined);
  assert.match(
    reported(named).join(),
    /^WaitingForIPPool,.*Namespace shop waits for IPPool b, which does not exist, or is not bound to it/,
  );
  pool(named, 'b', 's2', ['10.82.0.7']);
  named.bench.converge();
  assert.equal(named.addressOf('shop/web'), undefined, 'a pool of a Subnet that is not of the namespace');
  named.subnet('s2', { cidrBlock: '10.82.0.0/24', namespaces: ['shop'] });
  named.bench.converge();
  assert.equal(named.addressOf('shop/web'), '10.81.0.50');
  assert.match(reported(chart(['subnet', 'pod'], 'true')).join(), /waits for an IPPool of its Subnets, and none is bound to it/);
});

/** Two pods and one of a StatefulSet, bound before IPPool `late` (with addresses `ips`) is bound to their namespace. */
function before(ips: readonly string[], policy?: string): PodScene {
  const scene = new PodScene();
  if (policy !== undefined) scene.namespace('shop', { annotations: { 'kiln.io/misbound': policy } });
  scene.subnet('s1', { cidrBlock: '10.81.0.0/24', namespaces: ['shop'] });
  scene.statefulSet('db', 1);
  scene.bench.converge();
  for (const name of ['a', 'b']) scene.pod(name, { replicaSet: 'web' });
  scene.pod('db-0', { statefulSet: 'db' });
  scene.pod('names', { annotations: { 'ovn.kubernetes.io/ip_address': '10.81.0.99' } });
  scene.bench.converge();
  pool(scene, 'late', 's1', ips);
  scene.bench.converge();
  return scene;
}

const reasonsOf = (scene: PodScene): readonly string[] =>
  ['a', 'b', 'db-0', 'names'].map((name) => scene.bench.condition('pods', `shop/${name}`, BOUND)?.reason ?? '');

test('pods outside of a pool that is bound to the namespace later are misbound; they keep their addresses and report that', () => {
  const scene = before(['10.81.0.3', '10.81.0.50..10.81.0.60']);
  assert.deepEqual(reasonsOf(scene), ['Misbound', '', 'Misbound', ''], 'b has an address of the pool, and one names its own');
  assert.match(
    scene.bench.condition('pods', 'shop/a', BOUND)?.message ?? '',
    /Pod shop\/a has its address from Subnet s1, and Namespace shop takes its addresses from IPPool late since; .*delete this one/,
  );
  assert.deepEqual(
    scene.bench.events
      .filter(({ reason }) => reason === 'Misbound')
      .map(({ object }) => object)
      .toSorted(),
    ['pods/shop/a', 'pods/shop/db-0'],
  );
  assert.equal(scene.addressOf('shop/a'), '10.81.0.2');
  assert.equal(scene.bench.writesAfterRestart(), 0);
  scene.bench.removeByForce('pods', 'shop/a');
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.pod('a', { replicaSet: 'web' });
  scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  assert.deepEqual(
    [scene.addressOf('shop/a'), scene.addressOf('shop/db-0')],
    ['10.81.0.50', '10.81.0.4'],
    'report: an ordinal keeps its own',
  );
  scene.bench.edit('ippools', 'late', { namespaces: [] });
  scene.bench.converge();
  assert.deepEqual(reasonsOf(scene), ['', '', 'Bound', '']);
});

test('rebind: the next pod of an ordinal gets an address of the pool', () => {
  const scene = before(['10.81.0.50'], 'rebind');
  assert.deepEqual(reasonsOf(scene), ['Misbound', 'Misbound', 'Misbound', '']);
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/db-0'), '10.81.0.50');
  assert.equal(scene.bench.object('ips', 'db-0.shop')?.spec['v4IpAddress'], '10.81.0.50');
});

test('evict: only as long as the pool has room', () => {
  const scene = before(['10.81.0.50'], 'evict');
  const left = ['a', 'b', 'db-0'].filter((name) => scene.bench.object('pods', `shop/${name}`) !== undefined);
  scene.pod('next', { replicaSet: 'web' });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/next'), '10.81.0.50');
  for (const name of left)
    assert.match(scene.bench.condition('pods', `shop/${name}`, BOUND)?.message ?? '', /it is evicted when a pool of them has room/);
});

test('a dual-stack pod is outside if one family is; a family that no pool has does not count', () => {
  const scene = new PodScene();
  scene.subnet('s1', { cidrBlock: '10.81.0.0/24,fd00:81::/120', namespaces: ['shop'] });
  scene.bench.converge();
  scene.pod('a');
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/a'), '10.81.0.2,fd00:81::2');
  pool(scene, 'four', 's1', ['10.81.0.2']);
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'shop/a', BOUND), undefined);
  pool(scene, 'six', 's1', ['fd00:81::20']);
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'shop/a', BOUND)?.reason, 'Misbound');
});

test('a pod that names one of the Subnets gets an address of its pools, or any free one if it has no pool', () => {
  const scene = new PodScene();
  for (const [name, cidrBlock] of Object.entries({ s1: '10.81.0.0/24', s2: '10.82.0.0/24', s3: '10.83.0.0/24' }))
    scene.subnet(name, { cidrBlock, namespaces: ['shop'] });
  pool(scene, 'a', 's1', ['10.81.0.50']);
  pool(scene, 'b', 's2', ['10.82.0.50']);
  scene.bench.converge();
  const inSubnet = (name: string): { readonly annotations: Readonly<Record<string, string>> } => ({
    annotations: { 'ovn.kubernetes.io/logical_switch': name },
  });
  for (const subnet of ['s2', 's1', 's3']) scene.pod(`in-${subnet}`, inSubnet(subnet));
  scene.pod('static', { annotations: { ...inSubnet('s2').annotations, 'ovn.kubernetes.io/ip_address': '10.82.0.7' } });
  scene.pod('too-many', inSubnet('s2'));
  scene.bench.converge();
  assert.deepEqual(
    ['in-s1', 'in-s2', 'in-s3', 'static'].map((name) => scene.addressOf(`shop/${name}`)),
    ['10.81.0.50', '10.82.0.50', '10.83.0.2', '10.82.0.7'],
  );
  const { reason, message } = scene.bench.condition('pods', 'shop/too-many', BOUND) ?? {};
  assert.equal(reason, 'NoAvailableAddress');
  assert.match(message ?? '', /IPPool "b" of Subnet "s2"/);
  assert.equal(scene.bench.writesAfterRestart(), 0);
});

test('a pool for a namespace whose pods are in another Subnet reports it until one of the two is changed', () => {
  const scene = new PodScene();
  scene.subnet('near', { cidrBlock: '10.4.0.0/24', namespaces: ['shop'] });
  scene.subnet('far', { cidrBlock: '10.5.0.0/24' });
  scene.subnet('attached', { cidrBlock: '10.6.0.0/24', provider: 'nb.shop.ovn' });
  scene.bench.converge();
  for (const [name, subnet, ip] of [
    ['of-near', 'near', '10.4.0.20'],
    ['of-far', 'far', '10.5.0.20'],
    ['of-attached', 'attached', '10.6.0.20'],
  ] as const)
    scene.bench.put('ippools', { metadata: { name }, spec: { subnet, ips: [ip], namespaces: ['shop'] } });
  scene.bench.converge();
  const ineffective = (pool: string): string | undefined => scene.bench.condition('ippools', pool, 'WithoutEffect')?.reason;
  assert.deepEqual(
    [ineffective('of-near'), ineffective('of-far'), ineffective('of-attached')],
    [undefined, 'PoolOutsideNamespace', undefined],
  );
  assert.match(
    scene.bench.condition('ippools', 'of-far', 'WithoutEffect')?.message ?? '',
    /^IPPool of-far: spec\.namespaces\[0\] "shop" is a namespace whose pods are in Subnet near; they take no address of it unless they name it or its Subnet: /,
  );
  scene.bench.edit('subnets', 'far', { namespaces: ['shop'] });
  scene.bench.converge();
  assert.equal(ineffective('of-far'), undefined);
});
