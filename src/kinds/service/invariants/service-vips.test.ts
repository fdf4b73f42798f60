/** Breaks the vips of a Service and checks that it is found. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';
import { serviceVips } from './service-vips.ts';

test('a converged Service violates nothing; without its endpoint, or with another one, it does', () => {
  const { bench } = new PodScene();
  const slice = (namespace: string, service: string, conditions: object): void =>
    void bench.put('endpointslices', {
      metadata: { name: service, namespace, labels: { 'kubernetes.io/service-name': service } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.16.0.5'], conditions }],
      ports: [{ name: 'http', port: 8080 }],
    } as never);
  slice('default', 'kubernetes', {});
  slice('shop', 'web', {});
  bench.put('services', {
    metadata: { name: 'web', namespace: 'shop' },
    spec: { clusterIP: '10.96.0.10', ports: [{ name: 'http', port: 80 }] },
  });
  bench.converge();
  assert.deepEqual(serviceVips(bench.world), []);
  slice('shop', 'web', { ready: false });
  assert.match(
    serviceVips(bench.world)[0]?.message ?? '',
    /^vip 10\.96\.0\.10:80 of \S+ \S+ has endpoints "10\.16\.0\.5:8080", and its Service has ""$/,
  );
  bench.converge();
  assert.deepEqual(serviceVips(bench.world), []);
});
