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
const NEUTRON = { 'neutron:router_name': 'r' };

/** A router of Neutron with a switch at it. */
function besideNeutron(enableExternalVpc: boolean, name = 'neutron-1'): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES, settings: { enableExternalVpc } });
  bench.foreignRow('Logical_Router', ROUTER, { name, external_ids: NEUTRON });
  bench.foreignRow(
    'Logical_Router_Port',
    PORT,
    { name: 'lrp-1', networks: ['10.91.0.1/24'] },
    { table: 'Logical_Router', uuid: ROUTER, column: 'ports' },
  );
  bench.foreignRow('Logical_Switch', SWITCH, { name: 'net-1', external_ids: { 'neutron:network_name': 'n' } });
  bench.foreignRow(
    'Logical_Switch_Port',
    PEER,
    { name: 'p', type: 'router', options: { 'router-port': 'lrp-1' } },
    { table: 'Logical_Switch', uuid: SWITCH, column: 'ports' },
  );
  return bench;
}

test("with the setting a router of another program is a Vpc with Kube-OVN's label, its switches, and the end of the router", () => {
  const bench = besideNeutron(true);
  const before = [bench.row('Logical_Router', 'neutron-1'), bench.row('Logical_Switch', 'net-1')];
  bench.converge();
  const vpc = bench.object('vpcs', 'neutron-1');
  assert.equal(vpc?.metadata.labels?.['ovn.kubernetes.io/vpc_external'], 'true');
  const { standby, router, subnets, defaultLogicalSwitch, default: isDefault } = vpc.status ?? {};
  assert.deepEqual(
    { standby, router, subnets, defaultLogicalSwitch, isDefault },
    { standby: true, router: 'neutron-1', subnets: ['net-1'], defaultLogicalSwitch: '', isDefault: false },
  );
  bench.removeForeignRow('Logical_Switch_Port', PEER);
  bench.converge();
  assert.deepEqual(bench.object('vpcs', 'neutron-1')?.status?.['subnets'], []);
  assert.deepEqual(bench.row('Logical_Router', 'neutron-1'), before[0]);
  bench.removeForeignRow('Logical_Router', ROUTER);
  bench.converge();
  bench.passTo(BEYOND);
  assert.equal(bench.object('vpcs', 'neutron-1'), undefined);
});

test('without it there is none, and none goes', () => {
  const bench = besideNeutron(false);
  bench.put('vpcs', { metadata: { name: 'by-hand', labels: { 'ovn.kubernetes.io/vpc_external': 'true' } } });
  bench.converge();
  assert.equal(bench.object('vpcs', 'neutron-1'), undefined);
  assert.notEqual(bench.object('vpcs', 'by-hand'), undefined);
});

test('a router whose name no object can have, and one of a name that a user gave a Vpc', () => {
  const bench = besideNeutron(true, 'GR_node-1');
  bench.converge();
  assert.equal(bench.object('vpcs', 'GR_node-1'), undefined);
  const other = besideNeutron(true);
  other.put('vpcs', { metadata: { name: 'neutron-1' } });
  other.converge();
  assert.equal(other.object('vpcs', 'neutron-1')?.metadata.labels?.['ovn.kubernetes.io/vpc_external'], undefined);
  assert.deepEqual([...other.conflicts.keys()], ['Logical_Router/neutron-1']);
});

test('what the spec of an external Vpc asks is its owner to decide, and is told', () => {
  const bench = besideNeutron(true);
  bench.converge();
  bench.edit('vpcs', 'neutron-1', { enableExternal: true, staticRoutes: [{ cidr: '10.0.0.0/8', nextHopIP: '10.91.0.9' }] });
  bench.converge();
  const conditions = (bench.object('vpcs', 'neutron-1')?.status?.['conditions'] ?? []) as readonly {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
  }[];
  const told = conditions.find(({ type }) => type === 'WithoutEffect');
  assert.equal(told?.reason, 'ExternalVpc');
  assert.match(told.message, /spec\.enableExternal "true" has no effect in an external Vpc.*spec\.staticRoutes/);
  assert.deepEqual(
    bench.rowIds('Logical_Router_Static_Route').filter((id) => id.startsWith('neutron-1')),
    [],
  );
  assert.equal(bench.rowIds('Logical_Router_Port').filter((name) => name.startsWith('neutron-1-')).length, 0);
});
