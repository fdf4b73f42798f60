import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../api/kubernetes/core.ts';
import { vipsOfService } from './service-vips.ts';

function vips(
  spec: Service['spec'],
  annotations: Readonly<Record<string, string>> = {},
  ingress: readonly string[] = [],
): readonly string[] {
  const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1', creationTimestamp: '', annotations };
  return vipsOfService({ metadata, spec, status: { loadBalancer: { ingress: ingress.map((ip) => ({ ip })) } } });
}

test('a Service has an entry for each address and port, of each kind of address', () => {
  const ports = [{ port: 53, protocol: 'UDP' }, { port: 80 }] as const;
  assert.deepEqual(vips({ clusterIP: '10.96.0.10', clusterIPs: ['10.96.0.10', 'fd00::a'], ports }), [
    ...['udp 10.96.0.10:53', 'tcp 10.96.0.10:80'],
    ...['udp [fd00::a]:53', 'tcp [fd00::a]:80'],
  ]);
  assert.deepEqual(vips({ clusterIP: '10.96.0.10', ports }, {}, ['172.18.0.9']).slice(2), ['udp 172.18.0.9:53', 'tcp 172.18.0.9:80']);
});

test('a headless Service has entries of the rule that it was made for, and otherwise none', () => {
  const spec = { clusterIP: 'None', clusterIPs: ['None'], ports: [{ port: 80 }] };
  assert.deepEqual(vips(spec), []);
  assert.deepEqual(vips({ type: 'ExternalName' }), []);
  assert.deepEqual(vips(spec, { 'ovn.kubernetes.io/switch_lb_vip': '10.16.9.9' }), ['tcp 10.16.9.9:80']);
  assert.deepEqual(vips(spec, { 'ovn.kubernetes.io/router_lb_vip': '172.18.0.5,fd00::5' }), ['tcp 172.18.0.5:80', 'tcp [fd00::5]:80']);
});
