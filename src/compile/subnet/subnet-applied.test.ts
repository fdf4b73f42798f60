/** Subnets whose fields a client owns by server-side apply: Kiln does not overwrite an applied field if it can do without. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ManagedFields } from '../../api/kubernetes/applied-fields.ts';
import { RuleBench } from '../../testing/rule-bench.ts';

const applied = (...fields: readonly string[]): readonly ManagedFields[] => [
  { manager: 'argocd', operation: 'Apply', fieldsV1: { 'f:spec': Object.fromEntries(fields.map((field) => [`f:${field}`, {}])) } },
];

function benchWith(managedFields: readonly ManagedFields[], excludeIps?: readonly string[]): RuleBench {
  const bench = new RuleBench();
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('namespaces', { metadata: { name: 'shop' } });
  const spec = { vpc: 'blue', cidrBlock: '10.1.0.0/28', namespaces: ['shop'], ...(excludeIps !== undefined && { excludeIps }) };
  bench.put('subnets', { metadata: { name: 'net', managedFields }, spec });
  bench.converge();
  return bench;
}

const excludes = (bench: RuleBench): unknown => bench.object('subnets', 'net')?.spec?.['excludeIps'];

test('applied excludeIps stay as they are; the gateway is not allocated, and counted and reported as before', () => {
  const left = benchWith(applied('cidrBlock', 'excludeIps'), ['10.1.0.9']);
  const written = benchWith([{ manager: 'kubectl', operation: 'Update' }], ['10.1.0.9']);
  assert.deepEqual(excludes(left), ['10.1.0.9']);
  assert.deepEqual(excludes(written), ['10.1.0.1', '10.1.0.9']);
  const reported = (bench: RuleBench): unknown => {
    const { v4availableIPrange, v4availableIPs, gateway } = {
      ...bench.object('subnets', 'net')?.status,
      ...bench.object('subnets', 'net')?.spec,
    } as Readonly<Record<string, unknown>>;
    const { annotations } = bench.object('namespaces', 'shop')?.metadata ?? {};
    return [v4availableIPrange, v4availableIPs, gateway, annotations?.['ovn.kubernetes.io/exclude_ips']];
  };
  assert.deepEqual(reported(left), ['10.1.0.2-10.1.0.8,10.1.0.10-10.1.0.14', 12n, '10.1.0.1', '10.1.0.1,10.1.0.9']);
  assert.deepEqual(reported(left), reported(written));
});

test('defaults are filled in, whichever client applied the rest', () => {
  const bench = benchWith(applied('cidrBlock', 'vpc'));
  assert.deepEqual(excludes(bench), ['10.1.0.1']);
});
