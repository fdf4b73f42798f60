import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';

function scene(): PodScene {
  const made = new PodScene();
  for (const name of ['blue', 'red']) made.bench.put('vpcs', { metadata: { name } });
  made.subnet('a', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  made.bench.converge();
  return made;
}

test('of two Subnets of different Vpcs that list one namespace, the second one reports which comes first, once', () => {
  const made = scene();
  const { bench } = made;
  made.subnet('b', { vpc: 'red', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  bench.converge();
  assert.equal(bench.condition('subnets', 'a', 'WithoutEffect'), undefined);
  const reported = bench.condition('subnets', 'b', 'WithoutEffect');
  assert.equal(reported?.reason, 'NamespaceOfAnotherVpc');
  assert.match(reported?.message ?? '', /^Subnet b: spec\.namespaces\[0\] "shop" has Subnet a of Vpc blue, which comes first; .*kubectl/);
  assert.deepEqual(
    bench.events.filter(({ reason }) => reason === 'NamespaceOfAnotherVpc').map(({ object, type }) => [object, type]),
    [['subnets/b', 'Warning']],
  );
  bench.edit('subnets', 'a', { namespaces: [] });
  bench.converge();
  assert.equal(bench.condition('subnets', 'b', 'WithoutEffect'), undefined);
});

test('a Vpc that claims a namespace of another one reports that; two Subnets of one Vpc, and one for attachments, report nothing', () => {
  const made = scene();
  const { bench } = made;
  bench.put('vpcs', { metadata: { name: 'late' }, spec: { namespaces: ['shop'] } });
  made.subnet('c', { vpc: 'blue', cidrBlock: '10.3.0.0/24', namespaces: ['shop'] });
  made.subnet('d', { vpc: 'red', cidrBlock: '10.4.0.0/24', namespaces: ['shop'], provider: 'net1.shop.ovn' });
  bench.converge();
  assert.equal(bench.condition('vpcs', 'late', 'WithoutEffect')?.reason, 'NamespaceOfAnotherVpc');
  for (const name of ['a', 'c', 'd']) assert.notEqual(bench.condition('subnets', name, 'WithoutEffect')?.reason, 'NamespaceOfAnotherVpc');
});

test('in a Vpc whose Subnets are all for attachments the own interface is in the default Subnet, the further one in the Vpc', () => {
  for (const tenancy of ['open', 'namespaced'] as const) {
    const made = new PodScene({ tenancy });
    const { bench } = made;
    bench.put('vpcs', { metadata: { name: 'tenant' }, spec: { namespaces: ['shop'] } });
    made.pod('early');
    bench.converge();
    assert.equal(made.addressOf('shop/early'), undefined, 'a Vpc without any Subnet may get one');
    made.attachment('shop/net', 'kube-ovn');
    made.subnet('net', { vpc: 'tenant', cidrBlock: '10.7.0.0/24', provider: 'net.shop.ovn' });
    made.subnet('other', { vpc: 'tenant', cidrBlock: '10.8.0.0/24', provider: 'other.shop' });
    made.pod('both', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'shop/net' } });
    bench.converge();
    assert.match(made.addressOf('shop/early') ?? '', /^10\.16\./, tenancy);
    assert.match(made.addressOf('shop/both') ?? '', /^10\.16\./);
    assert.match(made.annotations('shop/both')['net.shop.ovn.kubernetes.io/ip_address'] ?? '', /^10\.7\.0\./);
    assert.equal(bench.object('namespaces', 'shop')?.metadata.annotations?.['ovn.kubernetes.io/logical_switch'], 'ovn-default');

    // A Subnet for pods of the Vpc: the namespace belongs there, and what runs stays.
    made.subnet('own', { vpc: 'tenant', cidrBlock: '10.9.0.0/24' });
    made.pod('late');
    bench.converge();
    assert.equal(made.addressOf('shop/late'), undefined, 'it does not list the namespace');
    bench.edit('subnets', 'own', { namespaces: ['shop'] });
    bench.converge();
    assert.match(made.addressOf('shop/late') ?? '', /^10\.9\.0\./);
    assert.match(made.addressOf('shop/both') ?? '', /^10\.16\./);
    assert.equal(bench.writesAfterRestart(), 0);
  }
});

test('of two Vpcs that claim a namespace, one with Subnets for attachments alone does not end the wait for the other', () => {
  const made = new PodScene();
  const { bench } = made;
  bench.put('vpcs', { metadata: { name: 'attached' }, spec: { namespaces: ['shop'] } });
  bench.put('vpcs', { metadata: { name: 'empty' }, spec: { namespaces: ['shop'] } });
  made.subnet('net', { vpc: 'attached', cidrBlock: '10.7.0.0/24', provider: 'net.shop.ovn' });
  made.pod('web');
  bench.converge();
  assert.equal(made.addressOf('shop/web'), undefined);
  assert.match(bench.conditionText('pods', 'shop/web'), /Namespace shop belongs to Vpc empty, which has no Subnet for it/);
});
