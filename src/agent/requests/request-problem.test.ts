import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InterfaceRequest } from '../../cni/agent-protocol.ts';
import { requestProblem } from './request-problem.ts';

/** As Kube-OVN's plugin sends it. */
const REQUEST: InterfaceRequest = {
  cni_type: 'kube-ovn',
  pod_name: 'web',
  pod_namespace: 'shop',
  container_id: 'c0ffee',
  net_ns: '/run/netns/a',
  if_name: 'net1',
  provider: 'net1.shop.ovn',
  routes: [{ dst: '10.0.0.0/8', gw: '10.16.0.254' }],
  vf_driver: '',
  deviceID: '',
  vhost_user_socket_volume_name: '',
  vhost_user_socket_name: '',
  vhost_user_socket_consumption: '',
};

test('a request of Kube-OVN is fine, with and without routes', () => {
  assert.equal(requestProblem(REQUEST), undefined);
  const { routes: _, ...without } = REQUEST;
  assert.equal(requestProblem(without), undefined);
});

for (const [what, change, expected] of [
  [
    'SR-IOV',
    { deviceID: '0000:01:00.2' },
    /net1 of pod shop\/web is for SR-IOV \(deviceID "0000:01:00\.2".*does not implement; remove the field/,
  ],
  ['DPDK', { vhost_user_socket_name: 'sock' }, /is for DPDK \(vhost_user_socket_name/],
] as const)
  test(`refused: ${what}`, () => assert.match(requestProblem({ ...REQUEST, ...change }) ?? '', expected));
