/**
 * An IPPool that lists namespaces is a boundary with both settings of `--tenancy`: pods of other namespaces get none of its addresses,
 * whichever annotation requests one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodInput } from '../../../testing/pod-scene.ts';
import { PodScene } from '../../../testing/pod-scene.ts';
import type { Tenancy } from '../../../world/settings.ts';

const BOUND = 'kiln.io/NetworkBound';
const KEY = 'ovn.kubernetes.io';

/** IPPool `red` of the default Subnet, and `red-net` of an attached one, are for Namespace `red`; Namespace `shop` is another tenant's. */
function sharedSubnets(tenancy: Tenancy): PodScene {
  const scene = new PodScene({ tenancy });
  scene.namespace('red');
  scene.attachment('default/net', 'kube-ovn');
  scene.attachment('default/vlan', 'ipam-only');
  scene.subnet('net', { cidrBlock: '10.20.0.0/24', provider: 'net.default.ovn' });
  scene.subnet('vlan', { cidrBlock: '10.21.0.0/24', provider: 'vlan.default' });
  pool(scene, 'red', 'ovn-default', '10.16.0.50..10.16.0.60');
  pool(scene, 'red-net', 'net', '10.20.0.50..10.20.0.60');
  pool(scene, 'red-vlan', 'vlan', '10.21.0.50..10.21.0.60');
  vip(scene, 'held', { v4ip: '10.16.0.52' });
  scene.bench.converge();
  scene.statefulSet('db', 2);
  scene.machine('vm');
  scene.bench.converge();
  return scene;
}

function pool({ bench }: PodScene, name: string, subnet: string, range: string): void {
  bench.put('ippools', { metadata: { name }, spec: { subnet, ips: [range], namespaces: ['red'] } });
}

function vip({ bench }: PodScene, name: string, spec: object): void {
  bench.put('vips', { metadata: { name }, spec: { subnet: 'ovn-default', ...spec } });
}

const NETWORKS = 'k8s.v1.cni.cncf.io/networks';
const REQUESTS: Readonly<Record<string, PodInput>> = {
  'its name': { annotations: { [`${KEY}/ip_pool`]: 'red' } },
  'its name beside the Subnet': { annotations: { [`${KEY}/ip_pool`]: 'red', [`${KEY}/logical_switch`]: 'ovn-default' } },
  'an address': { annotations: { [`${KEY}/ip_address`]: '10.16.0.55' } },
  'an address with a prefix': { annotations: { [`${KEY}/ip_address`]: '10.16.0.55/16' } },
  'a list': { annotations: { [`${KEY}/ip_pool`]: '10.16.0.9,10.16.0.56' } },
  'a list, in a StatefulSet': { annotations: { [`${KEY}/ip_pool`]: '10.16.0.56;10.16.0.9' }, statefulSet: 'db' },
  'its name, in a virtual machine': { annotations: { [`${KEY}/ip_pool`]: 'red' }, machine: 'vm' },
  'an address, in a virtual machine': { annotations: { [`${KEY}/ip_address`]: '10.16.0.55' }, machine: 'vm' },
  'an address, in a ReplicaSet': { annotations: { [`${KEY}/ip_address`]: '10.16.0.55' }, replicaSet: 'web' },
  'a Vip': { annotations: { [`${KEY}/vip`]: 'held' } },
  'its name, on an attached network': { annotations: { [NETWORKS]: 'default/net', [`net.default.ovn.kubernetes.io/ip_pool`]: 'red-net' } },
  'an address, on an attached network': {
    annotations: { [NETWORKS]: 'default/net', [`net.default.ovn.kubernetes.io/ip_address`]: '10.20.0.55' },
  },
  'an address in the list of networks': {
    annotations: { [NETWORKS]: JSON.stringify([{ name: 'net', namespace: 'default', ips: ['10.20.0.55'] }]) },
  },
  'an address, on a network for addresses alone': {
    annotations: { [NETWORKS]: 'default/vlan', [`vlan.default.kubernetes.io/ip_address`]: '10.21.0.55' },
  },
  'forged annotations of an allocated address': {
    annotations: {
      [`${KEY}/allocated`]: 'true',
      [`${KEY}/logical_switch`]: 'ovn-default',
      [`${KEY}/ip_address`]: '10.16.0.55',
      [`${KEY}/mac_address`]: '0a:00:00:00:00:77',
    },
  },
};

test('an attached interface gets an address of the IPPool of its namespace only by naming it; its own interface gets one without', () => {
  const scene = sharedSubnets('open');
  const named = 'net.default.ovn.kubernetes.io/ip_pool';
  scene.pod('unnamed', { namespace: 'red', annotations: { [NETWORKS]: 'default/net' } });
  scene.pod('named', { namespace: 'red', annotations: { [NETWORKS]: 'default/net', [named]: 'red-net' } });
  scene.pod('other', { annotations: { [NETWORKS]: 'default/net' } });
  scene.bench.converge();
  const addressOf = (ip: string): string => String(scene.bench.object('ips', ip)?.spec['v4IpAddress']);
  for (const pod of ['unnamed.red', 'named.red']) assert.match(addressOf(pod), /^10\.16\.0\.5\d$/);
  assert.match(addressOf('named.red.net.default.ovn'), /^10\.20\.0\.5\d$/);
  // The boundary of the pool applies here too: an interface gets its addresses only if the pod names it.
  for (const pod of ['unnamed.red', 'other.shop']) assert.match(addressOf(`${pod}.net.default.ovn`), /^10\.20\.0\.\d$/);
});

for (const tenancy of ['open', 'namespaced'] as const) {
  for (const [request, input] of Object.entries(REQUESTS))
    test(`${tenancy}: a pod of another namespace gets no address of an IPPool by ${request}; one of its namespace does`, () => {
      const scene = sharedSubnets(tenancy);
      scene.pod('db-0', input);
      scene.bench.converge();
      const { status, reason, message = '' } = scene.bench.condition('pods', 'shop/db-0', BOUND) ?? {};
      assert.deepEqual([status, reason], ['False', 'NamespaceNotAdmitted'], message);
      assert.match(message, /IPPool red(-net|-vlan)?\b.*Namespace shop.*kubectl edit ippool red/);
      assert.ok(scene.bench.events.some((event) => event.object === 'pods/shop/db-0' && event.reason === 'NamespaceNotAdmitted'));
      assert.deepEqual(
        Array.from(scene.bench.world.ips.entries(), ([name]) => name).filter((name) => /^(db-0|vm)\./.test(name)),
        [],
      );
      if (input.machine !== undefined || input.statefulSet !== undefined) return;
      scene.pod('db-0', { ...input, namespace: 'red' });
      scene.bench.converge();
      assert.equal(scene.bench.condition('pods', 'red/db-0', BOUND)?.status ?? 'True', 'True');
      assert.notEqual(scene.portAddresses('db-0.red'), undefined);
    });

  test(`${tenancy}: a pod that waits for the pool of others is bound when the pool lists its namespace, or lists none`, () => {
    for (const namespaces of [['red', 'shop'], []]) {
      const scene = sharedSubnets(tenancy);
      scene.pod('web', { annotations: { [`${KEY}/ip_address`]: '10.16.0.55' } });
      scene.bench.converge();
      assert.equal(scene.portAddresses('web.shop'), undefined);
      scene.bench.edit('ippools', 'red', { subnet: 'ovn-default', ips: ['10.16.0.50..10.16.0.60'], namespaces });
      scene.bench.converge();
      assert.match(String(scene.portAddresses('web.shop')), / 10\.16\.0\.55$/);
    }
  });

  test(`${tenancy}: a pod with an address from before the pool keeps it; the next pod of its StatefulSet gets another`, () => {
    const scene = new PodScene({ tenancy });
    scene.namespace('red');
    scene.statefulSet('db', 1);
    scene.bench.converge();
    scene.pod('db-0', { statefulSet: 'db' });
    scene.bench.converge();
    const address = scene.addressOf('shop/db-0') ?? '';
    pool(scene, 'red', 'ovn-default', `${address}..10.16.0.60`);
    scene.bench.converge();
    assert.equal(scene.addressOf('shop/db-0'), address);
    scene.bench.removeByForce('pods', 'shop/db-0');
    scene.bench.converge();
    scene.pod('db-0', { statefulSet: 'db' });
    scene.bench.converge();
    const next = scene.addressOf('shop/db-0');
    assert.ok(next !== undefined && next !== address, next);
  });

  test(`${tenancy}: an IP object and a Vip for pods of another namespace get no address of the pool, and a condition reports it`, () => {
    const scene = sharedSubnets(tenancy);
    scene.bench.put('ips', {
      metadata: { name: 'web.shop' },
      spec: { podName: 'web', namespace: 'shop', subnet: 'ovn-default', ipAddress: '10.16.0.55' },
    });
    scene.bench.put('ips', {
      metadata: { name: 'web.red' },
      spec: { podName: 'web', namespace: 'red', subnet: 'ovn-default', ipAddress: '10.16.0.56' },
    });
    vip(scene, 'of-shop', { v4ip: '10.16.0.57', namespace: 'shop' });
    vip(scene, 'of-red', { v4ip: '10.16.0.58', namespace: 'red' });
    vip(scene, 'of-none', { v4ip: '10.16.0.59' });
    scene.bench.converge();
    const reason = (resource: 'ips' | 'vips', name: string): string | undefined => {
      const accepted = scene.bench.condition(resource, name, 'Accepted');
      return accepted?.status === 'False' ? accepted.reason : undefined;
    };
    assert.deepEqual(
      [reason('ips', 'web.shop'), reason('ips', 'web.red'), reason('vips', 'of-shop'), reason('vips', 'of-red'), reason('vips', 'of-none')],
      ['NamespaceNotAdmitted', undefined, 'NamespaceNotAdmitted', undefined, undefined],
    );
  });
}

test('the oldest pod that names a Vip and may not have its address keeps it from no other pod', () => {
  const scene = sharedSubnets('open');
  scene.pod('first', { annotations: { [`${KEY}/vip`]: 'held' } });
  scene.bench.converge();
  scene.pod('second', { annotations: { [`${KEY}/vip`]: 'held' }, namespace: 'red' });
  scene.bench.converge();
  assert.equal(scene.addressOf('red/second'), '10.16.0.52');
  assert.equal(scene.bench.condition('pods', 'shop/first', BOUND)?.reason, 'NamespaceNotAdmitted');
});

for (const metadata of [{ labels: { [`${KEY}/ip_reserved`]: 'true' } }, {}])
  test(`a pod whose reserved address came into an IPPool of others reports it, and is bound once it may have it (${JSON.stringify(metadata)})`, () => {
    for (const remedy of ['no pool', 'admitted', 'no reservation']) {
      const scene = new PodScene();
      const { bench } = scene;
      scene.namespace('red');
      const spec = { podName: 'web', namespace: 'shop', subnet: 'ovn-default', v4IpAddress: '10.16.0.55' };
      bench.put('ips', { metadata: { name: 'web.shop', ...metadata }, spec });
      bench.converge();
      pool(scene, 'red', 'ovn-default', '10.16.0.50..10.16.0.60');
      bench.converge();
      scene.pod('web');
      bench.converge();
      assert.equal(scene.addressOf('shop/web'), undefined);
      const waits = bench.condition('pods', 'shop/web', BOUND);
      assert.deepEqual([waits?.status, waits?.reason], ['False', 'NamespaceNotAdmitted']);
      assert.match(
        waits?.message ?? '',
        /IP web\.shop: address 10\.16\.0\.55 is of IPPool red,.*kubectl edit ippool red;.*kubectl delete ip web\.shop$/,
      );
      if (remedy === 'no pool') bench.delete('ippools', 'red');
      else if (remedy === 'admitted') bench.edit('ippools', 'red', { namespaces: ['red', 'shop'] });
      else bench.delete('ips', 'web.shop');
      bench.converge();
      const address = scene.addressOf('shop/web');
      if (remedy === 'no reservation') assert.match(address ?? '', /^10\.16\.0\.\d$/);
      else assert.equal(address, '10.16.0.55', remedy);
    }
  });
