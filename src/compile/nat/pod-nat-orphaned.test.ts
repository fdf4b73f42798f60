/** The external Subnet is removed by force, and ConfigMap ovn-external-gw-config has the addresses of the router port: nothing reserves others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

const EIP = 'ovn.kubernetes.io/eip';

function scene(): NatScene {
  const made = new NatScene();
  made.bench.put('configmaps', {
    metadata: { name: 'ovn-external-gw-config', namespace: 'kube-system' },
    spec: { 'external-gw-nodes': 'gw1', 'nic-ip': '172.20.0.9/24' },
  });
  made.pods.namespace('bank');
  made.eip('e1', { v4Ip: '172.20.0.50' });
  made.bench.converge();
  return made;
}

function pod(made: NatScene, name: string, annotations: Readonly<Record<string, string>>): string {
  made.pods.pod(name, { namespace: 'bank', annotations });
  made.bench.converge();
  const { status = '', reason = '', message = '' } = made.bench.condition('pods', `bank/${name}`, 'kiln.io/Translated') ?? {};
  return `${status} ${reason} ${message}`;
}

test('a pod gets no address that an object of that Subnet still has, and says which; the address is its own once that is gone', () => {
  const made = scene();
  const { bench } = made;
  bench.removeByForce('subnets', 'external');
  bench.converge();
  for (const annotation of [EIP, 'ovn.kubernetes.io/snat'])
    assert.match(
      pod(made, `thief-${annotation.slice(-4).replace('/', '')}`, { [annotation]: '172.20.0.50' }),
      /^False AddressConflict .*: OvnEip e1 has 172\.20\.0\.50 of Subnet external, which was removed by force; name another address/,
    );
  // Also the router port of a Vpc has its address by an OvnEip.
  const port = String(bench.object('ovn-eips', 'blue-external')?.status?.['v4Ip']);
  assert.match(pod(made, 'thief2', { [EIP]: port }), /^False AddressConflict .*OvnEip blue-external/);
  assert.match(pod(made, 'thief3', { [EIP]: '172.20.0.9' }), /^False AddressConflict .*the external gateway itself/);
  assert.deepEqual(bench.rowIds('NAT'), []);
  assert.match(pod(made, 'web', { [EIP]: '172.20.0.60' }), /^True/);
  bench.delete('ovn-eips', 'e1');
  bench.delete('pods', 'bank/thief-snat');
  bench.converge();
  assert.equal(bench.condition('pods', 'bank/thief-eip', 'kiln.io/Translated')?.status, 'True');
  assert.equal(bench.writesAfterRestart(), 0);
});

test('what a pod has while there is no Subnet it keeps when the Subnet comes back: no other object is given it', () => {
  const made = scene();
  const { bench } = made;
  bench.removeByForce('subnets', 'external');
  bench.converge();
  assert.match(pod(made, 'web', { [EIP]: '172.20.0.60' }), /^True/);
  made.pods.subnet('external', { cidrBlock: '172.20.0.0/24', vpc: 'outside' });
  made.eip('late', { v4Ip: '172.20.0.60' });
  bench.converge();
  assert.equal(bench.condition('ovn-eips', 'late', 'Accepted')?.reason, 'AddressConflict');
  assert.equal(bench.condition('pods', 'bank/web', 'kiln.io/Translated')?.status, 'True');
  assert.match(String(bench.object('subnets', 'external')?.status?.['v4usingIPrange']), /172\.20\.0\.60/);
  assert.equal(bench.writesAfterRestart(), 0);
});
