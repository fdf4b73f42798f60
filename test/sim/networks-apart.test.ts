import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NETWORK_RULES } from '../../src/compile/rules.ts';
import { RuleBench } from '../../src/testing/rule-bench.ts';
import { networksApart } from './networks-apart.ts';

test('a router has each network at one port', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  for (const vpc of ['blue', 'green']) bench.put('vpcs', { metadata: { name: vpc } });
  const subnets = { a: ['blue', '10.0.0.0/24,fd00::/120'], b: ['blue', '10.0.1.0/24,fd00:1::/120'], c: ['green', '10.0.0.0/24'] } as const;
  for (const [name, [vpc, cidrBlock]] of Object.entries(subnets)) bench.put('subnets', { metadata: { name }, spec: { vpc, cidrBlock } });
  bench.settle();
  const found = (...networks: readonly string[]): readonly string[] => {
    const [uuid] = [...bench.northbound.table('Logical_Router_Port')].find(([, row]) => row['name'] === 'blue-b') ?? assert.fail();
    const edit = { kind: 'update', table: 'Logical_Router_Port', uuid, row: { networks } } as const;
    bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
    return networksApart(bench.world).map(({ message }) => message);
  };
  assert.deepEqual(found('10.0.1.1/24', 'fd00:1::1/120'), []);
  for (const one of ['10.0.0.129/25', 'fd00::1/64'])
    assert.deepEqual(found('10.9.0.1/24', one), ['I6: router port blue-a has a network that router port blue-b of Vpc blue has as well']);
});
