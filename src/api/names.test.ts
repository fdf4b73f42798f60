import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  attachmentProvider,
  clusterLoadBalancer,
  furtherAddressSet,
  ipPoolAddressSet,
  ipPoolAddressSetV6,
  isOvnProvider,
  nodePortGroup,
  nodePortName,
  parseProvider,
  peerPort,
  portGroupAddressSet,
  portName,
  routerToSwitchPort,
  subnetNodePortGroup,
  subnetProvider,
  switchToRouterPort,
  vpcLoadBalancer,
} from './names.ts';
import { addressLabelValue, interfaceAnnotation, podAnnotation } from './well-known.ts';

test('providers', () => {
  const ovn = ['', 'ovn', 'net1.default.ovn'];
  const foreign = ['net1.default', 'net1.default.ovn.eth1', 'a.b.c', 'ovn.ovn', 'a.b.default.ovn', 'macvlan'];
  assert.deepEqual([...ovn, ...foreign].filter(isOvnProvider), ovn);
  assert.deepEqual(parseProvider(''), { kind: 'default' });
  assert.deepEqual(parseProvider('net1.default.ovn'), { kind: 'attachment', nad: 'net1', namespace: 'default' });
  assert.deepEqual(parseProvider('net1.default'), { kind: 'ipam-only', nad: 'net1', namespace: 'default' });
  assert.deepEqual(parseProvider('net1.default.ovn.eth1'), {
    kind: 'attachment',
    nad: 'net1',
    namespace: 'default',
    interfaceName: 'eth1',
  });
  for (const text of ['a', 'a.b.c', '.b.ovn', 'a.b.ovn.', 'a.b.ovn.c.d']) assert.equal(parseProvider(text).kind, 'other', text);
  assert.equal(subnetProvider('net1.default.ovn.eth1'), 'net1.default.ovn');
  assert.equal(subnetProvider('net1.default'), 'net1.default');
  assert.equal(attachmentProvider('net1', 'default', 'eth1'), 'net1.default.ovn.eth1');
});

test('annotation keys', () => {
  assert.equal(podAnnotation('ovn', 'ip_address'), 'ovn.kubernetes.io/ip_address');
  assert.equal(podAnnotation('', 'allocated'), 'ovn.kubernetes.io/allocated');
  assert.equal(podAnnotation('net1.default.ovn', 'dhcp-v4-options'), 'net1.default.ovn.kubernetes.io/dhcp-v4-options');
  assert.equal(interfaceAnnotation('net1', 'default', 'eth1', 'mac_address'), 'net1.default.kubernetes.io/mac_address.eth1');
});

test('addresses as label values begin and end with a letter or digit', () => {
  assert.equal(addressLabelValue('10.0.0.1'), '10.0.0.1');
  assert.equal(addressLabelValue('fd00::1'), 'fd00--1');
  assert.equal(addressLabelValue('::1'), '0--1');
  assert.equal(addressLabelValue('fd00::'), 'fd00--0');
  assert.equal(addressLabelValue(''), '');
});

test('ports', () => {
  assert.equal(portName('web', 'shop', 'ovn'), 'web.shop');
  assert.equal(portName('web', 'shop', ''), 'web.shop');
  assert.equal(portName('web', 'shop', 'net1.default.ovn'), 'web.shop.net1.default.ovn');
  assert.equal(nodePortName('worker-1'), 'node-worker-1');
  assert.equal(switchToRouterPort('subnet1', 'vpc1'), 'subnet1-vpc1');
  assert.equal(routerToSwitchPort('vpc1', 'subnet1'), 'vpc1-subnet1');
  assert.equal(peerPort('vpc1', 'vpc2'), 'vpc1-vpc2');
});

test('groups have no dash, and begin with a letter', () => {
  assert.equal(subnetNodePortGroup('ovn-default', 'worker-1'), 'ovn.default.worker.1');
  assert.equal(subnetNodePortGroup('10-net', 'worker-1'), '_10.net.worker.1');
  assert.equal(nodePortGroup('worker-1'), 'node.worker.1');
  assert.equal(portGroupAddressSet('node.worker.1', 6), 'node.worker.1_ip6');
});

test('load balancers', () => {
  assert.equal(vpcLoadBalancer('v1', 'tcp', false), 'vpc-v1-tcp-load');
  assert.equal(vpcLoadBalancer('v1', 'sctp', true), 'vpc-v1-sctp-sess-load');
  assert.equal(clusterLoadBalancer('udp', false), 'cluster-udp-loadbalancer');
  assert.equal(clusterLoadBalancer('tcp', true), 'cluster-tcp-session-loadbalancer');
});

test('no address set has a name of those that northd makes for port groups, nor that of another address set', () => {
  const ofNorthd = new Set(
    [subnetNodePortGroup('net', 'n1'), subnetNodePortGroup('net', 'n1.further'), nodePortGroup('n1')].flatMap((group) =>
      ([4, 6] as const).map((family) => portGroupAddressSet(group, family)),
    ),
  );
  const pools = ['net-n1', 'net.n1', 'net-n1-further', 'node-n1'];
  const further = ([4, 6] as const).map((family) => furtherAddressSet('net', 'n1', family));
  const ours = [...pools.flatMap((pool) => [ipPoolAddressSet(pool), ipPoolAddressSetV6(pool)]), ...further];
  assert.deepEqual(
    ours.filter((set) => ofNorthd.has(set)),
    [],
  );
  for (const set of further) assert.ok(!pools.some((pool) => [ipPoolAddressSet(pool), ipPoolAddressSetV6(pool)].includes(set)), set);
  for (const set of ours) assert.match(set, /^[A-Za-z_.][A-Za-z0-9_.]*$/, 'OVN can name it in a match');
});
