import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../../explain/status.ts';
import { PodScene } from '../../../testing/pod-scene.ts';
import { conditionOf } from '../../../world/conditions.ts';
import { rowId } from '../../../nb/row-id.ts';

const LOCALNET = '00000000-0000-4000-8000-000000000009';

function scene(): PodScene {
  const made = new PodScene();
  made.subnet('under', { cidrBlock: '10.4.0.0/24', vlan: 'v10', namespaces: ['shop'] });
  made.subnet('gated', { cidrBlock: '10.5.0.0/24', vlan: 'v10', logicalGateway: true });
  made.bench.converge();
  made.pod('web');
  made.bench.converge();
  return made;
}

function bound({ bench }: PodScene): readonly [string | undefined, string] {
  const object = bench.object('pods', 'shop/web');
  assert.ok(object);
  const condition = conditionOf('pods', object, 'kiln.io/NetworkBound');
  return [condition?.status, condition?.message ?? ''];
}

test('an underlay Subnet with a bare switch is not ready, and its pods wait for it; a localnet port of any program ends that', () => {
  const made = scene();
  const { bench } = made;
  const ready = bench.condition('subnets', 'under', 'Ready');
  assert.deepEqual([ready?.status, ready?.reason], ['False', 'NotCarriedOut']);
  assert.match(
    ready?.message ?? '',
    /^Subnet under: spec\.vlan "v10" requests an underlay network, .* no port localnet\.under of type localnet/,
  );
  assert.equal(bench.condition('subnets', 'gated', 'Ready')?.status, 'True', 'the router is its way out');
  assert.deepEqual([made.addressOf('shop/web'), made.annotations('shop/web')['ovn.kubernetes.io/routed']], ['10.4.0.2', undefined]);
  const [status, message] = bound(made);
  assert.equal(status, 'False');
  assert.match(message, /localnet\.under/);
  assert.deepEqual(
    statusOf(bench.world, true).findings.map(({ what, kind, key }) => `${what} ${kind} ${key}`),
    ['not ready Subnet under', 'not ready Pod shop/web'],
  );
  const parent = String(bench.world.rows.best(rowId('Logical_Switch', 'under'))?.uuid);
  const place = { table: 'Logical_Switch', uuid: parent, column: 'ports' };
  bench.foreignRow('Logical_Switch_Port', LOCALNET, { name: 'localnet.under', type: 'localnet' }, place);
  bench.converge();
  assert.equal(bench.condition('subnets', 'under', 'Ready')?.status, 'True');
  assert.equal(made.annotations('shop/web')['ovn.kubernetes.io/routed'], 'true');
  assert.equal(bound(made)[0], 'True');
  assert.deepEqual(statusOf(bench.world, true).findings, []);
});
