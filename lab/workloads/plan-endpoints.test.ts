import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service, ServiceSpec } from '../../src/api/kubernetes/core.ts';
import { planEndpoints } from './plan-endpoints.ts';
import type { ChildPod } from './workload.ts';

function service(spec: Partial<ServiceSpec>): Service {
  return { metadata: { name: 's', namespace: 'n', uid: 'u' }, spec: { ports: [{ port: 80 }], ...spec } } as Service;
}

function pod(name: string, ips: readonly string[], fields: object = {}): ChildPod {
  const metadata = { name, namespace: 'n', uid: `uid-${name}` };
  return { metadata, spec: { nodeName: 'one' }, phase: 'Running', ready: true, ips, ports: [], ...fields } as unknown as ChildPod;
}

const going = (name: string, ips: readonly string[]): ChildPod =>
  pod(name, ips, { metadata: { name, namespace: 'n', uid: `uid-${name}`, deletionTimestamp: '2026-01-01T00:00:00Z' } });

function addresses(of: readonly { readonly ip: string }[] | undefined): string[] {
  return (of ?? []).map(({ ip }) => ip);
}

test('ready pods are ready addresses, others are not ready, and finished pods or pods without address are neither', () => {
  const pods = [
    pod('b', ['10.0.0.2']),
    pod('a', ['10.0.0.1']),
    pod('c', ['10.0.0.3'], { ready: false }),
    pod('d', ['10.0.0.4'], { phase: 'Succeeded' }),
    pod('e', []),
    going('f', ['10.0.0.6']),
  ];
  const { subsets, slices } = planEndpoints(service({}), pods);
  assert.equal(subsets.length, 1);
  assert.deepEqual(addresses(subsets[0]?.addresses), ['10.0.0.1', '10.0.0.2']);
  assert.deepEqual(addresses(subsets[0]?.notReadyAddresses), ['10.0.0.3']);
  assert.deepEqual(subsets[0]?.ports, [{ port: 80, protocol: 'TCP' }]);
  assert.deepEqual(subsets[0]?.addresses?.[0]?.targetRef, { kind: 'Pod', namespace: 'n', name: 'a', uid: 'uid-a' });
  assert.deepEqual(
    slices[0]?.endpoints.map((endpoint) => (endpoint as { readonly conditions: unknown }).conditions),
    [
      { ready: true, serving: true, terminating: false },
      { ready: true, serving: true, terminating: false },
      { ready: false, serving: false, terminating: false },
      { ready: false, serving: true, terminating: true },
    ],
  );
});

test('a Service with publishNotReadyAddresses shows unready pods as ready', () => {
  const { subsets } = planEndpoints(service({ publishNotReadyAddresses: true }), [pod('a', ['10.0.0.1'], { ready: false })]);
  assert.deepEqual([addresses(subsets[0]?.addresses), subsets[0]?.notReadyAddresses], [['10.0.0.1'], undefined]);
});

test('a named port is that of each pod: pods with another number are in another slice', () => {
  const named = (port: number): object => ({ ports: [{ name: 'web', containerPort: port }] });
  const pods = [pod('a', ['10.0.0.1'], named(8080)), pod('b', ['10.0.0.2'], named(9090)), pod('c', ['10.0.0.3'])];
  const { subsets, slices } = planEndpoints(service({ ports: [{ name: 'http', port: 80, targetPort: 'web' }] }), pods);
  assert.deepEqual(
    subsets.map(({ ports }) => ports?.map(({ port }) => port)),
    [[8080], [9090], undefined],
  );
  assert.equal(slices.length, 3);
});

test('each family has slices of its own, of a hundred at most, and one where there are no pods', () => {
  const both = planEndpoints(service({ ipFamilies: ['IPv4', 'IPv6'] }), [pod('a', ['10.0.0.1', 'fd00::1']), pod('b', ['10.0.0.2'])]);
  assert.deepEqual(
    both.slices.map(({ addressType, endpoints }) => [addressType, endpoints.length]),
    [
      ['IPv4', 2],
      ['IPv6', 1],
    ],
  );
  assert.deepEqual(addresses(both.subsets[0]?.addresses), ['10.0.0.1', '10.0.0.2'], 'Endpoints are of the first family alone');
  const many = Array.from({ length: 205 }, (_, index) => pod(`p${index}`, [`10.0.1.${index}`]));
  assert.deepEqual(
    planEndpoints(service({}), many).slices.map(({ endpoints }) => endpoints.length),
    [100, 100, 5],
  );
  assert.deepEqual(planEndpoints(service({}), []), { subsets: [], slices: [{ addressType: 'IPv4', endpoints: [], ports: [] }] });
});
