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
