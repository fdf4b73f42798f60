import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringifyJson } from '../../../kube/json.ts';
import { rowId } from '../../../nb/row-id.ts';
import type { Uuid } from '../../../ovsdb/index.ts';
import { RuleBench } from '../../../testing/rule-bench.ts';

function setUp(): RuleBench {
  const bench = new RuleBench();
  for (const vpc of ['z1', 'z2']) bench.put('vpcs', { metadata: { name: vpc }, spec: {} });
  bench.put('subnets', { metadata: { name: 'zs' }, spec: { vpc: 'z1', cidrBlock: '10.0.0.0/24' } });
  bench.put('pods', {
    metadata: { name: 'web', namespace: 'shop', annotations: { 'ovn.kubernetes.io/logical_switch': 'zs' } },
    spec: { nodeName: 'n1' },
  });
  bench.put('nodes', { metadata: { name: 'n1' }, spec: {} });
  bench.put('namespaces', { metadata: { name: 'shop' } });
  bench.converge();
  assert.equal(bench.object('pods', 'shop/web')?.metadata.annotations?.['ovn.kubernetes.io/gateway'], '10.0.0.1');
  return bench;
}

for (const target of ['nonexist', 'z2']) {
  test(`a Subnet does not move to Vpc ${target}: its network stays as it is, and the Subnet reports that`, () => {
    const bench = setUp();
    const rows = [...bench.world.rows.ownedBy('subnet//zs')].toSorted();
    bench.edit('subnets', 'zs', { vpc: target });
    bench.converge();
    assert.deepEqual([...bench.world.rows.ownedBy('subnet//zs')].toSorted(), rows);
    const annotations = bench.object('pods', 'shop/web')?.metadata.annotations ?? {};
    assert.equal(annotations['ovn.kubernetes.io/cidr'], '10.0.0.0/24');
    assert.equal(annotations['ovn.kubernetes.io/gateway'], '10.0.0.1');
    assert.equal(annotations['ovn.kubernetes.io/logical_router'], 'z1');
    assert.equal(bench.object('subnets', 'zs')?.status?.['v4usingIPs'], 1n);
    assert.deepEqual(bench.object('vpcs', 'z1')?.status?.['subnets'], ['zs']);
    assert.match(bench.condition('subnets', 'zs', 'Accepted')?.message ?? '', /is in Vpc z1, and a Subnet does not move; set it back/);

    bench.delete('vpcs', 'z1');
    bench.converge();
    assert.match(bench.condition('vpcs', 'z1', 'DeletionBlocked')?.message ?? '', /Subnet zs/);

    const again = bench.restarted();
    again.converge();
    assert.deepEqual([...again.world.rows.ownedBy('subnet//zs')].toSorted(), rows);

    bench.edit('subnets', 'zs', { vpc: 'z1' });
    bench.converge();
    assert.equal(bench.condition('subnets', 'zs', 'Accepted')?.status, 'True');
  });
}

for (const how of ['changed', 'deleted'] as const) {
  test(`the link of a frozen Subnet leads to its router again after it was ${how}`, () => {
    const bench = setUp();
    bench.edit('subnets', 'zs', { vpc: 'z2' });
    bench.converge();
    const link = rowId('Logical_Switch_Port', 'zs-z1');
    const uuid = [...bench.northbound.table('Logical_Switch_Port')].find(([, row]) => row['name'] === 'zs-z1')?.[0];
    assert.ok(uuid !== undefined);
    const row = { options: new Map([['requested-chassis', 'n9']]) };
    if (how === 'deleted') bench.removeForeignRow('Logical_Switch_Port', uuid);
    else bench.world.rows.apply(bench.northbound, bench.northbound.apply([{ kind: 'update', table: 'Logical_Switch_Port', uuid, row }]));
    bench.converge();
    assert.deepEqual(bench.world.rows.column(link, 'options'), new Map([['router-port', 'z1-zs']]));
    assert.equal(bench.condition('subnets', 'zs', 'Accepted')?.reason, 'SubnetVpcChanged');
  });
}

const NOT_THE_ROUTERS: Readonly<Record<string, (bench: RuleBench) => void>> = {
  'under the name of a Subnet': (bench) => {
    bench.put('subnets', { metadata: { name: 'z1' }, spec: { vpc: 'z2', cidrBlock: '10.5.0.0/24' } });
    bench.converge();
    bench.put('vpcs', { metadata: { name: 'z1' }, spec: {} });
  },
  'for a router of another program': (bench) =>
    bench.put('vpcs', { metadata: { name: 'z1', labels: { 'ovn.kubernetes.io/vpc_external': 'true' } }, spec: {} }),
};

for (const [how, makeAgain] of Object.entries(NOT_THE_ROUTERS)) {
  test(`a Vpc created again ${how} does not delete the router of existing Subnets; it is deleted with the last of them`, () => {
    const bench = setUp();
    const rows = (): readonly string[] => [...bench.world.rows.ownedBy('vpc//z1'), ...bench.world.rows.ownedBy('subnet//zs')].toSorted();
    const before = rows();
    assert.ok(before.includes('Logical_Router/z1') && before.includes('Logical_Router_Port/z1-zs'));
    bench.removeByForce('vpcs', 'z1');
    makeAgain(bench);
    bench.converge();
    assert.deepEqual(rows(), before);
    assert.equal(bench.writesAfterRestart(), 0);
    bench.delete('pods', 'shop/web');
    bench.delete('subnets', 'zs');
    bench.converge();
    assert.deepEqual(rows(), []);
  });
}

test('a running network stays when the provider is edited to one outside of OVN; the Subnet reports that, and can be deleted', () => {
  const bench = setUp();
  const rows = [...bench.world.rows.ownedBy('subnet//zs')].toSorted();
  bench.edit('subnets', 'zs', { provider: 'nonsense' });
  bench.converge();
  assert.deepEqual([...bench.world.rows.ownedBy('subnet//zs')].toSorted(), rows);
  assert.match(bench.condition('subnets', 'zs', 'Accepted')?.message ?? '', /spec\.provider.*nonsense.*set it back/);
  assert.equal(bench.object('subnets', 'zs')?.status?.['v4usingIPs'], 1n);
  assert.deepEqual(bench.object('vpcs', 'z1')?.status?.['subnets'], ['zs']);
  const again = bench.restarted();
  again.converge();
  assert.deepEqual([...again.world.rows.ownedBy('subnet//zs')].toSorted(), rows);
  bench.delete('subnets', 'zs');
  bench.converge();
  assert.match(bench.condition('subnets', 'zs', 'DeletionBlocked')?.message ?? '', /IP web\.shop/);
  bench.delete('pods', 'shop/web');
  bench.converge();
  assert.equal(bench.object('subnets', 'zs'), undefined);
  assert.deepEqual([...bench.world.rows.ownedBy('subnet//zs')], []);
});

test('an object whose rows cannot be deleted yet reports the reason', () => {
  const bench = setUp();
  bench.put('subnets', { metadata: { name: 'fx' }, spec: { vpc: 'z1', cidrBlock: '10.9.0.0/24' } });
  bench.converge();
  bench.world.rowConflicts.set(rowId('Logical_Switch', 'fx'), {
    owners: ['subnet//fx'],
    message: 'Logical_Switch_Port guest in it is not ours',
  });
  bench.delete('subnets', 'fx');
  bench.compile();
  const reported = bench.desired.objects.of('subnets/fx' as never);
  assert.match(stringifyJson(reported), /Subnet fx cannot be deleted yet: Logical_Switch_Port guest in it is not ours/);
});

test('a row conflict of an IPPool or a node is reported by an Event on it', () => {
  const bench = setUp();
  bench.world.rowConflicts.set(rowId('Port_Group', 'node.n1'), { owners: ['node//n1'], message: 'Port_Group node.n1 belongs to neutron' });
  bench.converge();
  assert.deepEqual(
    bench.events.filter(({ reason }) => reason === 'Conflict').map(({ object, message }) => `${object}: ${message}`),
    ['nodes/n1: Port_Group node.n1 belongs to neutron'],
  );
});

test('a pod with an annotation that is not implemented reports that', () => {
  const bench = setUp();
  bench.put('pods', {
    metadata: { name: 'odd', namespace: 'shop', annotations: { 'ovn.kubernetes.io/security_groups': 'sg1', 'ovn.kubernetes.io/eip': '' } },
    spec: { nodeName: 'n1' },
  });
  bench.converge();
  const events = bench.events.filter(({ object, reason }) => object === 'pods/shop/odd' && reason === 'NotCarriedOut');
  assert.deepEqual(
    events.map(({ message }) => message),
    [
      'Pod shop/odd: annotation ovn.kubernetes.io/security_groups is not implemented by this version of Kiln: no rule of a SecurityGroup is enforced',
    ],
  );
});

/** Another program overwrites the ownership keys of the router of Vpc z1. */
function takeRouter(bench: RuleBench): Uuid {
  const [uuid] = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'z1') ?? [];
  assert.ok(uuid !== undefined);
  const edit = { kind: 'update', table: 'Logical_Router', uuid, row: { external_ids: { theirs: 'yes' } } } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
  return uuid;
}

test('a Subnet in a router that became foreign reports that, with the Vpc to inspect, until the router is ours again', () => {
  const bench = setUp();
  const { uid } = bench.object('vpcs', 'z1')?.metadata ?? {};
  const uuid = takeRouter(bench);
  bench.converge();
  const reported = bench.condition('subnets', 'zs', 'Ready');
  assert.deepEqual([reported?.status, reported?.reason], ['False', 'RowConflict']);
  assert.match(
    reported?.message ?? '',
    /^Subnet zs: Logical_Router z1 \(row \S+\) of its Vpc z1 belongs to another program.*; kiln explain vpc z1$/,
  );
  const keys = { vendor: 'kube-ovn', 'kiln.io/owner': 'vpc//z1', 'kiln.io/uid': String(uid), 'kiln.io/rule': 'vpc-router' };
  const edit = { kind: 'update', table: 'Logical_Router', uuid, row: { external_ids: keys } } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
  bench.converge();
  assert.equal(bench.condition('subnets', 'zs', 'Ready')?.status, 'True');
});

test('a Subnet that is being deleted is deleted at last although another one needs the row that it had in a router that became foreign', () => {
  const bench = setUp();
  bench.put('subnets', { metadata: { name: 'first' }, spec: { vpc: 'z1', cidrBlock: '10.9.0.0/24' } });
  bench.converge();
  bench.put('subnets', { metadata: { name: 'second' }, spec: { vpc: 'z1', cidrBlock: '10.9.0.0/24' } });
  bench.converge();
  assert.equal(bench.condition('subnets', 'second', 'Accepted')?.status, 'False');
  const policy = 'z1|31000|ip4.dst == 10.9.0.0/24';
  assert.equal(bench.externalIds('Logical_Router_Policy', policy)['kiln.io/owner'], 'subnet//first');
  takeRouter(bench);
  bench.delete('subnets', 'first');
  bench.converge();
  assert.equal(bench.object('subnets', 'first'), undefined);
  assert.equal(bench.condition('subnets', 'second', 'Ready')?.reason, 'RowConflict');
  assert.deepEqual([...bench.world.rows.ownedBy('subnet//first')], []);
});
