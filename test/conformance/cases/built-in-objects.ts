/** EndpointSlices, and the objects that every cluster has from the start. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, newNamespace } from '../context.ts';
import { until } from '../../../src/testing/until.ts';

export function builtInObjectCases(holder: Holder): void {
  test('a port of an EndpointSlice has a name and a protocol, and kubectl describes its Service', async () => {
    const { http, kubectl } = conformance(holder);
    const namespace = await newNamespace(holder);
    const apiVersion = `discovery.k8s.io/${holder.minor < 21 ? 'v1beta1' : 'v1'}`;
    await http.send('POST', `/api/v1/namespaces/${namespace}/services`, {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'by-hand' } },
      spec: { clusterIP: 'None', ports: [{ port: 80 }] },
    });
    const slice = await http.send('POST', `/apis/${apiVersion}/namespaces/${namespace}/endpointslices`, {
      ...{ apiVersion, kind: 'EndpointSlice', addressType: 'IPv4', ports: [{ port: 8080 }] },
      metadata: { name: 'by-hand', labels: { 'kubernetes.io/service-name': 'by-hand' } },
      endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: true } }],
    });
    assert.equal(slice.status, 201, slice.text);
    assert.deepEqual(slice.body['ports'], [{ name: '', protocol: 'TCP', port: 8080 }]);
    assert.match(await kubectl.ok(['describe', 'service', 'by-hand', '-n', namespace]), /^Name: +by-hand$/m);
    assert.match(await kubectl.ok(['get', 'endpointslices', '-n', namespace]), /^by-hand +IPv4 +8080 +10\.1\.2\.3 /m);
  });

  test('objects that every cluster has from the start', async () => {
    const { kubectl, http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const there = async (path: string): Promise<boolean> => (await http.get(path)).status === 200;
    await until('the namespace has its account', () => there(`/api/v1/namespaces/${namespace}/serviceaccounts/default`));
    await until('the namespace has the authority', () => there(`/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`));
    const authority = await http.get(`/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`);
    assert.match(String(at(authority.body, 'data', 'ca.crt')), /^-----BEGIN CERTIFICATE-----/);
    await kubectl.ok(['delete', 'sa', 'default', '-n', namespace]);
    await until('the account is there again', () => there(`/api/v1/namespaces/${namespace}/serviceaccounts/default`));
    assert.match(
      await kubectl.ok(['get', 'svc', 'kubernetes', '-n', 'default']),
      /^kubernetes +ClusterIP +10\.96\.0\.1 +<none> +443\/TCP /m,
    );
    assert.match(await kubectl.ok(['describe', 'clusterrolebinding', 'cluster-admin']), /Group +system:masters/);
  });
}
