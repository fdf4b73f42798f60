import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuleBench } from '../../../testing/rule-bench.ts';
import { NETWORK_RULES } from '../../../testing/network-rules.ts';

test('an empty cluster gets the default Vpc, the default Subnet and the join Subnet', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.converge();
  assert.deepEqual(bench.keys('vpcs'), ['ovn-cluster']);
  assert.deepEqual(bench.object('subnets', 'ovn-default')?.spec, {
    vpc: 'ovn-cluster',
    default: true,
    provider: 'ovn',
    cidrBlock: '10.16.0.0/16',
    gateway: '10.16.0.1',
    excludeIps: ['10.16.0.1'],
    natOutgoing: true,
    private: false,
    gatewayType: 'distributed',
    enableLb: true,
    protocol: 'IPv4',
  });
  assert.deepEqual(bench.object('subnets', 'join')?.spec, {
    vpc: 'ovn-cluster',
    default: false,
    provider: 'ovn',
    cidrBlock: '100.64.0.0/16',
    gateway: '100.64.0.1',
    excludeIps: ['100.64.0.1'],
    natOutgoing: false,
    private: false,
    disableInterConnection: true,
    protocol: 'IPv4',
  });
  assert.deepEqual(bench.rowIds('Logical_Switch'), ['join', 'ovn-default']);
});

test('the join Subnet has no load balancers, the default one has six', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.converge();
  assert.deepEqual(bench.row('Logical_Switch', 'join')?.['load_balancer'], []);
  assert.equal(bench.list('Logical_Switch', 'ovn-default', 'load_balancer').length, 6);
});

test('the spec of an existing Subnet overrides the setting', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES, settings: { defaultCidr: '10.99.0.0/16' } });
  bench.put('subnets', { metadata: { name: 'ovn-default' }, spec: { cidrBlock: '10.50.0.0/16', default: true } });
  bench.converge();
  assert.deepEqual(bench.row('Logical_Router_Port', 'ovn-cluster-ovn-default')?.['networks'], ['10.50.0.1/16']);
});

test('dual-stack settings make dual-stack Subnets, with a default route of each family', () => {
  const bench = new RuleBench({
    rules: NETWORK_RULES,
    settings: { joinCidr: '100.64.0.0/16,fd00:100:64::/112', defaultCidr: '10.16.0.0/16,fd00:10:16::/112' },
  });
  bench.converge();
  assert.equal(bench.object('subnets', 'ovn-default')?.spec['protocol'], 'Dual');
  assert.deepEqual(bench.rowIds('Logical_Router_Static_Route'), [
    'ovn-cluster||dst-ip|0.0.0.0/0|100.64.0.1',
    'ovn-cluster||dst-ip|::/0|fd00:100:64::1',
  ]);
});
