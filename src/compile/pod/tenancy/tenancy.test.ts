/**
 * With `tenancy: namespaced` a pod cannot get into a Subnet that does not admit its namespace. Each attempt here succeeds with `tenancy:
 * open`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';
import type { PodInput } from '../../../testing/pod-scene.ts';
import { RuleBench } from '../../../testing/rule-bench.ts';
import type { Tenancy } from '../../../world/settings.ts';

const BOUND = 'kiln.io/NetworkBound';
const ANNOTATION = 'ovn.kubernetes.io';
const NAMED = { [`${ANNOTATION}/logical_switch`]: 'red-web' };

/** Tenant red has a Vpc with a Subnet, Namespace `red-web`, an IPPool, a Vip and a network; Namespace `shop` is another tenant's. */
function twoTenants(tenancy: Tenancy = 'namespaced'): PodScene {
  const scene = new PodScene({ tenancy });
  scene.namespace('red-web');
  scene.bench.put('vpcs', { metadata: { name: 'red' }, spec: { namespaces: ['red-web'] } });
  scene.subnet('red-web', { vpc: 'red', cidrBlock: '10.10.1.0/24', namespaces: ['red-web'] });
  scene.subnet('red-db', { vpc: 'red', cidrBlock: '10.10.2.0/24' });
  scene.bench.put('ippools', { metadata: { name: 'red-pool' }, spec: { subnet: 'red-web', ips: ['10.10.1.50..10.10.1.60'] } });
  scene.bench.put('vips', { metadata: { name: 'red-vip' }, spec: { subnet: 'red-web' } });
  scene.attachment('red-web/storage', 'kube-ovn');
  scene.attachment('red-web/vlan', 'ipam-only');
  scene.attachment('shop/mine', 'kube-ovn');
  scene.subnet('red-storage', { cidrBlock: '10.10.3.0/24', provider: 'storage.red-web.ovn' });
  scene.subnet('red-vlan', { cidrBlock: '10.10.4.0/24', provider: 'vlan.red-web' });
  scene.subnet('external', { cidrBlock: '10.10.6.0/24' });
  scene.subnet('mine', { cidrBlock: '10.10.5.0/24', provider: 'mine.shop.ovn' });
  scene.bench.converge();
  return scene;
}

const conditionOf = ({ bench }: PodScene, pod: string): readonly [string, string, string] => {
  const { status = '', reason = '', message = '' } = bench.condition('pods', pod, BOUND) ?? {};
  return [status, reason, message];
};

/** Addresses of tenant red that pods of other tenants have, by a port row or an IP object. */
function takenFromRed({ bench }: PodScene): readonly string[] {
  return Array.from(bench.world.ips.entries(), ([, ip]) => ip)
    .filter(({ spec }) => spec.subnet?.startsWith('red-') === true && spec.namespace !== 'red-web')
    .map(({ metadata }) => metadata.name);
}

const REQUESTS: Readonly<Record<string, PodInput>> = {
  'the name of the Subnet': { annotations: NAMED },
  'the name of a Subnet that its Vpc alone closes': { annotations: { [`${ANNOTATION}/logical_switch`]: 'red-db' } },
  'an IPPool of the Subnet': { annotations: { [`${ANNOTATION}/ip_pool`]: 'red-pool' } },
  'a Subnet and one of its addresses': { annotations: { ...NAMED, [`${ANNOTATION}/ip_address`]: '10.10.1.77' } },
  'a Subnet and a list of its addresses': { annotations: { ...NAMED, [`${ANNOTATION}/ip_pool`]: '10.10.1.77,10.10.1.78' } },
  'a Vip': { annotations: { [`${ANNOTATION}/vip`]: 'red-vip' } },
  "another tenant's network": { annotations: { 'k8s.v1.cni.cncf.io/networks': 'red-web/storage' } },
  "another tenant's network, for its addresses alone": { annotations: { 'k8s.v1.cni.cncf.io/networks': 'red-web/vlan' } },
  "another tenant's network as its own interface": { annotations: { 'v1.multus-cni.io/default-network': 'red-web/storage' } },
  "the Subnet of another tenant's network as its own": { annotations: { [`${ANNOTATION}/logical_switch`]: 'red-storage' } },
  "another tenant's Subnet on a network of its own": {
    annotations: { 'k8s.v1.cni.cncf.io/networks': 'shop/mine', 'mine.shop.ovn.kubernetes.io/logical_switch': 'red-web' },
  },
  "another tenant's pool on a network of its own": {
    annotations: { 'k8s.v1.cni.cncf.io/networks': 'shop/mine', 'mine.shop.ovn.kubernetes.io/ip_pool': 'red-pool' },
  },
  "its own Subnet on another tenant's network": {
    annotations: { 'k8s.v1.cni.cncf.io/networks': 'red-web/storage', 'storage.red-web.ovn.kubernetes.io/logical_switch': 'mine' },
  },
  "another tenant's network by a name with dots": {
    annotations: {
      'k8s.v1.cni.cncf.io/networks': JSON.stringify(
        ['a', 'b'].map((one) => ({ name: 'storage', namespace: 'red-web', interface: `${one}.shop` })),
      ),
      'storage.red-web.ovn.a.shop.kubernetes.io/logical_switch': 'mine',
      'storage.red-web.ovn.b.shop.kubernetes.io/logical_switch': 'mine',
    },
  },
  'the Subnet of gateways to the outside': { annotations: { [`${ANNOTATION}/logical_switch`]: 'external' } },
  'the word that it has it already': {
    annotations: {
      ...NAMED,
      [`${ANNOTATION}/allocated`]: 'true',
      [`${ANNOTATION}/ip_address`]: '10.10.1.77',
      [`${ANNOTATION}/mac_address`]: '0a:00:00:00:00:77',
    },
  },
  'the word that it is attached already': {
    annotations: {
      'k8s.v1.cni.cncf.io/networks': 'red-web/storage',
      'storage.red-web.ovn.kubernetes.io/allocated': 'true',
      'storage.red-web.ovn.kubernetes.io/logical_switch': 'red-storage',
      'storage.red-web.ovn.kubernetes.io/ip_address': '10.10.3.77',
      'storage.red-web.ovn.kubernetes.io/mac_address': '0a:00:00:00:00:77',
    },
  },
  'a StatefulSet': { annotations: NAMED, statefulSet: 'db' },
  'a virtual machine': { annotations: NAMED, machine: 'vm' },
};

for (const [request, input] of Object.entries(REQUESTS)) {
  test(`namespaced: no way into another tenant's Subnet by ${request}; open: there is one`, () => {
    for (const tenancy of ['namespaced', 'open'] as const) {
      const scene = twoTenants(tenancy);
      scene.statefulSet('db', 2);
      scene.machine('vm');
      scene.bench.converge();
      scene.pod('db-0', input);
      scene.bench.converge();
      const [status, reason, message] = conditionOf(scene, 'shop/db-0');
      if (tenancy === 'open') {
        assert.notEqual(status, 'False', message);
        continue;
      }
      assert.deepEqual([status, reason], ['False', 'NamespaceNotAdmitted'], message);
      assert.match(message, /Namespace shop.*administrator.*kubectl (edit|get) /);
      assert.deepEqual(takenFromRed(scene), []);
      assert.ok(scene.bench.events.some((event) => event.object === 'pods/shop/db-0' && event.reason === 'NamespaceNotAdmitted'));
    }
  });
}

test('a Subnet admits pods of namespaces that it lists, selects, names or has by its Vpc; all namespaces if it lists none', () => {
  const scene = twoTenants();
  scene.namespace('labelled', { labels: { team: 'red' } });
  scene.subnet('listing', { cidrBlock: '10.11.0.0/24', namespaceSelectors: [{ matchLabels: { team: 'red' } }] });
  scene.bench.put('subnets', {
    metadata: { name: 'naming', annotations: { 'kiln.io/admit-namespaces': 'guests, shop' } },
    spec: { cidrBlock: '10.11.1.0/24' },
  });
  scene.subnet('all', { cidrBlock: '10.11.2.0/24' });
  scene.bench.converge();
  const inSubnet = (name: string, namespace: string, subnet: string): void =>
    void scene.pod(name, { namespace, annotations: { [`${ANNOTATION}/logical_switch`]: subnet } });
  inSubnet('a', 'labelled', 'listing');
  inSubnet('b', 'shop', 'listing');
  inSubnet('c', 'shop', 'naming');
  inSubnet('d', 'labelled', 'naming');
  inSubnet('e', 'shop', 'all');
  inSubnet('f', 'red-web', 'red-web');
  inSubnet('g', 'red-web', 'red-db');
  scene.pod('h', { namespace: 'red-web' });
  scene.pod('i', { namespace: 'shop' });
  scene.bench.converge();
  assert.deepEqual(
    ['labelled/a', 'shop/b', 'shop/c', 'labelled/d', 'shop/e', 'red-web/f', 'red-web/g', 'red-web/h', 'shop/i'].map((pod) => {
      const address = scene.addressOf(pod);
      return address?.split('.').slice(0, 3).join('.');
    }),
    ['10.11.0', undefined, '10.11.1', undefined, '10.11.2', '10.10.1', '10.10.2', '10.10.1', '10.16.0'],
  );
  scene.bench.edit('subnets', 'listing', { namespaceSelectors: [], namespaces: ['shop'] });
  scene.bench.converge();
  assert.equal(
    scene.addressOf('shop/b')?.startsWith('10.11.0.'),
    true,
    'the administrator lists the namespace, and the pod that waits is bound',
  );
});

test('the default Subnet of a Vpc admits the namespaces of the Vpc, also where it lists some of them', () => {
  const scene = new PodScene({ tenancy: 'namespaced' });
  scene.namespace('a');
  scene.namespace('b');
  scene.bench.put('vpcs', { metadata: { name: 'red' }, spec: { namespaces: ['a', 'b'], defaultSubnet: 'main' } });
  scene.subnet('main', { vpc: 'red', cidrBlock: '10.10.1.0/24', namespaces: ['a'] });
  scene.bench.converge();
  scene.pod('web', { namespace: 'a' });
  scene.pod('web', { namespace: 'b' });
  scene.bench.converge();
  for (const pod of ['a/web', 'b/web']) assert.match(scene.addressOf(pod) ?? '', /^10\.10\.1\./);
});

test('annotations of a Namespace and labels of a pod admit nothing', () => {
  const scene = twoTenants();
  const words = {
    'ovn.kubernetes.io/logical_switch': 'red-web',
    'ovn.kubernetes.io/ip_pool': 'red-pool',
    'kiln.io/admit-namespaces': 'shop',
  };
  scene.namespace('shop', { annotations: words });
  scene.bench.converge();
  scene.pod('web');
  scene.bench.converge();
  assert.match(scene.addressOf('shop/web') ?? '', /^10\.16\./);
  scene.namespace('shop', { annotations: { ...words, 'kiln.io/await-subnet': 'red-web', 'kiln.io/misbound': 'evict' } });
  scene.pod('next');
  scene.bench.converge();
  assert.equal(conditionOf(scene, 'shop/next')[1], 'WaitingForSubnet');
  assert.deepEqual(takenFromRed(scene), []);
});

test('a network of Namespace default is for all, one of another namespace for those that its Subnet lists', () => {
  const scene = twoTenants();
  scene.attachment('default/shared', 'kube-ovn');
  scene.subnet('shared', { cidrBlock: '10.12.0.0/24', provider: 'shared.default.ovn' });
  scene.bench.put('subnets', {
    metadata: { name: 'red-storage', annotations: { 'kiln.io/admit-namespaces': 'red-web,shop' } },
    spec: { cidrBlock: '10.10.3.0/24', provider: 'storage.red-web.ovn' },
  });
  scene.bench.converge();
  scene.pod('web', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'default/shared,red-web/storage' } });
  scene.bench.converge();
  assert.match(scene.annotations('shop/web')['shared.default.ovn.kubernetes.io/ip_address'] ?? '', /^10\.12\.0\./);
  assert.match(scene.annotations('shop/web')['storage.red-web.ovn.kubernetes.io/ip_address'] ?? '', /^10\.10\.3\./);
});

test('an IPPool that lists namespaces gives its addresses to these alone, by its name and by theirs', () => {
  const scene = new PodScene({ tenancy: 'namespaced' });
  scene.namespace('red-web');
  scene.bench.put('ippools', {
    metadata: { name: 'closed' },
    spec: { subnet: 'ovn-default', ips: ['10.16.0.50..10.16.0.60'], namespaces: ['red-web'] },
  });
  scene.bench.converge();
  scene.pod('pool', { annotations: { [`${ANNOTATION}/ip_pool`]: 'closed' } });
  scene.pod('address', { annotations: { [`${ANNOTATION}/ip_address`]: '10.16.0.55' } });
  scene.pod('list', { annotations: { [`${ANNOTATION}/ip_pool`]: '10.16.0.9,10.16.0.56' } });
  scene.pod('fine', { annotations: { [`${ANNOTATION}/ip_address`]: '10.16.0.70' } });
  scene.pod('own', { namespace: 'red-web' });
  scene.bench.converge();
  for (const pod of ['pool', 'address', 'list']) assert.equal(conditionOf(scene, `shop/${pod}`)[1], 'NamespaceNotAdmitted', pod);
  assert.deepEqual([scene.addressOf('shop/fine'), scene.addressOf('red-web/own')], ['10.16.0.70', '10.16.0.50']);
});

test('an IP object does not admit a pod to a Subnet that does not admit its namespace', () => {
  const scene = twoTenants();
  scene.bench.put('ips', {
    metadata: { name: 'web.shop' },
    spec: { podName: 'web', namespace: 'shop', subnet: 'red-web', ipAddress: '10.10.1.9' },
  });
  scene.bench.put('ips', {
    metadata: { name: 'kept.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } },
    spec: { podName: 'kept', namespace: 'shop', subnet: 'red-web', v4IpAddress: '10.10.1.10', ipAddress: '10.10.1.10' },
  });
  scene.bench.converge();
  assert.match(scene.bench.conditionText('ips', 'web.shop'), /^Accepted=False NamespaceNotAdmitted: /m);
  for (const name of ['web', 'kept']) scene.pod(name, { annotations: NAMED });
  scene.pod('kept-by-default');
  scene.bench.converge();
  for (const name of ['web', 'kept']) {
    assert.equal(conditionOf(scene, `shop/${name}`)[1], 'NamespaceNotAdmitted');
    assert.equal(scene.portAddresses(`${name}.shop`), undefined);
  }
});

/** A pod bound with `tenancy: open`, then a controller with `namespaced`. */
function turnedOn(scene: PodScene): PodScene {
  const bench = new RuleBench({ settings: { tenancy: 'namespaced' }, after: scene.bench });
  const after = Object.assign(Object.create(PodScene.prototype) as PodScene, { bench });
  bench.converge();
  return after;
}

test('a pod bound before the setting keeps its port and reports it; the next pod, also of a StatefulSet, is not admitted', () => {
  const before = twoTenants('open');
  before.statefulSet('db', 1);
  before.bench.converge();
  before.pod('web', { annotations: NAMED });
  before.pod('db-0', { annotations: NAMED, statefulSet: 'db' });
  before.pod('attached', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'red-web/storage' } });
  before.bench.converge();
  const portAddresses = ['web.shop', 'db-0.shop', 'attached.shop.storage.red-web.ovn'].map((port) => before.portAddresses(port));
  assert.ok(portAddresses.every((one) => one !== undefined));
  const scene = turnedOn(before);
  assert.deepEqual(
    ['web.shop', 'db-0.shop', 'attached.shop.storage.red-web.ovn'].map((port) => scene.portAddresses(port)),
    portAddresses,
  );
  for (const pod of ['web', 'db-0', 'attached']) {
    const [status, reason, message] = conditionOf(scene, `shop/${pod}`);
    assert.deepEqual([status, reason], ['True', 'NamespaceNotAdmitted'], message);
    assert.match(message, new RegExp(`kubectl delete pod -n shop ${pod}$`));
  }
  assert.equal(scene.bench.writesAfterRestart(), 0);
  for (const [pod, input] of [
    ['web', {}],
    ['db-0', { statefulSet: 'db' }],
  ] as const) {
    scene.bench.removeByForce('pods', `shop/${pod}`);
    scene.bench.converge();
    scene.pod(pod, { annotations: NAMED, ...input });
    scene.bench.converge();
    assert.deepEqual(conditionOf(scene, `shop/${pod}`).slice(0, 2), ['False', 'NamespaceNotAdmitted']);
    scene.bench.removeByForce('pods', `shop/${pod}`);
    scene.pod(pod, input);
    scene.bench.converge();
    assert.match(scene.addressOf(`shop/${pod}`) ?? '', /^10\.16\./, 'without the name of the Subnet it is bound in that of its namespace');
  }
});

test('a StatefulSet whose namespace was removed from the Subnet leaves it with the next pod, whatever the policy for misbound pods', () => {
  const scene = twoTenants();
  scene.bench.edit('vpcs', 'red', { namespaces: ['red-web', 'shop'] });
  scene.bench.edit('subnets', 'red-web', { namespaces: ['red-web', 'shop'] });
  scene.statefulSet('db', 1);
  scene.bench.converge();
  scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  assert.match(scene.addressOf('shop/db-0') ?? '', /^10\.10\.1\./);
  scene.bench.edit('subnets', 'red-web', { namespaces: ['red-web'] });
  scene.bench.edit('vpcs', 'red', { namespaces: ['red-web'] });
  scene.bench.converge();
  assert.match(scene.addressOf('shop/db-0') ?? '', /^10\.10\.1\./);
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.bench.converge();
  scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  assert.match(scene.addressOf('shop/db-0') ?? '', /^10\.16\./);
});

test('a virtual machine that runs in such a Subnet may migrate; after a stop and start it is not admitted', () => {
  const before = twoTenants('open');
  before.machine('vm');
  before.bench.converge();
  before.pod('launcher-a', { annotations: NAMED, machine: 'vm' });
  before.bench.converge();
  const portAddress = before.portAddresses('vm.shop');
  assert.ok(portAddress !== undefined);
  const scene = turnedOn(before);
  scene.pod('launcher-b', { annotations: NAMED, machine: 'vm' });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/launcher-b'), scene.addressOf('shop/launcher-a'));
  for (const pod of ['launcher-a', 'launcher-b']) scene.bench.removeByForce('pods', `shop/${pod}`);
  scene.bench.converge();
  scene.pod('launcher-c', { annotations: NAMED, machine: 'vm' });
  scene.bench.converge();
  assert.deepEqual(conditionOf(scene, 'shop/launcher-c').slice(0, 2), ['False', 'NamespaceNotAdmitted']);
});

test('ineffective tenancy annotations of a Subnet are reported on it', () => {
  const scene = new PodScene({ tenancy: 'namespaced' });
  const annotations = {
    'kiln.io/admit-namespaces': 'shop, nobody, a b',
    'kiln.io/allow-layer2-forward': 'yes',
    'kiln.io/allow-port-security-off': 'true',
  };
  scene.bench.put('subnets', { metadata: { name: 'net', annotations }, spec: { cidrBlock: '10.20.0.0/24' } });
  scene.bench.converge();
  const { status, message = '' } = scene.bench.condition('subnets', 'net', 'WithoutEffect') ?? {};
  assert.equal(status, 'True');
  for (const part of [
    /"nobody" does not exist/,
    /"a b" is a name that no namespace can have/,
    /allow-layer2-forward\] "yes" is neither true nor false/,
  ])
    assert.match(message, part);
  assert.doesNotMatch(message, /"shop"|port-security-off/);
});
