/** External addresses that no object has are in use all the same: those of pods with annotations, and of the router port by the ConfigMap. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { subnetCounts } from '../kinds/subnet/invariants/subnet-counts.ts';
import { NatScene } from '../testing/nat-scene.ts';
import { addressHolders } from './address-holders.ts';

test('I1 and I2 count the addresses of pods outside and of the router port', () => {
  const made = new NatScene();
  const { bench } = made;
  bench.put('configmaps', {
    metadata: { name: 'ovn-external-gw-config', namespace: 'kube-system' },
    spec: { 'external-gw-nodes': 'gw1', 'nic-ip': '172.20.0.9/24' },
  });
  made.pods.namespace('bank');
  const annotations = { 'ovn.kubernetes.io/eip': '172.20.0.50', 'ovn.kubernetes.io/snat': '172.20.0.60' };
  for (const name of ['web', 'api']) made.pods.pod(name, { namespace: 'bank', annotations });
  bench.converge();
  const using = (): unknown => bench.object('subnets', 'external')?.status?.['v4usingIPrange'];
  const wrong = (): readonly unknown[] => subnetCounts(bench.world, addressHolders(bench.world)).map(({ message }) => message);
  assert.deepEqual([using(), wrong()], ['172.20.0.2,172.20.0.9,172.20.0.50,172.20.0.60', []]);
  for (const name of ['web', 'api']) bench.delete('pods', `bank/${name}`);
  bench.converge();
  assert.deepEqual([using(), wrong()], ['172.20.0.2,172.20.0.9', []]);
});
