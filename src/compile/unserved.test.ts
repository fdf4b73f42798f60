import assert from 'node:assert/strict';
import { test } from 'node:test';
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
