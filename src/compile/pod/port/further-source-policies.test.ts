import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

function scene(): PodScene {
  const made = new PodScene();
  made.subnet('net', { cidrBlock: '10.50.0.0/24,fd50::/112', namespaces: ['shop'] });
  made.bench.put('vips', { metadata: { name: 'v1' }, spec: { subnet: 'net', namespace: 'shop', v4ip: '10.50.0.100', v6ip: 'fd50::100' } });
  made.bench.converge();
  return made;
}

function policies({ bench }: PodScene): readonly unknown[] {
  return bench
    .rows('Logical_Router_Policy')
    .filter(({ match }) => String(match).includes('_further_v'))
    .map(({ priority, match, nexthops }) => [priority, match, nexthops]);
}

const sets = ({ bench }: PodScene): readonly unknown[] => bench.rows('Address_Set').map(({ name, addresses }) => [name, addresses]);

test('what a port may send from beside its own addresses leaves a distributed Subnet by its node, and ends with the pod', () => {
  const made = scene();
  made.pod('a', { annotations: { 'ovn.kubernetes.io/aaps': 'v1' } });
  made.pod('b', { annotations: { 'ovn.kubernetes.io/port_vips': '10.50.0.101,10.9.9.9,0.0.0.0/0' } });
  made.bench.converge();
  const node = made.bench.object('nodes', 'n1')?.metadata.annotations?.['ovn.kubernetes.io/ip_address'];
  assert.deepEqual(sets(made), [['net.n1_further_v4', ['10.50.0.100', '10.50.0.101']]]);
  // No IPv6 policy: the join Subnet of the scene is IPv4 only.
  assert.deepEqual(policies(made), [[29000, 'ip4.src == $net.n1_further_v4', [node]]]);
  made.bench.delete('pods', 'shop/a');
  made.bench.converge();
  assert.deepEqual(sets(made), [['net.n1_further_v4', ['10.50.0.101']]]);
  made.bench.delete('pods', 'shop/b');
  made.bench.converge();
  assert.deepEqual([sets(made), policies(made)], [[], []]);
});

test('a centralized Subnet, and a pod with a gateway of its own, need none', () => {
  const made = scene();
  made.pod('a', { annotations: { 'ovn.kubernetes.io/aaps': 'v1', 'ovn.kubernetes.io/north_gateway': '10.50.0.9' } });
  made.bench.converge();
  assert.deepEqual(sets(made), []);
  made.pod('b', { annotations: { 'ovn.kubernetes.io/aaps': 'v1' } });
  made.bench.converge();
  assert.notDeepEqual(sets(made), []);
  made.bench.edit('subnets', 'net', { gatewayType: 'centralized', gatewayNode: 'n1' });
  made.bench.converge();
  assert.deepEqual([sets(made), policies(made)], [[], []]);
});

test('a pod whose annotations name the Subnet, and that has no port there, adds no address', () => {
  const made = scene();
  made.subnet('other', { cidrBlock: '10.51.0.0/24', namespaces: ['else'] });
  made.namespace('else');
  made.pod('liar', {
    namespace: 'else',
    annotations: {
      'ovn.kubernetes.io/port_vips': '10.50.0.7',
      'other.else.kubernetes.io/allocated': 'true',
      'other.else.kubernetes.io/logical_switch': 'net',
    },
  });
  made.bench.converge();
  assert.deepEqual(sets(made), []);
});

test('the set keeps its addresses while the Subnet is frozen, and after it was removed by force', () => {
  const ways: Readonly<Record<string, (made: PodScene) => void>> = {
    invalid: ({ bench }) => bench.edit('subnets', 'net', { cidrBlock: '10.50.0.0/40' }),
    vpc: ({ bench }) => bench.edit('subnets', 'net', { vpc: 'nope' }),
    provider: ({ bench }) => bench.edit('subnets', 'net', { provider: 'x.y' }),
    'removed by force': ({ bench }) => bench.removeByForce('subnets', 'net'),
  };
  for (const [way, change] of Object.entries(ways)) {
    const made = scene();
    made.pod('a', { annotations: { 'ovn.kubernetes.io/aaps': 'v1', 'ovn.kubernetes.io/port_vips': '10.50.0.101' } });
    made.bench.converge();
    const before = [sets(made), policies(made)];
    assert.deepEqual(before[0], [['net.n1_further_v4', ['10.50.0.100', '10.50.0.101']]]);
    change(made);
    made.bench.converge();
    assert.deepEqual([sets(made), policies(made)], before, way);
    assert.equal(made.bench.writesAfterRestart(), 0, way);
    // The set follows the pods again once the Subnet is in effect.
    made.bench.delete('pods', 'shop/a');
    made.subnet('net', { cidrBlock: '10.50.0.0/24,fd50::/112', namespaces: ['shop'] });
    made.bench.converge();
    assert.deepEqual([sets(made), policies(made)], [[], []], way);
  }
});

test('an address that another claimant has gets no policy for the pod that lists it, whichever comes first, and the pod is told', () => {
  const made = scene();
  const { bench } = made;
  made.namespace('red');
  made.subnet('net', { cidrBlock: '10.50.0.0/24,fd50::/112', namespaces: ['shop', 'red'] });
  bench.put('vips', { metadata: { name: 'theirs' }, spec: { subnet: 'net', namespace: 'red', v4ip: '10.50.0.110' } });
  bench.put('vips', { metadata: { name: 'ours' }, spec: { subnet: 'net', namespace: 'shop', v4ip: '10.50.0.111' } });
  bench.put('vips', { metadata: { name: 'all' }, spec: { subnet: 'net', v4ip: '10.50.0.112' } });
  bench.put('ippools', { metadata: { name: 'red' }, spec: { subnet: 'net', ips: ['10.50.0.120..10.50.0.129'], namespaces: ['red'] } });
  made.pod('b', { namespace: 'red', annotations: { 'ovn.kubernetes.io/ip_address': '10.50.0.130,fd50::130' } });
  bench.converge();
  // Of another pod, of another namespace's Vip and IPPool, and the gateway; then Vips of its namespace and of all, a free address.
  const listed = ['10.50.0.130', '10.50.0.110', '10.50.0.120', '10.50.0.1', '10.50.0.111', '10.50.0.112', '10.50.0.140'];
  made.pod('a', { annotations: { 'ovn.kubernetes.io/port_vips': listed.join(','), 'ovn.kubernetes.io/port_security': 'true' } });
  bench.converge();
  assert.deepEqual(sets(made), [['net.n1_further_v4', ['10.50.0.111', '10.50.0.112', '10.50.0.140']]]);
  assert.match(String(bench.list('Logical_Switch_Port', 'a.shop', 'port_security')), / 10\.50\.0\.130 /);
  const told = bench.conditionText('pods', 'shop/a');
  for (const one of listed.slice(0, 4)) assert.ok(told.includes(`lists ${one}, which has no gateway at this port`), told);
  for (const one of listed.slice(4)) assert.ok(!told.includes(`lists ${one},`), told);
  // Another pod gets an address that the first one lists, and gives it back.
  made.pod('c', { namespace: 'red', annotations: { 'ovn.kubernetes.io/ip_address': '10.50.0.140,fd50::140' } });
  bench.converge();
  assert.deepEqual(sets(made), [['net.n1_further_v4', ['10.50.0.111', '10.50.0.112']]]);
  bench.delete('pods', 'red/c');
  bench.converge();
  assert.deepEqual(sets(made), [['net.n1_further_v4', ['10.50.0.111', '10.50.0.112', '10.50.0.140']]]);
});

test('a network of one address is an address; a wider one in the Subnet has no policy, and the pod is told', () => {
  const made = scene();
  made.pod('a', { annotations: { 'ovn.kubernetes.io/port_vips': '10.50.0.77/32,10.50.0.128/28,10.9.0.0/24,0.0.0.0/0' } });
  made.bench.converge();
  assert.deepEqual(sets(made), [['net.n1_further_v4', ['10.50.0.77']]]);
  const told = made.bench.conditionText('pods', 'shop/a');
  assert.deepEqual(told.match(/lists [^,]+/g), ['lists network 10.50.0.128/28']);
});
