/** Breaks each invariant and checks that it is found: a check that cannot fail proves nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import { RuleBench } from '../testing/rule-bench.ts';
import { checkInvariants } from './check-invariants.ts';
import type { Observed } from './check-invariants.ts';
import { foreignRows, foreignSnapshot } from './foreign-rows.ts';
import type { WholeRow } from './foreign-rows.ts';
import { writers } from './writers.ts';

const QUIET: Observed['plan'] = { rows: [], objects: [] };

/** A Vpc, its Subnet, and a pod that runs in it. */
function running(): RuleBench {
  const bench = new RuleBench();
  bench.put('nodes', {
    metadata: { name: 'n1' },
    status: { addresses: [{ type: 'InternalIP', address: '172.18.0.2' }], conditions: [{ type: 'Ready', status: 'True' }] },
  });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('subnets', { metadata: { name: 'red' }, spec: { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaces: ['shop'] } });
  bench.put('namespaces', { metadata: { name: 'shop' } });
  bench.put('pods', { metadata: { name: 'web', namespace: 'shop' }, spec: { nodeName: 'n1' } });
  bench.converge();
  return bench;
}

function broken(bench: RuleBench, more: Partial<Observed> = {}): readonly string[] {
  return checkInvariants({ world: bench.world, plan: QUIET, ...more }).map(({ invariant, subject }) => `${invariant} ${subject}`);
}

test('a converged cluster has no violation', () => {
  const bench = running();
  assert.equal(bench.world.pods.peek('shop/web')?.metadata.annotations?.['ovn.kubernetes.io/allocated'], 'true');
  assert.deepEqual(checkInvariants({ world: bench.world, plan: QUIET }), []);
});

test('I1 and I2: counts and ranges that do not follow from the holders', () => {
  const bench = running();
  const subnet = bench.world.subnets.peek('red');
  assert.ok(subnet?.status !== undefined);
  bench.world.subnets.set('red', { ...subnet, status: { ...subnet.status, v4usingIPs: 2, v4availableIPrange: '10.0.0.2-10.0.0.254' } });
  const found = checkInvariants({ world: bench.world, plan: QUIET });
  assert.deepEqual(
    found.map(({ invariant, subject }) => `${invariant} ${subject}`),
    ['I1 Subnet red', 'I2 Subnet red'],
  );
  assert.match(found[0]?.message ?? '', /status\.v4usingIPs is 2, and the holders of addresses and its spec give 1/);
});

test('I3: an owned row without its owner, one of an earlier object of that name, and one that the plan would change', () => {
  const bench = running();
  const pod = bench.world.pods.peek('shop/web');
  assert.ok(pod !== undefined);
  bench.world.pods.set('shop/web', { ...pod, metadata: { ...pod.metadata, uid: 'another' } });
  assert.ok(broken(bench).includes('I3 Logical_Switch_Port/web.shop'));
  bench.world.pods.delete('shop/web');
  assert.ok(broken(bench).includes('I3 Logical_Switch_Port/web.shop'));
  const id = rowId('Logical_Switch', 'red');
  const plan: Observed['plan'] = {
    rows: [{ id, verdict: { kind: 'change', change: 'update', edits: [], detail: 'other_config' } }],
    objects: [],
  };
  assert.ok(broken(running(), { plan }).includes(`I3 ${id}`));
});

test('I3: rows of a Subnet or Vpc that was removed by force stay while something is in them, and no longer', () => {
  const bench = running();
  bench.world.subnets.delete('red');
  bench.converge();
  assert.deepEqual(
    broken(bench).filter((line) => line.startsWith('I3')),
    [],
  );
  assert.deepEqual(
    broken(bench).filter((line) => line.startsWith('I7')),
    [],
    'the pod runs on in it',
  );
  bench.world.ips.delete('web.shop');
  assert.ok(broken(bench).includes('I3 Logical_Switch/red'));
  const vip = running();
  vip.put('vips', { metadata: { name: 'front' }, spec: { subnet: 'red' } });
  vip.converge();
  vip.removeByForce('pods', 'shop/web');
  vip.removeByForce('subnets', 'red');
  vip.converge();
  assert.ok(vip.row('Logical_Switch', 'red'));
  assert.deepEqual(
    broken(vip).filter((line) => line.startsWith('I3')),
    [],
    'a Vip has an address of it',
  );
  const other = running();
  other.world.vpcs.delete('blue');
  other.converge();
  assert.deepEqual(
    broken(other).filter((line) => line.startsWith('I3')),
    [],
  );
  other.world.subnets.delete('red');
  assert.ok(!broken(other).includes('I3 Logical_Router/blue'), 'an address of its network is in use');
  other.world.ips.delete('web.shop');
  assert.ok(broken(other).includes('I3 Logical_Router/blue'));
});

test('I3: the same while a new object of the name reports that it cannot be implemented, and no longer', () => {
  const found = (bench: RuleBench): readonly string[] => broken(bench).filter((line) => line.startsWith('I3'));
  const bench = running();
  bench.removeByForce('subnets', 'red');
  bench.put('subnets', { metadata: { name: 'red' }, spec: { vpc: 'blue', cidrBlock: 'nonsense' } });
  bench.converge();
  assert.ok(bench.row('Logical_Switch', 'red'));
  assert.deepEqual(found(bench), []);
  const subnet = bench.world.subnets.peek('red');
  assert.ok(subnet !== undefined);
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '' }];
  bench.world.subnets.set('red', { ...subnet, status: { ...subnet.status, conditions } } as typeof subnet);
  assert.ok(found(bench).includes('I3 Logical_Switch/red'));
});

test('I4: a foreign row that is gone, or another in any column of any table; own members and own keys do not count', () => {
  const marks = { vendor: 'kube-ovn', 'kiln.io/owner': 'subnet//red', 'kiln.io/uid': 'u', 'kiln.io/rule': 'r' };
  const tables = (rows: Readonly<Record<string, readonly WholeRow[]>>): ReadonlyMap<string, readonly WholeRow[]> =>
    new Map(Object.entries(rows));
  const port = { _uuid: 'p1', name: 'vm', addresses: 'unknown', external_ids: { 'neutron:device_id': 'vm' }, up: false };
  const before = foreignSnapshot(
    tables({
      Logical_Switch: [{ _uuid: 's1', name: 'theirs', ports: 'p1', external_ids: {} }],
      Logical_Switch_Port: [port],
      Meter: [{ _uuid: 'm1', name: 'limit', unit: 'kbps' }],
      NB_Global: [{ _uuid: 'g', external_ids: { theirs: '1' }, options: {}, nb_cfg: 1 }],
    }),
  );
  const own = { _uuid: 'p2', name: 'web.shop', external_ids: marks };
  const same = foreignSnapshot(
    tables({
      Logical_Switch: [{ _uuid: 's1', name: 'theirs', ports: ['p1', 'p2'], external_ids: {} }],
      Logical_Switch_Port: [{ ...port, up: true }, own],
      Meter: [{ _uuid: 'm1', name: 'limit', unit: 'kbps' }],
      NB_Global: [
        {
          ...{ _uuid: 'g', options: { use_ct_inv_match: 'false' }, nb_cfg: 2 },
          external_ids: { theirs: '1', 'kiln.io/term': '3', 'kiln.io/set.options.use_ct_inv_match': 'false' },
        },
      ],
    }),
  );
  assert.deepEqual(foreignRows(before, same), []);
  const unrecorded = foreignSnapshot(
    tables({
      Logical_Switch: [{ _uuid: 's1', name: 'theirs', ports: 'p1', external_ids: {} }],
      Logical_Switch_Port: [port],
      Meter: [{ _uuid: 'm1', name: 'limit', unit: 'kbps' }],
      NB_Global: [{ _uuid: 'g', external_ids: { theirs: '1' }, options: { use_ct_inv_match: 'false' }, nb_cfg: 2 }],
    }),
  );
  assert.deepEqual(
    foreignRows(before, unrecorded).map(({ subject }) => subject),
    ['NB_Global/g'],
    'an option without a record cannot be taken back',
  );
  const changed = foreignSnapshot(
    tables({
      Logical_Switch: [{ _uuid: 's1', name: 'theirs', ports: [], external_ids: {} }],
      Logical_Switch_Port: [{ ...port, addresses: 'dynamic' }],
      NB_Global: [{ _uuid: 'g', external_ids: {}, options: {}, nb_cfg: 2 }],
    }),
  );
  assert.deepEqual(
    foreignRows(before, changed).map(({ subject }) => subject),
    ['Logical_Switch/s1', 'Logical_Switch_Port/p1', 'Meter/m1', 'NB_Global/g'],
  );
});

test('I4: a foreign port that refers to our DHCP options loses the reference with them, and only with them', () => {
  const marks = { vendor: 'kube-ovn', 'kiln.io/owner': 'subnet//red', 'kiln.io/uid': 'u1' };
  const snapshot = (options: string | readonly never[], ...own: readonly string[]): ReturnType<typeof foreignSnapshot> =>
    foreignSnapshot(
      new Map<string, readonly WholeRow[]>([
        ['Logical_Switch_Port', [{ _uuid: 'p1', name: 'vm', external_ids: {}, dhcpv4_options: options }]],
        ['DHCP_Options', [...own.map((_uuid) => ({ _uuid, external_ids: marks })), { _uuid: 'theirs', external_ids: {} }]],
      ]),
    );
  assert.deepEqual(foreignRows(snapshot('d1', 'd1'), snapshot([])), []);
  assert.equal(foreignRows(snapshot('theirs', 'd1'), snapshot([], 'd1')).length, 1);
});

test('I4: a foreign row that left a row of ours; rows that are collected take no foreign row with them', () => {
  const ids = { vendor: 'kube-ovn', 'kiln.io/owner': 'subnet//red', 'kiln.io/uid': 'u1' };
  const snapshot = (held: readonly string[] | undefined, balancers: readonly string[] = ['lb']): ReturnType<typeof foreignSnapshot> =>
    foreignSnapshot(
      new Map<string, readonly WholeRow[]>([
        ['Logical_Switch', held === undefined ? [] : [{ _uuid: 'ls', external_ids: ids, load_balancer: held }]],
        ['Load_Balancer', balancers.map((_uuid) => ({ _uuid, external_ids: {} }))],
      ]),
    );
  const before = snapshot(['lb']);
  assert.deepEqual(
    foreignRows(before, snapshot([])).map(({ subject }) => subject),
    ['Logical_Switch/ls load_balancer'],
  );
  assert.deepEqual([...foreignRows(before, snapshot(['lb', 'more'], ['lb', 'more'])), ...foreignRows(before, snapshot(undefined))], []);
});

test('I5: a deletion without blockers, or with a blocker that does not exist', () => {
  const bench = running();
  bench.delete('subnets', 'red');
  bench.converge();
  assert.deepEqual(broken(bench), []);
  const subnet = bench.world.subnets.peek('red');
  assert.ok(subnet?.status !== undefined);
  const setMessage = (message: string): void =>
    bench.world.subnets.set('red', {
      ...subnet,
      status: { ...subnet.status, conditions: [{ type: 'DeletionBlocked', status: 'True', message }] },
    });
  setMessage('Subnet red cannot be deleted: one object still uses it: IP ghost.shop. It is deleted when they are gone');
  assert.deepEqual(broken(bench), ['I5 Subnet red']);
  setMessage(
    'Subnet red cannot be deleted yet: Logical_Switch red is no longer needed, but ACL red|to-lport|7|ip4 in it belongs to another program',
  );
  assert.deepEqual(broken(bench), ['I5 Subnet red']);
  setMessage('wait');
  assert.deepEqual(broken(bench), ['I5 Subnet red']);
  bench.world.subnets.set('red', { ...subnet, status: { ...subnet.status, conditions: [] } });
  assert.deepEqual(broken(bench), ['I5 Subnet red']);
});

test('I6: two interfaces with one address and no report', () => {
  const bench = running();
  const ip = bench.world.ips.peek('web.shop');
  assert.ok(ip !== undefined);
  bench.world.ips.set('other.shop', {
    ...ip,
    metadata: { ...ip.metadata, name: 'other.shop', uid: 'other' },
    spec: { ...ip.spec, podName: 'other' },
  });
  const found = broken(bench).filter((each) => each.startsWith('I6'));
  assert.deepEqual(found.toSorted(), ['I6 IP other.shop', 'I6 IP web.shop', 'I6 Logical_Switch_Port web.shop', 'I6 Pod shop/web']);
});

test('I7: an allocated pod without IP object, with a port of another address, or without a port', () => {
  const without = running();
  without.world.ips.delete('web.shop');
  assert.ok(broken(without).includes('I7 Pod shop/web'));
  const elsewhere = running();
  const pod = elsewhere.world.pods.peek('shop/web');
  assert.ok(pod !== undefined);
  elsewhere.world.pods.set('shop/web', {
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, 'ovn.kubernetes.io/ip_address': '10.0.0.77' } },
  });
  const messages = checkInvariants({ world: elsewhere.world, plan: QUIET })
    .filter(({ invariant }) => invariant === 'I7')
    .map(({ message }) => message);
  assert.equal(messages.length, 2);
  assert.match(messages.join('\n'), /does not have the address/);
});

test('I8: a fresh controller that would write', () => {
  const plan: Observed['plan'] = {
    rows: [],
    objects: [{ resource: 'ips', namespace: '', name: 'web.shop', verb: 'delete', uid: 'u', events: [] }],
  };
  assert.deepEqual(broken(running(), { plan }), ['I8 ips web.shop']);
});

test('I10: a term that falls, and a row written under a term that was replaced or never taken', () => {
  const log = (...comments: readonly string[]): readonly { record: number; comment: string }[] =>
    comments.map((comment, record) => ({ record, comment }));
  assert.deepEqual(
    writers(
      log(
        'kiln: term 1',
        'kiln: term 1, 3 rows, first x',
        'ovn-nbctl: run',
        'kiln: term 2',
        'kiln: term 2, 1 rows, first y',
        'kiln: term 2',
      ),
    ),
    [],
  );
  assert.equal(writers(log('kiln: term 1, 3 rows, first x')).length, 1);
  assert.equal(writers(log('kiln: term 2', 'kiln: term 1')).length, 1);
  assert.equal(writers(log('kiln: term 1', 'kiln: term 2', 'kiln: term 1, 1 rows, first x')).length, 1);
});
