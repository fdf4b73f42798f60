/** What Kiln makes from what it observes stays while the cause is gone for a moment, with what users set on it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../testing/nat-scene.ts';
import { NETWORK_RULES } from '../testing/network-rules.ts';
import { RuleBench } from '../testing/rule-bench.ts';
import type { ResourceName } from '../world/resources.ts';

const ROUTER = '11111111-1111-4111-8111-111111111111';
const PORT = '22222222-2222-4222-8222-222222222222';
const SWITCH = '33333333-3333-4333-8333-333333333333';
const LINK = '44444444-4444-4444-8444-444444444444';
const GRACE = 600_000;
const ADMITS = 'kiln.io/admit-namespaces';

/** Each row of another program, by what it is. */
const ROWS = {
  link: (bench: RuleBench) =>
    bench.foreignRow(
      'Logical_Switch_Port',
      LINK,
      { name: 'p', type: 'router', options: { 'router-port': 'lrp-1' } },
      { table: 'Logical_Switch', uuid: SWITCH, column: 'ports' },
    ),
  switch: (bench: RuleBench) =>
    bench.foreignRow('Logical_Switch', SWITCH, { name: 'net-1', external_ids: { 'neutron:network_name': 'n' } }),
  port: (bench: RuleBench) =>
    bench.foreignRow(
      'Logical_Router_Port',
      PORT,
      { name: 'lrp-1', networks: ['10.91.0.1/24'] },
      { table: 'Logical_Router', uuid: ROUTER, column: 'ports' },
    ),
  router: (bench: RuleBench) =>
    bench.foreignRow('Logical_Router', ROUTER, { name: 'neutron-1', external_ids: { 'neutron:router_name': 'r' } }),
};

function besideNeutron(absenceGrace?: number): RuleBench {
  const settings = { enableExternalVpc: true, ...(absenceGrace !== undefined && { absenceGrace }) };
  const bench = new RuleBench({ rules: NETWORK_RULES, settings });
  for (const what of ['router', 'port', 'switch', 'link'] as const) ROWS[what](bench);
  bench.converge();
  return bench;
}

const GONE: Readonly<Record<string, (bench: RuleBench) => void>> = {
  link: (bench) => bench.removeForeignRow('Logical_Switch_Port', LINK),
  switch: (bench) => bench.removeForeignRow('Logical_Switch', SWITCH),
  port: (bench) => bench.removeForeignRow('Logical_Router_Port', PORT),
  router: (bench) => bench.removeForeignRow('Logical_Router', ROUTER),
};
const BACK: Readonly<Record<string, readonly (keyof typeof ROWS)[]>> = {
  link: ['link'],
  switch: ['switch', 'link'],
  port: ['port'],
  router: ['router', 'port'],
};

const gone = (bench: RuleBench, resource: ResourceName, name: string): string => {
  const { status = '', reason = '', message = '' } = bench.condition(resource, name, 'CauseGone') ?? {};
  return `${status} ${reason} ${message}`.trim();
};

function administered(bench: RuleBench): void {
  const { metadata, spec } = bench.object('subnets', 'net-1') ?? assert.fail();
  bench.put('subnets', {
    metadata: { ...metadata, annotations: { [ADMITS]: 'shop' } },
    spec: { ...spec, excludeIps: ['10.91.0.1', '10.91.0.100..10.91.0.200'] },
  });
  bench.converge();
}

for (const what of ['link', 'switch', 'port', 'router'])
  test(`the ${what} of another program is gone for a second: the Subnet, its exclusions and its admission stay`, () => {
    const bench = besideNeutron();
    administered(bench);
    const before = bench.object('subnets', 'net-1');
    const vpc = bench.object('vpcs', 'neutron-1');
    GONE[what]?.(bench);
    bench.converge();
    assert.match(
      gone(bench, 'subnets', 'net-1'),
      /^True KeptWithoutCause .*it stays for what is set on it: spec\.excludeIps, annotation kiln\.io\/admit-namespaces; kubectl delete subnets\.kubeovn\.io net-1$/,
    );
    for (const put of BACK[what] ?? []) ROWS[put](bench);
    bench.converge();
    const { metadata, spec } = bench.object('subnets', 'net-1') ?? assert.fail();
    assert.deepEqual([metadata.uid, metadata.annotations, spec], [before?.metadata.uid, before?.metadata.annotations, before?.spec]);
    assert.equal(bench.object('vpcs', 'neutron-1')?.metadata.uid, vpc?.metadata.uid);
    assert.equal(gone(bench, 'subnets', 'net-1') + gone(bench, 'vpcs', 'neutron-1'), '');
    assert.equal(bench.writesAfterRestart(), 0);
  });

test('nothing is set on it: its deletion waits, across restarts from the same moment, and is withdrawn when the cause is back', () => {
  const bench = besideNeutron();
  const start = Date.parse('2026-03-01T00:00:00Z');
  bench.passTo(start);
  GONE['router']?.(bench);
  bench.converge();
  for (const [resource, name] of [
    ['subnets', 'net-1'],
    ['vpcs', 'neutron-1'],
  ] as const)
    assert.match(
      gone(bench, resource, name),
      /^True CauseGone .* it is deleted at 2026-03-01T00:10:00Z unless that is back; kubectl delete /,
    );
  const restarted = bench.restarted();
  restarted.passTo(start + GRACE - 1_000);
  assert.notEqual(restarted.object('subnets', 'net-1'), undefined);
  for (const put of BACK['router'] ?? []) ROWS[put](restarted);
  restarted.converge();
  assert.equal(gone(restarted, 'subnets', 'net-1'), '');
  GONE['router']?.(restarted);
  restarted.converge();
  restarted.passTo(start + 2 * GRACE - 2_000);
  assert.notEqual(restarted.object('subnets', 'net-1'), undefined, 'the second absence has its own wait');
  const again = restarted.restarted();
  again.passTo(start + 2 * GRACE);
  assert.deepEqual([again.object('subnets', 'net-1'), again.object('vpcs', 'neutron-1')], [undefined, undefined]);
  assert.ok(again.events.some(({ reason, type }) => reason === 'CauseGone' && type === 'Normal'));
  assert.equal(again.writesAfterRestart(), 0);
});

test('what is set on a Vpc keeps it: a field of its spec, an annotation, a label; taken away, it goes', () => {
  for (const set of [
    { spec: { namespaces: ['shop'] } },
    { metadata: { annotations: { 'example.com/team': 'red' } } },
    { metadata: { labels: { team: 'red', 'ovn.kubernetes.io/vpc_external': 'true' } } },
  ]) {
    const bench = besideNeutron();
    const { metadata, spec } = bench.object('vpcs', 'neutron-1') ?? assert.fail();
    bench.put('vpcs', { metadata: { ...metadata, ...set.metadata }, spec: { ...spec, ...set.spec } });
    GONE['router']?.(bench);
    bench.converge();
    bench.passTo(Date.parse('2027-01-01T00:00:00Z'));
    assert.equal(bench.object('subnets', 'net-1'), undefined);
    assert.match(
      gone(bench, 'vpcs', 'neutron-1'),
      /KeptWithoutCause .*stays for what is set on it: (spec\.namespaces|annotation example|label team)/,
    );
    bench.put('vpcs', { metadata: { ...metadata, annotations: {}, labels: metadata.labels ?? {} }, spec });
    bench.converge();
    assert.equal(bench.object('vpcs', 'neutron-1'), undefined);
  }
});

test('what the API server fills in is nothing that a user set', () => {
  const bench = besideNeutron();
  bench.edit('vpcs', 'neutron-1', { bfdPort: { enabled: false }, staticRoutes: [] });
  GONE['router']?.(bench);
  bench.converge();
  bench.passTo(Date.parse('2027-01-01T00:00:00Z'));
  assert.equal(bench.object('vpcs', 'neutron-1'), undefined);
});

test('exclusions outlive a moment in which the router has another network', () => {
  const bench = besideNeutron();
  administered(bench);
  GONE['port']?.(bench);
  const other = '55555555-5555-4555-8555-555555555555';
  bench.foreignRow(
    'Logical_Router_Port',
    other,
    { name: 'lrp-1', networks: ['10.92.0.1/24'] },
    { table: 'Logical_Router', uuid: ROUTER, column: 'ports' },
  );
  bench.converge();
  assert.equal(bench.object('subnets', 'net-1')?.spec['cidrBlock'], '10.92.0.0/24');
  bench.removeForeignRow('Logical_Router_Port', other);
  ROWS.port(bench);
  bench.converge();
  const { spec, metadata } = bench.object('subnets', 'net-1') ?? assert.fail();
  assert.equal(spec['cidrBlock'], '10.91.0.0/24');
  assert.ok((spec['excludeIps'] as readonly string[]).includes('10.91.0.100..10.91.0.200'));
  assert.equal(metadata.annotations?.[ADMITS], 'shop');
});

test('with --absence-grace=0s what nobody has set anything on goes at once', () => {
  const bench = besideNeutron(0);
  GONE['router']?.(bench);
  bench.converge();
  assert.deepEqual([bench.object('subnets', 'net-1'), bench.object('vpcs', 'neutron-1')], [undefined, undefined]);
});

const CONFIG = { metadata: { name: 'ovn-external-gw-config', namespace: 'kube-system' }, spec: { 'external-gw-nodes': 'gw1' } };
const OF_DEFAULT = 'ovn-cluster-external';

test('the ConfigMap of the external gateway is gone for a moment: the OvnEip and the address of the port stay', () => {
  const { bench } = new NatScene();
  bench.put('configmaps', CONFIG);
  bench.converge();
  const before = bench.object('ovn-eips', OF_DEFAULT) ?? assert.fail();
  const networks = bench.row('Logical_Router_Port', OF_DEFAULT)?.['networks'];
  bench.delete('configmaps', 'kube-system/ovn-external-gw-config');
  bench.converge();
  assert.equal(bench.row('Logical_Router_Port', OF_DEFAULT), undefined);
  assert.match(gone(bench, 'ovn-eips', OF_DEFAULT), /^True CauseGone .*ConfigMap kube-system\/ovn-external-gw-config is gone/);
  bench.put('configmaps', CONFIG);
  bench.converge();
  assert.equal(bench.object('ovn-eips', OF_DEFAULT)?.metadata.uid, before.metadata.uid);
  assert.deepEqual(bench.row('Logical_Router_Port', OF_DEFAULT)?.['networks'], networks);
  assert.equal(gone(bench, 'ovn-eips', OF_DEFAULT), '');
});

test('what is set on the OvnEip of a port outlives the port; nothing is waited for where a user ended it, or its Subnet goes', () => {
  for (const isSet of [true, false]) {
    const { bench } = new NatScene();
    const { metadata, spec, status } = bench.object('ovn-eips', 'blue-external') ?? assert.fail();
    if (isSet)
      bench.put('ovn-eips', {
        metadata: { ...metadata, annotations: { ...metadata.annotations, 'example.com/firewall': 'rule-7' } },
        spec,
        status: status ?? {},
      });
    bench.edit('vpcs', 'blue', { enableExternal: false });
    bench.converge();
    assert.equal(bench.object('ovn-eips', 'blue-external')?.metadata.uid, isSet ? metadata.uid : undefined);
    if (isSet) assert.match(gone(bench, 'ovn-eips', 'blue-external'), /stays for what is set on it: annotation example\.com\/firewall/);
    bench.edit('vpcs', 'blue', { enableExternal: true });
    bench.converge();
    assert.equal(bench.object('ovn-eips', 'blue-external')?.metadata.annotations?.['example.com/firewall'], isSet ? 'rule-7' : undefined);
    bench.edit('vpcs', 'blue', { enableExternal: false });
    bench.delete('subnets', 'external');
    bench.converge();
    assert.deepEqual([bench.object('ovn-eips', 'blue-external'), bench.object('subnets', 'external')], [undefined, undefined]);
  }
});
