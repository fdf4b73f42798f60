/** The address of a node in an underlay Subnet is nobody else's: not a pod's, not the router's, not an OvnEip's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain } from '../explain/explanation.ts';
import { addressHolders } from '../invariants/address-holders.ts';
import { subnetCounts } from '../kinds/subnet/invariants/subnet-counts.ts';
import { rowId } from '../nb/row-id.ts';
import { PodScene } from '../testing/pod-scene.ts';

function scene(spec: object, settings: ConstructorParameters<typeof PodScene>[0] = {}): PodScene {
  const made = new PodScene(settings);
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

test('a pod and an OvnEip get another address, and a request for it is told which node has it', () => {
  const made = scene({});
  const { bench } = made;
  made.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'under' } });
  bench.put('ovn-eips', { metadata: { name: 'e1' }, spec: { externalSubnet: 'under' } });
  bench.put('ovn-eips', { metadata: { name: 'e2' }, spec: { externalSubnet: 'under', v4Ip: '192.168.1.11' } });
  bench.converge();
  const given = [bench.object('ips', 'web.shop')?.spec['v4IpAddress'], bench.object('ovn-eips', 'e1')?.status?.['v4Ip']];
  assert.deepEqual(given.map(String).toSorted(), ['192.168.1.3', '192.168.1.4']);
  assert.match(bench.condition('ovn-eips', 'e2', 'Accepted')?.message ?? '', /192\.168\.1\.11 .* is held by node n1/);
  // The nodes are hosts of the network, and nothing is wrong with that.
  assert.equal(bench.condition('subnets', 'under', 'WithoutEffect'), undefined);
  const { v4usingIPs, v4availableIPs, v4availableIPrange } = bench.object('subnets', 'under')?.status ?? {};
  assert.deepEqual([v4usingIPs, v4availableIPs, v4availableIPrange].map(String), [
    '2',
    '9',
    '192.168.1.5-192.168.1.10,192.168.1.12-192.168.1.14',
  ]);
  assert.deepEqual(subnetCounts(bench.world, addressHolders(bench.world)), []);
  bench.delete('nodes', 'n1');
  bench.edit('subnets', 'under', { excludeIps: ['192.168.1.2'] });
  bench.converge();
  assert.equal(bench.object('ovn-eips', 'e2')?.status?.['v4Ip'], '192.168.1.11');
  assert.equal(String(bench.object('subnets', 'under')?.status?.['v4availableIPs']), '9');
  assert.equal(bench.writesAfterRestart(), 0);
});

test('a pod, a Vip and an IP object that ask for the address of a node are told so', () => {
  const made = scene({});
  const { bench } = made;
  made.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'under', 'ovn.kubernetes.io/ip_address': '192.168.1.2' } });
  bench.put('vips', { metadata: { name: 'v1' }, spec: { subnet: 'under', v4ip: '192.168.1.2' } });
  bench.put('ips', {
    metadata: { name: 'kept.shop' },
    spec: { subnet: 'under', podName: 'kept', namespace: 'shop', ipAddress: '192.168.1.2' },
  });
  bench.converge();
  const told = [
    bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.message,
    bench.condition('vips', 'v1', 'Accepted')?.message,
    bench.condition('ips', 'kept.shop', 'Accepted')?.message,
  ];
  for (const message of told) assert.match(message ?? '', /192\.168\.1\.2 .* is held by node n2/);
  assert.equal(bench.condition('subnets', 'under', 'AddressConflict'), undefined);
});

test('a pod may not send from the address of a node that it lists in port_vips', () => {
  const made = scene({ namespaces: ['shop'] }, { tenancy: 'namespaced' });
  const { bench } = made;
  made.pod('web', {
    annotations: { 'ovn.kubernetes.io/logical_switch': 'under', 'ovn.kubernetes.io/port_vips': '192.168.1.2,192.168.1.9' },
  });
  bench.converge();
  assert.equal(bench.row('Logical_Switch_Port', 'web.shop'), undefined);
  assert.match(bench.conditionText('pods', 'shop/web'), /192\.168\.1\.2.* is that of node n2/s);
});

test('kiln explain names the nodes whose addresses a Subnet has, and the Subnet of a node', () => {
  const { bench } = scene({});
  const counts = (resource: 'subnets' | 'nodes', name: string): readonly string[] =>
    explain(bench.world, resource, bench.object(resource, name) ?? assert.fail(), {
      limits: { children: 3 },
      rows: false,
      unimplemented: () => undefined,
    }).counts;
  assert.deepEqual(counts('subnets', 'under'), [
    'IPv4 0 in use, 11 free',
    'of nodes, not given to others: 192.168.1.2 (node n2), 192.168.1.11 (node n1)',
  ]);
  assert.deepEqual(counts('nodes', 'n2'), ['192.168.1.2 in Subnet under, not given to others']);
});

test('a port of another program beside nodes is told of alone', () => {
  const { bench } = scene({});
  bench.foreignRow(
    'Logical_Switch_Port',
    '11111111-1111-4111-8111-111111111111',
    { name: 'stray', type: '', addresses: ['0a:00:00:00:00:01 192.168.1.7'] },
    { table: 'Logical_Switch', uuid: bench.world.rows.state(rowId('Logical_Switch', 'under'))?.uuid ?? '', column: 'ports' },
  );
  bench.converge();
  const { reason, message = '' } = bench.condition('subnets', 'under', 'WithoutEffect') ?? assert.fail();
  assert.equal(reason, 'AddressesOfOthers');
  assert.match(message, /has 1 address that ports of other programs in its switch have: 192\.168\.1\.7;/);
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
