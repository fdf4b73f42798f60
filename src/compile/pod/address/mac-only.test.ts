import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const MAC = '0a:00:00:00:00:07';

function scene(): PodScene {
  const made = new PodScene();
  made.bench.put('provider-networks', { metadata: { name: 'net1' }, spec: { defaultInterface: 'eth1' } });
  made.bench.put('vlans', { metadata: { name: 'v1' }, spec: { id: 0, provider: 'net1' } });
  made.subnet('flat', { vlan: 'v1', namespaces: ['shop'] });
  made.bench.converge();
  return made;
}

const port = ({ bench }: PodScene, name: string): unknown => bench.row('Logical_Switch_Port', name)?.['addresses'];

test('a pod in a Subnet without a network gets a MAC, keeps it, and a drift of it is repaired', () => {
  const made = scene();
  const { bench } = made;
  made.pod('web');
  bench.converge();
  const ip = bench.object('ips', 'web.shop') ?? assert.fail();
  const mac = String((ip.spec as { readonly macAddress?: string }).macAddress);
  assert.deepEqual(port(made, 'web.shop'), [mac]);
  assert.equal(bench.object('pods', 'shop/web')?.metadata.annotations?.['ovn.kubernetes.io/mac_address'], mac);
  assert.equal(bench.writesAfterRestart(), 0);
  bench.removeNamedRow('Logical_Switch_Port', 'web.shop');
  bench.converge();
  assert.deepEqual([port(made, 'web.shop'), bench.object('ips', 'web.shop')?.metadata.uid], [[mac], ip.metadata.uid]);
  bench.removeByForce('ips', 'web.shop');
  bench.converge();
  assert.equal((bench.object('ips', 'web.shop')?.spec as { readonly macAddress?: string } | undefined)?.macAddress, mac);
  bench.delete('pods', 'shop/web');
  bench.converge();
  assert.deepEqual([bench.object('ips', 'web.shop'), port(made, 'web.shop')], [undefined, undefined]);
});

test('the same for a MAC that the pod requests, and for the next pod of a StatefulSet', () => {
  const made = scene();
  const { bench } = made;
  made.pod('asked', { annotations: { 'ovn.kubernetes.io/mac_address': MAC } });
  bench.put('statefulsets', { metadata: { name: 'db', namespace: 'shop' }, spec: { replicas: 1, template: { metadata: {} } } });
  made.pod('db-0', { statefulSet: 'db' });
  bench.converge();
  assert.deepEqual(port(made, 'asked.shop'), [MAC]);
  const before = port(made, 'db-0.shop');
  assert.ok(before !== undefined);
  bench.delete('pods', 'shop/db-0');
  bench.converge();
  made.pod('db-0', { statefulSet: 'db' });
  bench.converge();
  assert.deepEqual(port(made, 'db-0.shop'), before);
  assert.equal(bench.writesAfterRestart(), 0);
});
