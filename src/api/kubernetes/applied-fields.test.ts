import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appliedFields, relevantManagedFields } from './applied-fields.ts';

const entry = (manager: string, operation: string, spec: object, more: object = {}): object => ({
  manager,
  operation,
  apiVersion: 'kubeovn.io/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:spec': spec },
  ...more,
});

test('fields that others applied; not what was updated, what Kiln applied, or what is of the status', () => {
  const managed = [
    entry('argocd', 'Apply', { 'f:excludeIps': {}, 'f:cidrBlock': {} }),
    entry('kubectl', 'Apply', { '.': {}, 'f:cidrBlock': {} }),
    entry('kubectl-edit', 'Update', { 'f:gateway': {} }),
    entry('kiln-controller', 'Apply', { 'f:protocol': {} }),
    entry('argocd', 'Apply', { 'f:vpc': {} }, { subresource: 'status' }),
  ];
  assert.deepEqual(appliedFields(managed), ['cidrBlock', 'excludeIps']);
  assert.deepEqual(appliedFields(relevantManagedFields(managed)), ['cidrBlock', 'excludeIps']);
  assert.equal(relevantManagedFields(managed.slice(2)), undefined);
  for (const nonsense of [
    undefined,
    null,
    'x',
    [{}],
    [{ operation: 'Apply', fieldsV1: 'x' }],
    [{ operation: 'Apply', fieldsV1: { 'f:spec': 1 } }],
  ])
    assert.deepEqual(appliedFields(nonsense), []);
});
