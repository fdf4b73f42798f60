import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateObject } from './answer-validation.ts';
import { PODS } from '../resource.ts';
import type { Resource } from '../resource.ts';

const SUBJECT = { verb: 'create', resource: 'x' };
const REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
};

test('a review has no name, asked or answered; any other object has the name that was asked for', () => {
  const type = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
  const answer = { ...type, metadata: { creationTimestamp: null }, status: { allowed: true } };
  assert.equal(validateObject(REVIEWS, { name: '' }, answer, SUBJECT), answer);
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: {} };
  assert.throws(() => validateObject(PODS, { namespace: 'a', name: 'web' }, pod, SUBJECT), { code: 'KUBE_PROTOCOL' });
  assert.throws(() => validateObject(PODS, {}, pod, SUBJECT), { code: 'KUBE_PROTOCOL' });
});
