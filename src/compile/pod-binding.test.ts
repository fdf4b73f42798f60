import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../testing/pod-scene.ts';

test('a pod gets its address, IP object, port and annotations', () => {
  const scene = new PodScene();
  const pod = scene.pod('web');
  scene.bench.settle();
  const ip = scene.bench.object('ips', 'web.shop');
  const address = String(ip?.spec['v4IpAddress']);
  const mac = String(ip?.spec['macAddress']);
  assert.match(address, /^10\.16\.0\.\d+$/);
  assert.deepEqual(ip?.spec, {
    podName: 'web', namespace: 'shop', subnet: 'ovn-default', ipAddress: address, v4IpAddress: address, v6IpAddress: '', macAddress: mac,
    nodeName: 'n1', attachIps: [], attachMacs: [], attachSubnets: [], containerID: '', podType: '',
  });
  assert.deepEqual(ip?.metadata.labels, { 'ovn.kubernetes.io/subnet': 'ovn-default', 'ovn.kubernetes.io/node-name': 'n1', 'ovn-default': '', 'ovn.kubernetes.io/ip_reserved': 'false' });
  assert.deepEqual(ip?.metadata.finalizers, ['kubeovn.io/kube-ovn-controller']);
  assert.equal(ip?.metadata.annotations?.['kiln.io/pod-uid'], pod.metadata.uid);
  const row = scene.bench.row('Logical_Switch_Port', 'web.shop');
  assert.deepEqual(row?.['addresses'], [`${mac} ${address}`]);
  assert.deepEqual(row?.['port_security'], []);
  const { pod: podKey, ls, vendor } = row?.['external_ids'] as Record<string, string>;
  assert.deepEqual({ podKey, ls, vendor }, { podKey: 'shop/web', ls: 'ovn-default', vendor: 'kube-ovn' });
  assert.deepEqual(scene.annotations('shop/web'), {
    'ovn.kubernetes.io/ip_address': address,
    'ovn.kubernetes.io/mac_address': mac,
    'ovn.kubernetes.io/cidr': '10.16.0.0/16',
    'ovn.kubernetes.io/gateway': '10.16.0.1',
    'ovn.kubernetes.io/logical_switch': 'ovn-default',
    'ovn.kubernetes.io/pod_nic_type': 'veth-pair',
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/logical_router': 'ovn-cluster',
    'ovn.kubernetes.io/routed': 'true',
  });
  assert.deepEqual(scene.bench.row('Port_Group', 'node.n1')?.['ports'], ['Logical_Switch_Port/web.shop']);
});
