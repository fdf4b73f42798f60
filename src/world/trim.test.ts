import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../kinds/pod/table.ts';
import type { Untrimmed } from './trim.ts';

const trimPod = table.trim;

function pod(name: string, more: object = {}, labels: Readonly<Record<string, string>> = { app: 'web', tier: 'front' }): Untrimmed {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', labels },
    spec: { nodeName: 'n1', ...more },
    status: {},
  } as never;
}

test('all labels of a pod are kept, and equal labels are one object', () => {
  const [one, other] = [trimPod(pod('one')), trimPod(pod('other', {}, { tier: 'front', app: 'web' }))];
  assert.deepEqual(one.metadata.labels, { app: 'web', tier: 'front' });
  assert.equal(one.metadata.labels, other.metadata.labels);
  assert.notEqual(trimPod(pod('third', {}, { app: 'db' })).metadata.labels, one.metadata.labels);
});

test('of containers only named ports are kept, those of init containers that keep running among them', () => {
  const ports = [{ name: 'http', containerPort: 80, protocol: 'TCP', hostPort: 1 }, { containerPort: 81 }];
  const template = {
    containers: [
      { name: 'main', image: 'busybox', env: [{ name: 'A', value: 'b' }], ports },
      { name: 'silent', image: 'busybox' },
    ],
    initContainers: [
      { name: 'sidecar', restartPolicy: 'Always', ports: [{ name: 'metrics', containerPort: 9_090 }] },
      { name: 'once', ports: [{ name: 'never', containerPort: 1 }] },
    ],
  };
  const [one, other] = [trimPod(pod('one', template)), trimPod(pod('other', structuredClone(template)))];
  assert.deepEqual(one.spec.containers, [
    { name: 'main', ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }] },
    { name: 'sidecar', ports: [{ name: 'metrics', containerPort: 9_090 }] },
  ]);
  assert.equal(one.spec.containers, other.spec.containers);
  assert.equal(trimPod(pod('plain', { containers: [{ name: 'main', image: 'busybox' }] })).spec.containers, undefined);
});
