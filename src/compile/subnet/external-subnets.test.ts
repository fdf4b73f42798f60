/** Switches of other programs as Subnets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NETWORK_RULES } from '../../testing/network-rules.ts';
import { RuleBench } from '../../testing/rule-bench.ts';

const ROUTER = '11111111-1111-4111-8111-111111111111';
const PORT = '22222222-2222-4222-8222-222222222222';
const SWITCH = '33333333-3333-4333-8333-333333333333';
const PEER = '44444444-4444-4444-8444-444444444444';
/** After everything that was made here, by more than the wait for a cause. */
const BEYOND = Date.parse('2026-02-01T00:00:00Z');
const NEUTRON = { 'neutron:network_name': 'n' };

/** A router of Neutron with a switch at it. */
function besideNeutron(settings: { readonly enableExternalVpc: boolean } = { enableExternalVpc: true }): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES, settings });
  bench.foreignRow('Logical_Router', ROUTER, { name: 'neutron-1', external_ids: { 'neutron:router_name': 'r' } });
  bench.foreignRow(
    'Logical_Router_Port',
    PORT,
    { name: 'lrp-1', networks: ['10.91.0.1/24', 'fd91::1/64', 'fe80::1/64'] },
    { table: 'Logical_Router', uuid: ROUTER, column: 'ports' },
  );
  bench.foreignRow('Logical_Switch', SWITCH, { name: 'net-1', external_ids: NEUTRON });
  linked(bench);
  return bench;
}

function linked(bench: RuleBench): void {
  bench.foreignRow(
    'Logical_Switch_Port',
    PEER,
    { name: 'p', type: 'router', options: { 'router-port': 'lrp-1' } },
    { table: 'Logical_Switch', uuid: SWITCH, column: 'ports' },
  );
}

const specOf = (bench: RuleBench): Readonly<Record<string, unknown>> => bench.object('subnets', 'net-1')?.spec ?? {};

test("a switch at an external router is a Subnet with Kube-OVN's label, the router's network, and no row of ours", () => {
  const bench = besideNeutron();
  const rows = (): unknown =>
    ['Logical_Switch', 'Logical_Router', 'Logical_Switch_Port', 'Logical_Router_Port', 'DHCP_Options', 'ACL'].map((table) =>
      bench.rowIds(table as 'ACL'),
    );
  bench.converge();
  const before = rows();
  const subnet = bench.object('subnets', 'net-1');
  assert.equal(subnet?.metadata.labels?.['ovn.kubernetes.io/vpc_external'], 'true');
  const { vpc, cidrBlock, gateway, protocol, provider, excludeIps } = specOf(bench);
  assert.deepEqual(
    { vpc, cidrBlock, gateway, protocol, provider, excludeIps },
    {
      vpc: 'neutron-1',
      cidrBlock: '10.91.0.0/24,fd91::/64',
      gateway: '10.91.0.1,fd91::1',
      protocol: 'Dual',
      provider: 'vpc-external',
      excludeIps: ['10.91.0.1', 'fd91::1'],
    },
  );
  const ready = bench.condition('subnets', 'net-1', 'Ready');
  assert.deepEqual([ready?.status, ready?.reason], ['True', 'SwitchOfOthers']);
  assert.deepEqual(bench.object('vpcs', 'neutron-1')?.status?.['subnets'], ['net-1']);
  assert.equal(bench.condition('subnets', 'net-1', 'WithoutEffect'), undefined);
  assert.equal(bench.writesAfterRestart(), 0);
  assert.deepEqual(rows(), before);
  assert.equal(bench.conflicts.size, 0);
});

test('an edit is undone, except for excluded addresses and annotations; a deleted one comes back; a new network follows', () => {
  const bench = besideNeutron();
  bench.converge();
  bench.edit('subnets', 'net-1', {
    ...{ provider: 'ovn', cidrBlock: '10.91.0.0/16', gateway: '10.91.0.9', vpc: 'ovn-cluster', enableDHCP: true, namespaces: ['default'] },
    excludeIps: ['10.91.0.100..10.91.0.200'],
  });
  bench.converge();
  const { vpc, cidrBlock, gateway, provider, namespaces, excludeIps } = specOf(bench);
  assert.deepEqual(
    [vpc, cidrBlock, gateway, provider, namespaces ?? []],
    ['neutron-1', '10.91.0.0/24,fd91::/64', '10.91.0.1,fd91::1', 'vpc-external', []],
  );
  assert.deepEqual(excludeIps, ['10.91.0.1', '10.91.0.100..10.91.0.200', 'fd91::1']);
  assert.deepEqual(bench.rowIds('DHCP_Options'), []);
  const { uid } = bench.object('subnets', 'net-1')?.metadata ?? {};
  bench.delete('subnets', 'net-1');
  bench.converge();
  assert.notEqual(bench.object('subnets', 'net-1'), undefined);
  assert.notEqual(bench.object('subnets', 'net-1')?.metadata.uid, uid);
  bench.delete('vpcs', 'neutron-1');
  bench.converge();
  assert.equal(bench.object('vpcs', 'neutron-1')?.metadata.deletionTimestamp, undefined, 'the Vpc does not wait for it');
  bench.removeForeignRow('Logical_Router_Port', PORT);
  bench.foreignRow(
    'Logical_Router_Port',
    '55555555-5555-4555-8555-555555555555',
    { name: 'lrp-1', networks: ['10.92.0.1/24'] },
    { table: 'Logical_Router', uuid: ROUTER, column: 'ports' },
  );
  bench.converge();
  assert.deepEqual([specOf(bench)['cidrBlock'], specOf(bench)['protocol']], ['10.92.0.0/24', 'IPv4']);
});

for (const [what, table, uuid] of [
  ['the link', 'Logical_Switch_Port', PEER],
  ['the switch', 'Logical_Switch', SWITCH],
  ['the router', 'Logical_Router', ROUTER],
] as const)
  test(`it goes with ${what}`, () => {
    const bench = besideNeutron();
    bench.converge();
    bench.removeForeignRow(table, uuid);
    bench.converge();
    assert.notEqual(bench.object('subnets', 'net-1'), undefined);
    bench.passTo(BEYOND);
    assert.equal(bench.object('subnets', 'net-1'), undefined);
  });

test('without the setting there is none; a Subnet of that name that a user made stays, and its switch is a conflict', () => {
  const off = besideNeutron({ enableExternalVpc: false });
  off.converge();
  assert.equal(off.object('subnets', 'net-1'), undefined);
  const bench = besideNeutron();
  bench.put('subnets', { metadata: { name: 'net-1' }, spec: { cidrBlock: '10.5.0.0/24' } });
  bench.converge();
  assert.equal(specOf(bench)['cidrBlock'], '10.5.0.0/24');
  assert.equal(bench.object('subnets', 'net-1')?.metadata.labels?.['ovn.kubernetes.io/vpc_external'], undefined);
  assert.ok(bench.conflicts.has('Logical_Switch/net-1' as never));
});

test('a running Subnet of ours that gets the label keeps its network', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES, settings: { enableExternalVpc: true } });
  bench.put('subnets', { metadata: { name: 'red' }, spec: { cidrBlock: '10.5.0.0/24' } });
  bench.converge();
  const rows = bench.rowIds('Logical_Switch_Port');
  bench.put('subnets', {
    metadata: { name: 'red', labels: { 'ovn.kubernetes.io/vpc_external': 'true' } },
    spec: { cidrBlock: '10.5.0.0/24' },
  });
  bench.converge();
  assert.deepEqual(bench.rowIds('Logical_Switch_Port'), rows);
  assert.notEqual(bench.object('subnets', 'red'), undefined);
});
