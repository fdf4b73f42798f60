import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkInvariants } from '../../../invariants/check-invariants.ts';
import { statusOf } from '../../../explain/status.ts';
import { rowId } from '../../../nb/row-id.ts';
import { PodScene } from '../../../testing/pod-scene.ts';
import { conditionOf } from '../../../world/conditions.ts';
import { localnetId } from './underlay.ts';

const LOCALNET = '00000000-0000-4000-8000-000000000009';

function scene(): PodScene {
  const made = new PodScene();
  made.subnet('under', { cidrBlock: '10.4.0.0/24', vlan: 'v10', namespaces: ['shop'] });
  made.subnet('gated', { cidrBlock: '10.5.0.0/24', vlan: 'v10', logicalGateway: true });
  made.bench.converge();
  made.pod('web');
  made.bench.converge();
  return made;
}

function vlan({ bench }: PodScene, name: string, spec: object = { id: 10, provider: 'net1' }): void {
  bench.put('vlans', { metadata: { name }, spec });
}

function network({ bench }: PodScene, name = 'net1'): void {
  bench.put('provider-networks', { metadata: { name }, spec: { defaultInterface: 'eth1' } });
}

/** `network tag`, as OVN has them. */
function localnet({ bench }: PodScene, subnet: string): string | undefined {
  const row = bench.row('Logical_Switch_Port', `localnet.${subnet}`);
  const { network_name: name = '' } = (row?.['options'] ?? {}) as { readonly network_name?: string };
  return row === undefined ? undefined : `${String(row['type'])} ${name} ${String(row['tag'])}`;
}

function ready({ bench }: PodScene, subnet = 'under'): string {
  const { status, reason, message = '' } = bench.condition('subnets', subnet, 'Ready') ?? { status: '' };
  return status === 'True' ? 'True' : `${reason} ${message}`;
}

function bound({ bench }: PodScene): readonly [string | undefined, string] {
  const object = bench.object('pods', 'shop/web');
  assert.ok(object);
  const condition = conditionOf('pods', object, 'kiln.io/NetworkBound');
  return [condition?.status, condition?.message ?? ''];
}

test("the external Subnet keeps the network of Kube-OVN's gateways after a take-over, and follows its Vlan otherwise", () => {
  const made = new PodScene();
  const { bench } = made;
  network(made);
  network(made, 'net2');
  vlan(made, 'v10');
  const [switchUuid, port] = ['10000000-0000-4000-8000-000000000001', '10000000-0000-4000-8000-000000000002'];
  const [owned, options] = [{ vendor: 'kube-ovn' }, new Map([['network_name', 'external']])];
  bench.foreignRow('Logical_Switch', switchUuid, { name: 'external', external_ids: owned });
  bench.foreignRow(
    'Logical_Switch_Port',
    port,
    { name: 'localnet.external', type: 'localnet', options, external_ids: { ...owned, ls: 'external' } },
    { table: 'Logical_Switch', uuid: switchUuid, column: 'ports' },
  );
  made.subnet('external', { cidrBlock: '10.6.0.0/24', vlan: 'v10' });
  bench.converge();
  assert.equal(localnet(made, 'external'), 'localnet external 10');
  assert.equal(bench.restarted().writesAfterRestart(), 0);

  made.subnet('under', { cidrBlock: '10.4.0.0/24', vlan: 'v10' });
  bench.converge();
  vlan(made, 'v10', { id: 10, provider: 'net2' });
  bench.converge();
  assert.deepEqual([localnet(made, 'external'), localnet(made, 'under')], ['localnet external 10', 'localnet net2 10']);

  const other = new PodScene();
  network(other);
  network(other, 'net2');
  vlan(other, 'v10');
  other.subnet('external', { cidrBlock: '10.6.0.0/24', vlan: 'v10' });
  other.bench.converge();
  vlan(other, 'v10', { id: 10, provider: 'net2' });
  other.bench.converge();
  assert.equal(localnet(other, 'external'), 'localnet net2 10');
});

test('a Subnet, its Vlan and its ProviderNetwork come in any order: a localnet port with network and tag, and pods are bound', () => {
  for (const order of ['vn', 'nv'] as const) {
    const made = scene();
    const { bench } = made;
    assert.match(ready(made), /^VlanMissing Subnet under: spec\.vlan "v10" names a Vlan that does not exist/);
    assert.match(ready(made, 'gated'), /^VlanMissing/);
    assert.deepEqual([made.addressOf('shop/web'), made.annotations('shop/web')['ovn.kubernetes.io/routed']], ['10.4.0.2', undefined]);
    assert.equal(bound(made)[0], 'False');
    assert.match(bound(made)[1], /spec\.vlan "v10" names a Vlan that does not exist/);
    const findings = statusOf(bench.world, true).findings.map(({ what, kind, key }) => `${what} ${kind} ${key}`);
    assert.deepEqual(findings, ['not ready Subnet under', 'not ready Subnet gated', 'not ready Pod shop/web']);
    if (order === 'vn') vlan(made, 'v10');
    else network(made);
    bench.converge();
    assert.match(ready(made), order === 'vn' ? /^ProviderNetworkMissing Subnet under: Vlan v10 is not in effect: / : /^VlanMissing/);
    assert.equal(localnet(made, 'under'), undefined);
    if (order === 'vn') network(made);
    else vlan(made, 'v10');
    bench.converge();
    assert.deepEqual([ready(made), ready(made, 'gated')], ['True', 'True']);
    assert.equal(localnet(made, 'under'), 'localnet net1 10');
    const { addresses, external_ids: ids } = bench.row('Logical_Switch_Port', 'localnet.under') ?? {};
    assert.deepEqual(addresses, ['unknown']);
    const { ls, ipv4_network: networkKey, vendor } = ids as Record<string, string>;
    assert.deepEqual([ls, networkKey, vendor], ['under', '10.4.0.0/24', 'kube-ovn']);
    assert.equal(bench.row('Logical_Router_Port', 'ovn-cluster-under'), undefined, 'the gateway is a physical one');
    assert.deepEqual(bench.row('Logical_Router_Port', 'ovn-cluster-gated')?.['networks'], ['10.5.0.1/24']);
    const annotations = made.annotations('shop/web');
    const keys = ['routed', 'vlan_id', 'provider_network', 'logical_router'].map((key) => annotations[`ovn.kubernetes.io/${key}`]);
    assert.deepEqual([...keys, bound(made)[0]], ['true', '10', 'net1', undefined, 'True']);
    assert.deepEqual(bench.object('vlans', 'v10')?.status?.['subnets'], ['gated', 'under']);
    assert.deepEqual(bench.object('provider-networks', 'net1')?.status?.['vlans'], ['v10']);
    const left = statusOf(bench.world, true).findings.map(({ what, kind, key }) => `${what} ${kind} ${key}`);
    assert.deepEqual(left, ['not ready ProviderNetwork net1'], 'no agent says that it is');
    assert.equal(bench.writesAfterRestart(), 0);
  }
});

test('tag and network follow the Vlan; 0 is untagged; without spec.vlan the port goes', () => {
  const made = scene();
  const { bench } = made;
  network(made);
  network(made, 'net2');
  vlan(made, 'v10');
  bench.converge();
  const after = (spec: object): string | undefined => {
    bench.edit('vlans', 'v10', spec);
    bench.converge();
    return localnet(made, 'under');
  };
  assert.equal(after({ id: 11 }), 'localnet net1 11');
  assert.equal(after({ provider: 'net2' }), 'localnet net2 11');
  assert.deepEqual(bench.object('provider-networks', 'net1')?.status?.['vlans'], [], 'Kube-OVN leaves the name there');
  assert.equal(made.annotations('shop/web')['ovn.kubernetes.io/provider_network'], 'net2');
  assert.match(after({ id: 0 }) ?? '', /^localnet net2 (?:null|undefined|)$/);
  // Names of older releases.
  assert.equal(after({ vlanId: 12, provider: '', providerInterfaceName: 'net1' }), 'localnet net1 12');
  bench.edit('subnets', 'gated', { vlan: '' });
  bench.converge();
  assert.deepEqual([localnet(made, 'gated'), ready(made, 'gated')], [undefined, 'True']);
});

test('T66 of two Vlans with one tag the older one has it; the younger one is in effect as soon as that goes or changes', () => {
  const made = scene();
  const { bench } = made;
  network(made);
  vlan(made, 'v10');
  bench.passTo(Date.parse('2026-03-01T00:00:00Z'));
  vlan(made, 'twin');
  made.subnet('second', { cidrBlock: '10.6.0.0/24', vlan: 'twin' });
  bench.converge();
  const conflicts = (): readonly unknown[] => ['v10', 'twin'].map((name) => bench.object('vlans', name)?.status?.['conflict']);
  assert.deepEqual(conflicts(), [false, true]);
  assert.deepEqual([ready(made), localnet(made, 'second')], ['True', undefined]);
  assert.match(ready(made, 'second'), /^VlanConflict .*spec\.id "10" is the tag of Vlan v10 in ProviderNetwork net1 too/);
  const { reason } = bench.condition('vlans', 'twin', 'Accepted') ?? {};
  assert.equal(reason, 'VlanConflict');
  const told = bench.condition('vlans', 'v10', 'VlanConflict');
  assert.match(
    `${told?.status} ${told?.reason} ${told?.message}`,
    /^True VlanConflict Vlan v10 has tag 10 of ProviderNetwork net1, and Vlan twin, which is newer, waits for it; kubectl edit vlan twin$/,
  );
  assert.ok(bench.events.some(({ object, reason: of }) => object === 'vlans/v10' && of === 'VlanConflict'));
  assert.equal(bench.condition('vlans', 'twin', 'VlanConflict'), undefined);
  bench.edit('vlans', 'v10', { id: 9 });
  bench.converge();
  assert.deepEqual([...conflicts(), localnet(made, 'second'), ready(made, 'second')], [false, false, 'localnet net1 10', 'True']);
  assert.equal(bench.condition('vlans', 'v10', 'VlanConflict'), undefined);
  // A network that runs stays while its Vlan is in conflict.
  bench.edit('vlans', 'v10', { id: 10 });
  bench.converge();
  assert.deepEqual([...conflicts(), localnet(made, 'second')], [false, true, 'localnet net1 10']);
  assert.match(ready(made, 'second'), /Its running network stays as it is$/);
  bench.delete('subnets', 'under');
  bench.delete('pods', 'shop/web');
  bench.delete('subnets', 'gated');
  bench.delete('vlans', 'v10');
  bench.converge();
  assert.equal(bench.object('vlans', 'v10'), undefined);
  assert.deepEqual([conflicts()[1], ready(made, 'second')], [false, 'True']);
});

test('Vlan and ProviderNetwork wait in their deletion for what uses them; removed by force, the running network stays', () => {
  const made = scene();
  const { bench } = made;
  network(made);
  vlan(made, 'v10');
  bench.converge();
  bench.delete('provider-networks', 'net1');
  bench.delete('vlans', 'v10');
  bench.converge();
  assert.match(bench.condition('provider-networks', 'net1', 'DeletionBlocked')?.message ?? '', /Vlan v10/);
  assert.match(bench.condition('vlans', 'v10', 'DeletionBlocked')?.message ?? '', /Subnets? gated.*under/);
  assert.equal(localnet(made, 'under'), 'localnet net1 10');
  for (const subnet of ['under', 'gated']) bench.delete('subnets', subnet);
  bench.delete('pods', 'shop/web');
  bench.converge();
  for (const [resource, name] of [
    ['vlans', 'v10'],
    ['provider-networks', 'net1'],
    ['subnets', 'under'],
  ] as const)
    assert.equal(bench.object(resource, name), undefined, name);
  assert.equal(localnet(made, 'under'), undefined);

  const forced = scene();
  network(forced);
  vlan(forced, 'v10');
  forced.bench.converge();
  forced.bench.removeByForce('vlans', 'v10');
  forced.bench.converge();
  assert.deepEqual([localnet(forced, 'under'), bound(forced)[0]], ['localnet net1 10', 'True']);
  assert.match(ready(forced), /^VlanMissing .* Its running network stays as it is$/);
  assert.equal(forced.bench.writesAfterRestart(), 0);
  vlan(forced, 'v10', { id: 13, provider: 'net1' });
  forced.bench.converge();
  assert.deepEqual([localnet(forced, 'under'), ready(forced)], ['localnet net1 13', 'True']);
});

test('a localnet port of another program in the place of ours is left alone, and pods use it', () => {
  const made = scene();
  const { bench } = made;
  const parent = String(bench.world.rows.best(rowId('Logical_Switch', 'under'))?.uuid);
  const place = { table: 'Logical_Switch', uuid: parent, column: 'ports' };
  bench.foreignRow('Logical_Switch_Port', LOCALNET, { name: 'localnet.under', type: 'localnet' }, place);
  bench.converge();
  assert.equal(made.annotations('shop/web')['ovn.kubernetes.io/routed'], 'true');
  assert.equal(bound(made)[0], 'True');
  network(made);
  vlan(made, 'v10');
  bench.converge();
  assert.match(bench.conflicts.get(localnetId('under')) ?? '', /belongs to another program, and Kiln does not change it/);
  assert.match(ready(made), /^LocalnetPending/);
  assert.match(localnet(made, 'under') ?? '', /^localnet {2}/);
});

test('a pod cannot have the name of the localnet port of a Subnet', () => {
  const made = new PodScene();
  made.subnet('shop', { cidrBlock: '10.7.0.0/24', vlan: 'v10' });
  network(made);
  vlan(made, 'v10');
  made.pod('localnet');
  made.bench.converge();
  assert.equal(localnet(made, 'shop'), 'localnet net1 10');
  const object = made.bench.object('pods', 'shop/localnet');
  assert.ok(object);
  assert.match(conditionOf('pods', object, 'kiln.io/NetworkBound')?.message ?? '', /Subnet shop/);
});

test('a Subnet whose Vlan is in conflict, missing, or without its network has no available address; its running network keeps the count', () => {
  const available = ({ bench }: PodScene, subnet = 'under'): unknown => {
    const status = bench.object('subnets', subnet)?.['status'] as Readonly<Record<string, unknown>>;
    return [status['v4availableIPs'], status['v4availableIPrange']];
  };
  const all = [252n, '10.4.0.3-10.4.0.254'];
  const none = [0n, ''];
  const made = scene();
  const { bench } = made;
  const holds = (expected: readonly unknown[], what: string): void => {
    bench.converge();
    assert.deepEqual(available(made), expected, what);
    assert.deepEqual(checkInvariants({ world: bench.world, plan: { rows: [], objects: [] } }), [], what);
    assert.equal(bench.writesAfterRestart(), 0);
  };
  holds(none, 'the Vlan does not exist');
  assert.notDeepEqual(available(made, 'gated'), none, 'a logical gateway is a way out');
  vlan(made, 'older');
  vlan(made, 'v10');
  holds(none, 'an older Vlan has the tag, and their ProviderNetwork does not exist');
  network(made);
  holds(none, 'an older Vlan has the tag');
  bench.delete('vlans', 'older');
  holds(all, 'its Vlan has the tag alone');
  bench.delete('provider-networks', 'net1');
  holds(all, 'it runs');
});
