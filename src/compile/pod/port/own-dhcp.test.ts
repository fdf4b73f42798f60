/** DHCP options of a port itself, when its Subnet or Vpc is removed by force. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuleBench } from '../../../testing/rule-bench.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const DHCP = { 'ovn.kubernetes.io/dhcp-v4-options': 'lease_time=600', 'ovn.kubernetes.io/dhcp-v6-options': 'dns_server=fd00::9' };
const NETWORK = { vpc: 'blue', cidrBlock: '10.0.0.0/24,fd00:10::/120', namespaces: ['shop'], enableDHCP: true };

function withOwnOptions(spec: object = NETWORK): RuleBench {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('red', spec);
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'red', ...DHCP } });
  scene.bench.converge();
  return scene.bench;
}

/** The options of the port, by family, as its columns name them. */
function optionsOf(bench: RuleBench): readonly unknown[] {
  const [, port] = [...bench.northbound.table('Logical_Switch_Port')].find(([, row]) => row['name'] === 'web.shop') ?? [];
  return ['dhcpv4_options', 'dhcpv6_options'].map((column) => {
    const uuid = port?.[column];
    const row = [...bench.northbound.table('DHCP_Options')].find(([one]) => one === uuid)?.[1];
    return row === undefined
      ? undefined
      : [uuid, row['cidr'], row['options'], (row['external_ids'] as ReadonlyMap<string, string>).get('port')];
  });
}

for (const removed of [
  ['vpcs/blue'],
  ['subnets/red'],
  ['vpcs/blue', 'subnets/red'],
  ['subnets/red', 'vpcs/blue'],
  ['subnets/red', 'ips/web.shop'],
])
  test(`a port keeps its own DHCP options after ${removed.join(', ')} was removed by force, and they go with the pod`, () => {
    const bench = withOwnOptions();
    const before = optionsOf(bench);
    assert.ok(before.every((found) => found !== undefined && (found as readonly unknown[])[3] === 'web.shop'));
    for (const one of removed) {
      const [kind = '', name = ''] = one.split('/');
      bench.removeByForce(kind as 'vpcs', name);
      bench.converge();
      assert.deepEqual(optionsOf(bench), before, one);
    }
    assert.equal(bench.writesAfterRestart(), 0);
    bench.removeByForce('pods', 'shop/web');
    bench.converge();
    assert.deepEqual(
      bench.rowIds('DHCP_Options').filter((id) => id.includes('web')),
      [],
    );
  });

for (const [how, spec] of [
  ['with a network that cannot be read', { cidrBlock: 'nonsense' }],
  ['outside of OVN', { provider: 'lan.shop' }],
  ['without DHCP', { enableDHCP: false }],
  ['in another Vpc', { vpc: 'nowhere' }],
] as const) {
  test(`a port keeps its own DHCP options while its Subnet is created again ${how}`, () => {
    const bench = withOwnOptions();
    const before = optionsOf(bench);
    bench.removeByForce('subnets', 'red');
    bench.converge();
    bench.put('subnets', { metadata: { name: 'red' }, spec: { ...NETWORK, ...spec } });
    bench.converge();
    assert.deepEqual(optionsOf(bench), before);
    assert.equal(bench.writesAfterRestart(), 0);
  });

  test(`a port keeps its own DHCP options while its Subnet is edited, ${how}, and its Vpc removed by force`, () => {
    const bench = withOwnOptions();
    const before = optionsOf(bench);
    bench.removeByForce('vpcs', 'blue');
    bench.edit('subnets', 'red', spec);
    bench.converge();
    assert.deepEqual(optionsOf(bench), before);
    assert.equal(bench.writesAfterRestart(), 0);
    bench.put('vpcs', { metadata: { name: 'blue' } });
    bench.converge();
    assert.deepEqual(optionsOf(bench), before);
  });
}
