import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeRequest } from '../../src/kube/transport.ts';
import { unpinned } from './pinned-requests.ts';

const SUBNET = '/apis/kubeovn.io/v1/subnets/s0';
const POD = '/api/v1/namespaces/ns0/pods/p0';

function patch(body: object, path = SUBNET): string | undefined {
  return unpinned({ method: 'PATCH', path, body });
}

test('A patch names the object that it is for, and the version of what it writes as a whole', () => {
  assert.match(patch({ metadata: { labels: {} } }) ?? '', /which object/);
  assert.equal(patch({ metadata: { uid: 'u', labels: {} } }), undefined);
  assert.match(patch({ metadata: { uid: 'u', finalizers: [] } }) ?? '', /finalizers/);
  assert.match(patch({ metadata: { uid: 'u' }, spec: {} }) ?? '', /spec/);
  assert.equal(patch({ metadata: { uid: 'u', resourceVersion: '7', finalizers: [] }, spec: {} }), undefined);
});

test('The status of a custom resource is written over a version that is named, and that of a pod is merged by the server', () => {
  assert.match(patch({ metadata: { uid: 'u' }, status: { v4availableIPs: 1 } }, `${SUBNET}/status`) ?? '', /status/);
  assert.equal(patch({ metadata: { uid: 'u' }, status: { conditions: [] } }, `${POD}/status`), undefined);
});

test('A deletion and an eviction name the uid', () => {
  const ask = (method: KubeRequest['method'], path: string, body: object): string | undefined => unpinned({ method, path, body });
  assert.notEqual(ask('DELETE', SUBNET, {}), undefined);
  assert.equal(ask('DELETE', SUBNET, { preconditions: { uid: 'u' } }), undefined);
  assert.notEqual(ask('POST', `${POD}/eviction`, { deleteOptions: {} }), undefined);
  assert.equal(ask('POST', `${POD}/eviction`, { deleteOptions: { preconditions: { uid: 'u' } } }), undefined);
});
