import assert from 'node:assert/strict';
import { test } from 'node:test';
import { celFindings } from '../api/cel-checks.ts';
import { vpcEgressGatewayKind } from '../api/vpc-egress-gateway.ts';
import { PodScene } from '../testing/pod-scene.ts';

test('an object that is not carried out says so, once', () => {
  const scene = new PodScene();
  scene.bench.world.unserved.set('networkpolicies/shop/deny', {
    resource: 'networkpolicies',
    key: 'shop/deny',
    uid: 'u1',
    feature: 'network policies',
  });
  scene.bench.settle();
  scene.bench.settle();
  const said = scene.bench.events.filter(({ object }) => object === 'networkpolicies/shop/deny');
  assert.equal(said.length, 1);
  assert.deepEqual([said[0]?.type, said[0]?.reason], ['Warning', 'NotCarriedOut']);
  assert.match(said[0]?.message ?? '', /^NetworkPolicy shop\/deny is not carried out: this version of Kiln does not do network policies/);
});

test('what an API server was too old to refuse is said, with the field and the rule', () => {
  const scene = new PodScene();
  const key = 'net/veg';
  const subject = { kind: 'VpcEgressGateway', namespace: 'net', name: 'veg' };
  const broken = celFindings(vpcEgressGatewayKind, subject, { policies: [{ snat: true }] }).map(({ message }) => message);
  scene.bench.world.unserved.set(`vpc-egress-gateways/${key}`, { resource: 'vpc-egress-gateways', key, uid: 'u1', feature: 'it', broken });
  scene.bench.settle();
  const said = scene.bench.events.filter(({ reason }) => reason === 'Invalid');
  assert.deepEqual(
    said.map(({ message }) => message),
    ['VpcEgressGateway net/veg: spec.policies[0] "{"snat":true}" is not allowed; a policy needs ipBlocks or subnets'],
  );
});
