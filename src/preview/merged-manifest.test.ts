import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReviewedObject } from '../webhook/protocol/admission-review.ts';
import { mergedManifest } from './merged-manifest.ts';

const LAST = 'kubectl.kubernetes.io/last-applied-configuration';

function subnet(spec: object, annotations?: Readonly<Record<string, string>>): ReviewedObject {
  return { metadata: { name: 'red', uid: 'u1', ...(annotations === undefined ? {} : { annotations }) }, spec };
}

test('fields of others stay, lists are replaced, and what was applied and is left out now goes', () => {
  const applied = JSON.stringify({ spec: { vpc: 'blue', gateway: '10.0.0.1', acls: [1] } });
  const live = subnet({ vpc: 'blue', gateway: '10.0.0.1', acls: [1], protocol: 'IPv4' }, { [LAST]: applied, other: 'x' });
  const { spec, metadata } = mergedManifest(live, { metadata: { name: 'red' }, spec: { vpc: 'green', acls: [2, 3] } });
  assert.deepEqual(spec, { vpc: 'green', acls: [2, 3], protocol: 'IPv4' });
  assert.deepEqual([metadata.uid, metadata.annotations?.['other']], ['u1', 'x']);
});

test('without the annotation of kubectl apply nothing goes; a null takes a field out', () => {
  const { spec } = mergedManifest(subnet({ vpc: 'blue', gateway: 'a' }, { [LAST]: 'no json' }), { metadata: {}, spec: { vpc: null } });
  assert.deepEqual(spec, { gateway: 'a' });
});
