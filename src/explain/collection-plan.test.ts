import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restoredUuid, rowId } from '../nb/row-id.ts';
import { PodScene } from '../testing/pod-scene.ts';
import { CollectionPolicy } from '../diff/collection-policy.ts';
import type { PlanSources } from './collection-plan.ts';
import { collectionPlan } from './collection-plan.ts';

const uuid = (n: number): string => `00000000-0000-8000-8000-00000000000${n}`;

function keys(owner: string, uid = 'gone'): Readonly<Record<string, string>> {
  return { vendor: 'kube-ovn', 'kiln.io/owner': owner, 'kiln.io/uid': uid, 'kiln.io/rule': 'subnet-switch' };
}

const NOW = Date.parse('2026-01-01T00:00:00Z');

function sources({ world }: PodScene['bench'], ownerExists: PlanSources['ownerExists'], hold?: string): PlanSources {
  return { ownerExists, policy: new CollectionPolicy(world, true), hold, now: NOW };
}

test('a row that no rule emits is listed with its reason and what is in it; what an undo restored is held, and a foreign row blocks', () => {
  const { bench } = new PodScene();
  bench.converge();
  assert.deepEqual(
    collectionPlan(
      bench.world,
      bench.desired.rows,
      sources(bench, () => false),
    ),
    [],
    'all rows have their objects',
  );
  bench.foreignRow('Logical_Switch', uuid(1), { name: 'left', external_ids: keys('subnet//left') });
  bench.foreignRow(...(['Logical_Switch_Port', uuid(2), { name: 'p.left', external_ids: keys('pod/left/p') }] as const), {
    table: 'Logical_Switch',
    uuid: uuid(1),
    column: 'ports',
  });
  bench.foreignRow('Logical_Switch', uuid(3), { name: 'shared', external_ids: keys('subnet//shared') });
  bench.foreignRow('Logical_Switch_Port', uuid(4), { name: 'theirs' }, { table: 'Logical_Switch', uuid: uuid(3), column: 'ports' });
  const restored = restoredUuid(rowId('Logical_Switch', 'back'), { owner: 'subnet//back', uid: 'gone' });
  bench.foreignRow('Logical_Switch', restored, { name: 'back', external_ids: keys('subnet//back') });
  const plan = collectionPlan(
    bench.world,
    bench.desired.rows,
    sources(bench, (owner) => owner === 'pod/left/p'),
  );
  assert.deepEqual(
    plan.map(({ fate, name, why, within }) => [fate, name, why.replace(/ovn-nbctl.*/, ''), within]),
    [
      [
        'blocked',
        'shared',
        'Logical_Switch shared is no longer needed, but Logical_Switch_Port theirs in it belongs to another program; Kiln waits until that program removes it: ',
        { Logical_Switch_Port: 1 },
      ],
      ['collect', 'left', 'subnet/left does not exist', { Logical_Switch_Port: 1 }],
      ['collect', 'p.left', 'pod/left/p exists and no longer asks for it', {}],
      ['restored', 'back', 'an undo restored it, and subnet/back does not exist', {}],
    ],
  );
});
