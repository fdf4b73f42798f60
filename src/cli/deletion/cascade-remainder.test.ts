import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cascadeOf } from '../../explain/cascade.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import { CascadeLeft } from './cascade-remainder.ts';

test('a pod that came in between stops the command, unless its owner ends: it is deleted then, and so is its address', () => {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('red', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  scene.bench.converge();
  const { steps } = cascadeOf(scene.bench.world, 'vpcs', 'blue');
  const pod = scene.pod('web-late');
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'r1', controller: true }];
  scene.bench.put('pods', { ...pod, metadata: { ...pod.metadata, ownerReferences } });
  scene.bench.converge();
  const left = (...ending: readonly string[]): CascadeLeft => new CascadeLeft(scene.bench.world, steps, new Set(ending));
  assert.deepEqual(left().unplannedBlockers, ['IP web-late.shop']);
  assert.ok(left().stuck);
  assert.deepEqual(left('another').unplannedBlockers, left().unplannedBlockers);
  assert.deepEqual([left('r1').unplannedBlockers, left('r1').stuck], [[], false]);
  // Its address waits for the pod's containers to end.
  scene.bench.delete('pods', 'shop/web-late');
  assert.deepEqual(left().unplannedBlockers, []);
});
