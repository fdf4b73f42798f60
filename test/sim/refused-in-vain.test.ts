import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../src/api/kubernetes/core.ts';
import type { Subnet } from '../../src/api/kinds/subnet.ts';
import type { Vpc } from '../../src/api/kinds/vpc.ts';
import { POD_CONDITION } from '../../src/api/well-known.ts';
import { NETWORK_RULES } from '../../src/compile/rules.ts';
import { RuleBench } from '../../src/testing/rule-bench.ts';
import { DEFAULT_SETTINGS } from '../../src/world/settings.ts';
import { World } from '../../src/world/world.ts';
import { refusedInVain } from './refused-in-vain.ts';

function subnet(name: string, spec: object, reason?: string): Subnet {
  const refusal = { type: 'Accepted', status: 'False', reason, message: `is refused: ${reason ?? ''}` };
  return { metadata: { name, uid: name }, spec, status: { conditions: reason === undefined ? [] : [refusal] } } as unknown as Subnet;
}

function found(put: (world: World) => void): readonly string[] {
  const world = new World(DEFAULT_SETTINGS);
  put(world);
  return refusedInVain(world).map(({ kind }) => kind);
}

test('a Subnet that is refused for another one overlaps one of its Vpc', () => {
  for (const [vpc, cidrBlock, said] of [
    ['blue', '10.0.0.0/16', []],
    ['blue', '10.1.0.0/16', ['I7 refused in vain Subnet SubnetCidrOverlap']],
    ['green', '10.0.0.0/16', ['I7 refused in vain Subnet SubnetCidrOverlap']],
  ] as const)
    assert.deepEqual(
      found((world) => {
        world.subnets.set('red', subnet('red', { vpc: 'blue', cidrBlock: '10.0.0.0/24' }, 'SubnetCidrOverlap'));
        world.subnets.set('other', subnet('other', { vpc, cidrBlock }));
      }),
      said,
    );
});

test('one whose Vpc was edited stays where it was, also where another program has taken the router since', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  for (const vpc of ['blue', 'green']) bench.put('vpcs', { metadata: { name: vpc } });
  const spec = { vpc: 'blue', cidrBlock: '10.0.0.0/24' };
  bench.put('subnets', { metadata: { name: 'other' }, spec });
  bench.settle();
  bench.put('subnets', { metadata: { name: 'other' }, spec: { ...spec, vpc: 'green' } });
  bench.put('subnets', { metadata: { name: 'red' }, spec });
  const [uuid] = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue') ?? assert.fail();
  const edit = { kind: 'update', table: 'Logical_Router', uuid, row: { external_ids: new Map([['theirs', 'x']]) } } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
  bench.settle();
  assert.equal(bench.condition('subnets', 'red', 'Accepted')?.reason, 'SubnetCidrOverlap');
  assert.deepEqual(refusedInVain(bench.world), []);
  bench.put('subnets', { metadata: { name: 'other' }, spec: { ...spec, vpc: 'green', cidrBlock: '10.1.0.0/24' } });
  assert.equal(refusedInVain(bench.world).length, 0, 'its port has it');
  bench.put('subnets', { metadata: { name: 'red' }, spec: { ...spec, cidrBlock: '10.2.0.0/24' } });
  assert.equal(refusedInVain(bench.world).length, 1);
});

test('one that is refused for its Vpc has none, or one that goes', () => {
  const vpc = (deletionTimestamp?: string): Vpc =>
    ({
      metadata: { name: 'blue', uid: 'blue', ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
      spec: {},
    }) as unknown as Vpc;
  const judged = (reason: string, there?: Vpc): number =>
    found((world) => {
      world.subnets.set('red', subnet('red', { vpc: 'blue', cidrBlock: '10.0.0.0/24' }, reason));
      if (there !== undefined) world.vpcs.set('blue', there);
    }).length;
  assert.equal(judged('VpcMissing'), 0);
  assert.equal(judged('VpcMissing', vpc()), 1);
  assert.equal(judged('VpcTerminating', vpc('2026-01-01T00:00:00Z')), 0);
  assert.equal(judged('VpcTerminating', vpc()), 1);
  assert.equal(judged('SubnetNamedAsVpc'), 1);
});

test('a pod waits for a Subnet that is not there', () => {
  const message = 'Subnet green does not exist; kubectl get subnet green';
  const bound = { type: POD_CONDITION, status: 'False', reason: 'WaitingForSubnet', message };
  const pod = { metadata: { name: 'web', namespace: 'shop', uid: 'w' }, spec: {}, status: { conditions: [bound] } } as unknown as Pod;
  for (const isThere of [false, true])
    assert.equal(
      found((world) => {
        world.pods.set('shop/web', pod);
        if (isThere) world.subnets.set('green', subnet('green', {}));
      }).length,
      isThere ? 1 : 0,
    );
});
