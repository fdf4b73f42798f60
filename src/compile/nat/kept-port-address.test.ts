/** A router port that keeps its address after a wrong edit of the ConfigMap keeps it alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

for (const [what, nicIp] of [
  ['outside of the Subnet', '10.1.1.1/24'],
  ['no address', 'nonsense'],
  ['the address of an OvnEip', '172.20.0.50/24'],
] as const)
  for (const [before, first] of [
    ['by the ConfigMap', { 'nic-ip': '172.20.0.9/24' }],
    ['by an OvnEip', {}],
  ] as const)
    test(`nic-ip that is ${what}: nobody gets the address that the router port had ${before}, and the port has the right one after the edit`, () => {
      const made = new NatScene();
      const { bench } = made;
      made.eip('other', { v4Ip: '172.20.0.50' });
      const configure = (spec: Readonly<Record<string, string>>): void => {
        bench.put('configmaps', { metadata: { name: 'ovn-external-gw-config', namespace: 'kube-system' }, spec });
        bench.converge();
      };
      const networks = (): string => String(bench.row('Logical_Router_Port', 'ovn-cluster-external')?.['networks']);
      configure({ 'external-gw-nodes': 'gw1', ...first });
      const had = networks();
      const address = had.split('/', 1)[0] ?? '';
      configure({ 'external-gw-nodes': 'gw1', 'nic-ip': nicIp });
      assert.equal(networks(), had);
      made.pods.pod('thief', { annotations: { 'ovn.kubernetes.io/eip': address, 'ovn.kubernetes.io/logical_switch': 'ovn-default' } });
      made.eip('thief', { v4Ip: address });
      bench.converge();
      assert.deepEqual(bench.rows('NAT'), []);
      assert.equal(bench.condition('ovn-eips', 'thief', 'Accepted')?.reason, 'AddressConflict');
      configure({ 'external-gw-nodes': 'gw1', 'nic-ip': had });
      assert.equal(networks(), had);
      configure({ 'external-gw-nodes': 'gw1', 'nic-ip': '172.20.0.77/24' });
      assert.equal(networks(), '172.20.0.77/24');
      bench.delete('pods', 'shop/thief');
      bench.converge();
      assert.equal(bench.object('ovn-eips', 'thief')?.status?.['v4Ip'], address, 'the address is free now');
    });
