import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rule } from '../compile/rule.ts';
import { rowId } from '../nb/row-id.ts';
import { keysOf } from '../engine/domain.ts';
import { RuleBench } from './rule-bench.ts';

const routerOfVpc: Rule = {
  name: 'router-of-vpc',
  over: (world) => keysOf(world.vpcs),
  run: (world, name) => {
    const vpc = world.vpcs.get(name);
    if (vpc === undefined) return [];
    const owner = { kind: 'vpc', namespace: '', name, uid: vpc.metadata.uid, created: vpc.metadata.creationTimestamp };
    const id = rowId('Logical_Router', name);
    const route = rowId('Logical_Router_Policy', name, 31000, 'ip4');
    const ready = world.rows.state(id)?.ownership.kind === 'ours';
    return [
      {
        kind: 'row',
        id,
        owner,
        rule: 'router-of-vpc',
        columns: { name, options: { dynamic_neigh_routers: 'true' } },
        externalIds: { lr: name },
      },
      {
        kind: 'row',
        id: route,
        owner,
        rule: 'router-of-vpc',
        parent: { id, column: 'policies' },
        columns: { priority: 31000, match: 'ip4', action: 'allow' },
      },
      {
        kind: 'patch',
        resource: 'vpcs',
        key: name,
        uid: vpc.metadata.uid,
        finalizer: vpc.metadata.deletionTimestamp === undefined || world.rows.ownedBy(`vpc//${name}`).size > 0,
        status: { standby: ready },
        conditions: [
          {
            type: 'Ready',
            status: ready ? 'True' : 'False',
            reason: ready ? 'RouterReady' : 'RouterPending',
            message: '',
            event: 'Normal',
          },
        ],
      },
    ];
  },
};

test('rules, diff and both writers run until they have converged', () => {
  const bench = new RuleBench({ rules: [routerOfVpc] });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  assert.deepEqual(bench.rowIds('Logical_Router_Policy'), ['blue|31000|ip4']);
  assert.equal(bench.externalIds('Logical_Router', 'blue')['kiln.io/owner'], 'vpc//blue');
  assert.equal(bench.object('vpcs', 'blue')?.status?.['standby'], true);
  assert.equal(bench.condition('vpcs', 'blue', 'Ready')?.reason, 'RouterReady');
  assert.deepEqual(
    bench.events.map(({ reason }) => reason),
    ['RouterPending', 'RouterReady'],
  );
  const { writes } = bench;
  bench.converge();
  assert.equal(bench.writes, writes);
});

test('a finalizer keeps an object that is being deleted', () => {
  const bench = new RuleBench({ rules: [routerOfVpc] });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.converge();
  bench.delete('vpcs', 'blue');
  bench.converge();
  assert.notEqual(bench.object('vpcs', 'blue')?.metadata.deletionTimestamp, undefined);
  bench.removeByForce('vpcs', 'blue');
  bench.converge();
  assert.deepEqual([bench.rowIds('Logical_Router'), bench.rowIds('Logical_Router_Policy')], [[], []]);
});
