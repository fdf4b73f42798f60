/** A change of a Subnet that was refused under running pods, or that comes while its router port is missing, does not take effect by the loss. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';
import type { RuleBench } from '../../../testing/rule-bench.ts';

const OWN = 'ovn.kubernetes.io';
const PORT = 'ovn-cluster-net';
const SUBNET = { cidrBlock: '10.0.0.0/24,fd00::/112', gateway: '10.0.0.1,fd00::1', namespaces: ['shop'] };
const MOVED = { ...SUBNET, gateway: '10.0.0.254,fd00::1' };
const PRESENT = ['10.0.0.1/24', 'fd00::1/112'];

function shop(...pods: readonly string[]): PodScene {
  const scene = new PodScene();
  scene.subnet('net', SUBNET);
  scene.bench.converge();
  for (const pod of pods) scene.pod(pod, pod === 'far' ? { annotations: { [`${OWN}/ip_address`]: '10.0.0.200,fd00::200' } } : {});
  scene.bench.converge();
  return scene;
}

const networks = (bench: RuleBench, port = PORT): unknown => bench.row('Logical_Router_Port', port)?.['networks'];
const reason = (bench: RuleBench, subnet = 'net'): string | undefined => bench.condition('subnets', subnet, 'Accepted')?.reason;
const gatewayOf = (bench: RuleBench, pod: string): string | undefined =>
  bench.object('pods', pod)?.metadata.annotations?.[`${OWN}/gateway`];
const edit = (bench: RuleBench, spec: object, subnet = 'net'): void => {
  bench.edit('subnets', subnet, spec);
  bench.converge();
};

const LOSSES: Readonly<Record<string, (bench: RuleBench) => RuleBench>> = {
  'its router port is deleted': (bench) => {
    bench.removeNamedRow('Logical_Router_Port', PORT);
    return bench;
  },
  'its router is deleted': (bench) => {
    bench.removeNamedRow('Logical_Router', 'ovn-cluster');
    return bench;
  },
  'the database is lost': (bench) => bench.withNewDatabase(),
};

for (const [loss, lose] of Object.entries(LOSSES)) {
  test(`a gateway that was refused under running pods stays refused when ${loss}`, () => {
    const { bench } = shop('web');
    edit(bench, MOVED);
    assert.deepEqual([networks(bench), reason(bench)], [PRESENT, 'SubnetGatewayInUse']);
    const after = lose(bench);
    after.converge();
    assert.deepEqual([networks(after), reason(after)], [PRESENT, 'SubnetGatewayInUse']);
    assert.equal(gatewayOf(after, 'shop/web'), '10.0.0.1,fd00::1');
    assert.equal(after.writesAfterRestart(), 0);
    after.removeByForce('pods', 'shop/web');
    after.converge();
    assert.deepEqual([networks(after), reason(after)], [['10.0.0.254/24', 'fd00::1/112'], 'Accepted']);
  });

  test(`a narrower CIDR, and a dropped family, that were refused stay refused when ${loss}`, () => {
    for (const spec of [
      { ...SUBNET, cidrBlock: '10.0.0.0/25,fd00::/112' },
      { ...SUBNET, cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1' },
    ]) {
      const { bench } = shop('far');
      edit(bench, spec);
      assert.deepEqual([networks(bench), reason(bench)], [PRESENT, 'CidrInUse']);
      const after = lose(bench);
      after.converge();
      assert.deepEqual([networks(after), reason(after)], [PRESENT, 'CidrInUse']);
      assert.equal(after.object('pods', 'shop/far')?.metadata.annotations?.[`${OWN}/cidr`], SUBNET.cidrBlock);
    }
  });

  test(`a narrower CIDR that waits for masks stays refused when ${loss}, also where most pods are from before it became wider`, () => {
    const narrow = { ...SUBNET, cidrBlock: '10.0.0.0/25,fd00::/112' };
    for (const old of [0, 3]) {
      const scene = shop();
      const { bench } = scene;
      edit(bench, narrow);
      for (let i = 0; i < old; i++) scene.pod(`old-${i}`);
      bench.converge();
      edit(bench, SUBNET);
      scene.pod('young', old > 0 ? { annotations: { [`${OWN}/ip_address`]: '10.0.0.200,fd00::200' } } : {});
      bench.converge();
      edit(bench, narrow);
      assert.deepEqual(networks(bench), PRESENT);
      const after = lose(bench);
      after.converge();
      assert.deepEqual([networks(after), reason(after)], [PRESENT, old > 0 ? 'CidrInUse' : 'SubnetMaskInUse']);
      after.removeByForce('pods', 'shop/young');
      after.converge();
      assert.deepEqual([networks(after), reason(after)], [['10.0.0.1/25', 'fd00::1/112'], 'Accepted']);
    }
  });

  test(`a change that comes after ${loss} is refused, unless an administrator allows it`, () => {
    const { bench } = shop('web');
    const after = lose(bench);
    edit(after, MOVED);
    assert.deepEqual([networks(after), reason(after)], [PRESENT, 'SubnetGatewayInUse']);
    after.put('subnets', { metadata: { name: 'net', annotations: { 'kiln.io/allow-change-under-pods': 'true' } }, spec: MOVED });
    const again = lose(after);
    again.converge();
    assert.deepEqual([networks(again), reason(again)], [['10.0.0.254/24', 'fd00::1/112'], 'Accepted']);
  });
}

test('the join Subnet: nodes name its gateway', () => {
  const { bench } = new PodScene();
  edit(bench, { ...bench.object('subnets', 'join')?.spec, gateway: '100.64.9.9' }, 'join');
  const after = bench.withNewDatabase();
  after.converge();
  assert.deepEqual([networks(after, 'ovn-cluster-join'), reason(after, 'join')], [['100.64.0.1/16'], 'SubnetGatewayInUse']);
});

test('a Subnet that was removed by force and made again keeps the gateway of its CIDR; with another CIDR it has its own', () => {
  for (const [spec, expected] of [
    [MOVED, [PRESENT, 'SubnetGatewayInUse']],
    [{ ...SUBNET, cidrBlock: '10.1.0.0/24', gateway: '10.1.0.1' }, [['10.1.0.1/24'], 'Accepted']],
  ] as const) {
    const scene = shop('web');
    scene.bench.removeByForce('subnets', 'net');
    scene.bench.converge();
    scene.subnet('net', spec);
    scene.bench.converge();
    assert.deepEqual([networks(scene.bench), reason(scene.bench)], expected);
    assert.equal(gatewayOf(scene.bench, 'shop/web'), '10.0.0.1,fd00::1');
  }
});

/** A user writes another gateway to the pod, while its Subnet has no router port. */
function forge({ bench }: PodScene, pod: string): void {
  const { metadata, spec } = bench.object('pods', pod) ?? assert.fail();
  const annotations = { ...metadata.annotations, [`${OWN}/gateway`]: '10.0.0.66,fd00::66' };
  bench.put('pods', { metadata: { ...metadata, annotations }, spec });
  bench.removeNamedRow('Logical_Router_Port', PORT);
}

test('one wrong annotation decides nothing, and none is read while the spec is in effect', () => {
  const refused = shop('a', 'b', 'c');
  edit(refused.bench, MOVED);
  forge(refused, 'shop/a');
  refused.bench.converge();
  assert.deepEqual([networks(refused.bench), gatewayOf(refused.bench, 'shop/a')], [PRESENT, '10.0.0.1,fd00::1']);
  const accepted = shop('a');
  const { metadata, spec, status } = accepted.bench.object('subnets', 'net') ?? assert.fail();
  const conditions = [{ type: 'Accepted', status: 'True', reason: 'Accepted', observedGeneration: metadata.generation + 1 }];
  accepted.bench.put('subnets', { metadata, spec, status: { ...status, conditions } });
  forge(accepted, 'shop/a');
  accepted.bench.converge();
  assert.deepEqual([networks(accepted.bench), reason(accepted.bench)], [PRESENT, 'Accepted']);
});
