import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';

function crowd(pods: number): PodScene {
  const scene = new PodScene();
  for (let i = 0; i < pods; i++) scene.pod(`p${i}`);
  scene.bench.converge();
  return scene;
}

/** The number of computations that a change causes. */
function runsOf(scene: PodScene, change: () => void): number {
  const { reactor } = scene.bench.world;
  reactor.runDue();
  const before = reactor.runs;
  change();
  reactor.runDue();
  return reactor.runs - before;
}

function writeStatus(scene: PodScene, name: string): void {
  const { subnets } = scene.bench.world;
  const subnet = subnets.peek(name);
  assert.ok(subnet);
  subnets.set(name, { ...subnet, status: { ...subnet.status, activateGateway: 'n1' } });
}

test('a status write of a Subnet runs no rule of its pods', () => {
  const few = crowd(10);
  const many = crowd(200);
  const cost = runsOf(few, () => writeStatus(few, 'ovn-default'));
  assert.equal(
    runsOf(many, () => writeStatus(many, 'ovn-default')),
    cost,
  );
});

test('one pod costs the same among 10 and among 1,000', () => {
  const cost = (scene: PodScene): readonly number[] => [
    runsOf(scene, () => {
      scene.pod('new');
      scene.bench.compile();
    }),
    runsOf(scene, () => {
      const pod = scene.bench.world.pods.peek('shop/p3');
      assert.ok(pod);
      scene.bench.world.pods.set('shop/p3', { ...pod, status: { phase: 'Running', podIP: '10.16.0.5' } });
    }),
    runsOf(scene, () => scene.bench.removeByForce('pods', 'shop/p4')),
  ];
  const [few, many] = [cost(crowd(10)), cost(crowd(1_000))];
  assert.deepEqual(many, few);
  assert.equal(few[1], 1, 'a kubelet writing a status runs the projection alone');
});

test('at a start the rules of a pod and of its IP object run once each', () => {
  const runs = (pods: number): number => {
    const { bench } = crowd(pods);
    const fresh = bench.restarted();
    fresh.compile();
    assert.equal(fresh.step(), false, 'nothing is left to be written');
    return fresh.world.reactor.runs;
  };
  // The pod's projection, its rule and that of its IP object; all other runs are independent of the number of pods.
  assert.equal(runs(110) - runs(10), 100 * 3);
});

test('after a Subnet was removed by force, a lost IP object runs the rules of its own pod only', () => {
  const cost = (pods: number): number => {
    const scene = new PodScene();
    scene.subnet('side', { cidrBlock: '10.1.0.0/24' });
    for (let i = 0; i < pods; i++) scene.pod(`p${i}`, { annotations: { 'ovn.kubernetes.io/logical_switch': 'side' } });
    scene.bench.converge();
    scene.bench.removeByForce('subnets', 'side');
    scene.bench.converge();
    return runsOf(scene, () => scene.bench.removeByForce('ips', 'p3.shop'));
  };
  assert.equal(cost(60), cost(10));
});
