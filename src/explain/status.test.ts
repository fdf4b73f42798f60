import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import { PodScene } from '../testing/pod-scene.ts';
import { ofNamespace, statusOf } from './status.ts';

function findings({ bench }: PodScene): string[] {
  return statusOf(bench.world, true).findings.map(({ what, kind, key, next }) => `${what} ${kind} ${key}: ${next}`);
}

test('a cluster that is well has no findings, and its objects and rows are counted', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  const { counts, rows, findings: found } = statusOf(scene.bench.world, true);
  assert.deepEqual([counts['Vpc'], counts['Subnet'], counts['Pod'], found], [1, 2, 1, []]);
  assert.equal(rows, scene.bench.world.rows.owned.size);
  assert.equal(statusOf(scene.bench.world, false).rows, undefined);
});

test('what is blocked, without a network, misbound or nearly full is found, with the command that leads on', () => {
  const scene = new PodScene();
  scene.subnet('tiny', { cidrBlock: '10.3.0.0/30' });
  scene.bench.converge();
  scene.pod('early');
  scene.pod('one', { annotations: { 'ovn.kubernetes.io/logical_switch': 'tiny' } });
  scene.bench.converge();
  scene.pod('lost', { annotations: { 'ovn.kubernetes.io/logical_switch': 'nowhere' } });
  scene.subnet('own', { cidrBlock: '10.4.0.0/24', namespaces: ['shop'] });
  scene.bench.delete('subnets', 'tiny');
  scene.bench.converge();
  assert.deepEqual(findings(scene).toSorted(), [
    'blocked Subnet tiny: kiln explain subnet tiny',
    'misbound Pod shop/early: kiln explain pod early -n shop',
    'nearly full Subnet tiny: kiln explain subnet tiny',
    'not ready Pod shop/lost: kiln explain pod lost -n shop',
  ]);
});

test('a namespace: what is in it, what names it, the Vpcs of its Subnets, and nothing else', () => {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  scene.subnet('own', { cidrBlock: '10.4.0.0/24', vpc: 'blue', namespaces: ['shop'] });
  scene.subnet('other', { cidrBlock: '10.5.0.0/24', namespaces: ['else'] });
  scene.bench.converge();
  scene.pod('web');
  scene.bench.converge();
  const { world } = scene.bench;
  assert.deepEqual(statusOf(world, true, ofNamespace('shop', world)).counts, { Vpc: 1, Subnet: 1, IP: 1, Pod: 1, Namespace: 1 });
  assert.deepEqual(statusOf(world, true, ofNamespace('nobody', world)).counts, {});
});

test("a switch that only another program's port keeps after its Subnet was torn out is found, with the command that lets it go", () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('own', { cidrBlock: '10.4.0.0/24', namespaces: ['shop'] });
  bench.converge();
  scene.pod('web');
  bench.converge();
  const own = String(bench.world.rows.best(rowId('Logical_Switch', 'own'))?.uuid);
  const theirs = '00000000-0000-4000-8000-000000000001';
  bench.foreignRow('Logical_Switch_Port', theirs, { name: 'theirs' }, { table: 'Logical_Switch', uuid: own, column: 'ports' });
  bench.removeByForce('subnets', 'own');
  bench.converge();
  assert.deepEqual(
    findings(scene).filter((one) => one.startsWith('blocked')),
    [],
    'it is kept for a pod',
  );
  bench.removeByForce('pods', 'shop/web');
  bench.converge();
  assert.deepEqual(findings(scene), [`blocked Subnet own: ovn-nbctl remove Logical_Switch ${own} ports ${theirs}`]);
  bench.removeForeignRow('Logical_Switch_Port', theirs);
  bench.converge();
  assert.deepEqual([findings(scene), bench.row('Logical_Switch', 'own')], [[], undefined]);
});
