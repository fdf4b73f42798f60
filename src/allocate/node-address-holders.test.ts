/** The address of a node in an underlay Subnet is nobody else's: not a pod's, not the router's, not an OvnEip's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../testing/pod-scene.ts';

function scene(spec: object): PodScene {
  const made = new PodScene();
  const { bench } = made;
  bench.put('provider-networks', { metadata: { name: 'net1' }, spec: { defaultInterface: 'eth1' } });
  bench.put('vlans', { metadata: { name: 'vlan1' }, spec: { id: 0, provider: 'net1' } });
  made.subnet('under', { cidrBlock: '192.168.1.0/28', gateway: '192.168.1.1', vlan: 'vlan1', ...spec });
  node(made, 'n2', '192.168.1.2');
  bench.converge();
  return made;
}

/** A kubelet reports an address. */
function node({ bench }: PodScene, name: string, address: string): void {
  bench.put('nodes', {
    metadata: { name, annotations: bench.object('nodes', name)?.metadata.annotations ?? {} },
    spec: {},
    status: { addresses: [{ type: 'InternalIP', address }] },
  });
}

test('a pod and an OvnEip get another address, a request for it is told why, and the Subnet names it', () => {
  const made = scene({});
  const { bench } = made;
  made.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'under' } });
  bench.put('ovn-eips', { metadata: { name: 'e1' }, spec: { externalSubnet: 'under' } });
  bench.put('ovn-eips', { metadata: { name: 'e2' }, spec: { externalSubnet: 'under', v4Ip: '192.168.1.11' } });
  bench.converge();
  const given = [bench.object('ips', 'web.shop')?.spec['v4IpAddress'], bench.object('ovn-eips', 'e1')?.status?.['v4Ip']];
  assert.deepEqual(given.map(String).toSorted(), ['192.168.1.3', '192.168.1.4']);
  assert.match(bench.condition('ovn-eips', 'e2', 'Accepted')?.message ?? '', /192\.168\.1\.11 .* is held by node n1/);
  const { reason, message = '' } = bench.condition('subnets', 'under', 'WithoutEffect') ?? assert.fail();
  assert.equal(reason, 'AddressesOfOthers');
  assert.match(message, /has 2 addresses that ports of other programs in its switch, or nodes, have: 192\.168\.1\.2, 192\.168\.1\.11;/);
  assert.equal(String(bench.object('subnets', 'under')?.status?.['v4usingIPs']), '2');
  bench.delete('nodes', 'n1');
  bench.edit('subnets', 'under', { excludeIps: ['192.168.1.2'] });
  bench.converge();
  assert.equal(bench.object('ovn-eips', 'e2')?.status?.['v4Ip'], '192.168.1.11');
  assert.equal(bench.condition('subnets', 'under', 'WithoutEffect'), undefined);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('the router of a Subnet with u2oInterconnection gets another address', () => {
  const made = scene({ u2oInterconnection: true });
  assert.deepEqual(made.bench.row('Logical_Router_Port', 'ovn-cluster-under')?.['networks'], ['192.168.1.3/28']);
});

test('what has the address of a node that comes later keeps it', () => {
  const made = scene({});
  const { bench } = made;
  made.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'under' } });
  bench.converge();
  node(made, 'n3', '192.168.1.3');
  bench.converge();
  assert.equal(bench.object('ips', 'web.shop')?.spec['v4IpAddress'], '192.168.1.3');
  assert.equal(bench.condition('subnets', 'under', 'AddressConflict'), undefined);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('an overlay Subnet of a custom Vpc may have the numbers of nodes', () => {
  const made = scene({});
  const { bench } = made;
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['shop'] } });
  made.subnet('inside', { cidrBlock: '192.168.1.0/28', vpc: 'blue' });
  made.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'inside' } });
  bench.converge();
  assert.equal(bench.object('ips', 'web.shop')?.spec['v4IpAddress'], '192.168.1.2');
});
