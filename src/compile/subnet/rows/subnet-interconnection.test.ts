/** Underlay Subnets that are connected to the overlay: router port, address, policies and routes, as long as they are, and no longer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const IP = 'u2o-interconnection.ovn-cluster.under';

function scene(spec: object = {}, vpc = 'ovn-cluster'): PodScene {
  const made = new PodScene();
  const { bench } = made;
  if (vpc !== 'ovn-cluster') bench.put('vpcs', { metadata: { name: vpc } });
  bench.put('provider-networks', { metadata: { name: 'net1' }, spec: { defaultInterface: 'eth1' } });
  bench.put('vlans', { metadata: { name: 'v10' }, spec: { id: 10, provider: 'net1' } });
  made.subnet('under', { vpc, cidrBlock: '10.4.0.0/24', vlan: 'v10', u2oInterconnection: true, namespaces: ['shop'], ...spec });
  bench.converge();
  made.pod('web');
  bench.converge();
  return made;
}

/** `priority match -> action next-hop` of the policies of the Subnet. */
function policies({ bench }: PodScene): readonly string[] {
  const rows = [...bench.northbound.table('Logical_Router_Policy').values()];
  return rows
    .filter(({ external_ids: ids }) => ids instanceof Map && ids.get('isU2ORoutePolicy') === 'true' && ids.get('subnet') === 'under')
    .map(({ priority, match, action, nexthops }) => {
      const hops = nexthops instanceof Set ? [...nexthops].join() : String(nexthops ?? '');
      return `${String(priority)} ${String(match)} -> ${String(action)} ${hops}`.trim();
    })
    .toSorted();
}

function status({ bench }: PodScene): readonly unknown[] {
  const { u2oInterconnectionIP, u2oInterconnectionMAC, u2oInterconnectionVPC } = bench.object('subnets', 'under')?.status ?? {};
  return [u2oInterconnectionIP, u2oInterconnectionMAC, u2oInterconnectionVPC];
}

function ready({ bench }: PodScene): string {
  const { status: is, reason } = bench.condition('subnets', 'under', 'Ready') ?? {};
  return `${is} ${reason}`;
}

test('default Vpc: an address of its own on the router, policies to the physical gateway, and the addresses of nodes', () => {
  const made = scene();
  const { bench } = made;
  const { spec, metadata } = bench.object('ips', IP) ?? {};
  const { ipAddress, macAddress, namespace, podName } = (spec ?? {}) as Record<string, string>;
  assert.deepEqual([namespace, podName], ['default', IP]);
  assert.equal((metadata as { ownerReferences?: { kind: string }[] }).ownerReferences?.[0]?.kind, 'Subnet');
  assert.notEqual(ipAddress, '10.4.0.1', 'the gateway is a physical one');
  const port = bench.row('Logical_Router_Port', 'ovn-cluster-under');
  assert.deepEqual([port?.['networks'], port?.['mac']], [[`${ipAddress}/24`], macAddress]);
  assert.equal(bench.row('Logical_Switch_Port', 'under-ovn-cluster')?.['type'], 'router');
  assert.deepEqual(status(made), [ipAddress, macAddress, 'ovn-cluster']);
  assert.deepEqual(policies(made), [
    '29000 ip4.src == 10.4.0.0/24 -> reroute 10.4.0.1',
    '29400 ip4.dst == 10.4.0.0/24 -> allow',
    '31000 ip4.dst == $under.u2o_exclude_ip.ip4 && ip4.src == 10.4.0.0/24 -> reroute 10.4.0.1',
  ]);
  assert.deepEqual(bench.row('Address_Set', 'under.u2o_exclude_ip.ip4')?.['addresses'], ['192.168.1.11']);
  assert.equal(made.annotations('shop/web')['ovn.kubernetes.io/logical_router'], 'ovn-cluster');
  assert.equal(made.annotations('shop/web')['ovn.kubernetes.io/routed'], 'true');
  assert.equal(ready(made), 'True ResetLogicalSwitchAclSuccess');
  assert.equal(bench.writesAfterRestart(), 0);

  // The set follows the nodes, to the last one. Kube-OVN leaves the last address in it.
  bench.removeByForce('nodes', 'n1');
  bench.converge();
  assert.deepEqual(bench.row('Address_Set', 'under.u2o_exclude_ip.ip4')?.['addresses'], []);

  bench.edit('subnets', 'under', { u2oInterconnection: false });
  bench.converge();
  assert.deepEqual([policies(made), status(made)], [[], ['', '', '']]);
  for (const [table, name] of [
    ['Logical_Router_Port', 'ovn-cluster-under'],
    ['Logical_Switch_Port', 'under-ovn-cluster'],
    ['Address_Set', 'under.u2o_exclude_ip.ip4'],
  ] as const)
    assert.equal(bench.row(table, name), undefined, name);
  assert.equal(bench.object('ips', IP), undefined, 'its address is free');
  assert.equal(bench.writesAfterRestart(), 0);
});

test('the address of the spec, in both families, follows an edit; one in use is reported, and the present one stays', () => {
  const made = scene({ cidrBlock: '10.4.0.0/24,fd00:4::/64', u2oInterconnectionIP: '10.4.0.9,fd00:4::9' });
  const { bench } = made;
  const networks = (): unknown => bench.row('Logical_Router_Port', 'ovn-cluster-under')?.['networks'];
  assert.deepEqual(networks(), ['10.4.0.9/24', 'fd00:4::9/64']);
  assert.equal(policies(made).length, 6);
  const mac = status(made)[1];
  bench.edit('subnets', 'under', { u2oInterconnectionIP: '10.4.0.10,fd00:4::9' });
  bench.converge();
  assert.deepEqual([networks(), status(made)[1]], [['10.4.0.10/24', 'fd00:4::9/64'], mac]);
  const address = made.addressOf('shop/web')?.split(',')[0] ?? '';
  bench.edit('subnets', 'under', { u2oInterconnectionIP: `${address},fd00:4::9` });
  bench.converge();
  assert.deepEqual(networks(), ['10.4.0.10/24', 'fd00:4::9/64']);
  assert.match(ready(made), /^False AddressConflict/);
});

test('DHCP offers the router of the Vpc, of the Subnet and of a port with options of its own, also after its address moved', () => {
  const made = scene({ enableDHCP: true, u2oInterconnectionIP: '10.4.0.9' });
  const { bench } = made;
  made.pod('own', { annotations: { 'ovn.kubernetes.io/dhcp-v4-options': 'lease_time=60' } });
  made.pod('chosen', { annotations: { 'ovn.kubernetes.io/dhcp-v4-options': 'router=10.4.0.1' } });
  bench.converge();
  const offered = (): readonly unknown[] =>
    ['under|IPv4|', 'under|IPv4|own.shop', 'under|IPv4|chosen.shop'].map((id) => bench.map('DHCP_Options', id, 'options')['router']);
  assert.deepEqual(offered(), ['10.4.0.9', '10.4.0.9', '10.4.0.1']);
  bench.edit('subnets', 'under', { u2oInterconnectionIP: '10.4.0.10' });
  bench.converge();
  assert.deepEqual(offered(), ['10.4.0.10', '10.4.0.10', '10.4.0.1']);
  bench.edit('subnets', 'under', { u2oInterconnection: false, u2oInterconnectionIP: '' });
  bench.converge();
  assert.deepEqual(offered(), ['10.4.0.1', '10.4.0.1', '10.4.0.1']);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('custom Vpc: a route by source to the physical gateway, in its table, and no policy about nodes', () => {
  const made = scene({ routeTable: 'rtb' }, 'blue');
  const { bench } = made;
  assert.deepEqual(policies(made), ['29000 ip4.src == 10.4.0.0/24 -> reroute 10.4.0.1']);
  const routes = [...bench.northbound.table('Logical_Router_Static_Route').values()].filter(
    ({ ip_prefix: prefix }) => prefix === '10.4.0.0/24',
  );
  assert.deepEqual(
    routes.map(({ policy, nexthop, route_table: table }) => [policy, nexthop, table]),
    [['src-ip', '10.4.0.1', 'rtb']],
  );
  assert.equal(bench.row('Address_Set', 'under.u2o_exclude_ip.ip4'), undefined);
  assert.equal(status(made)[2], 'blue');
});

test('to overlay Subnets alone: their networks in a set, and the rest by the physical gateway', () => {
  const made = scene({ u2oFeatures: { overlayOnlyRouting: true } });
  const { bench } = made;
  assert.deepEqual(policies(made), [
    '29400 ip4.src == $ovn.cluster.u2o_overlay_cidrs.ip4 && ip4.dst == 10.4.0.0/24 -> allow',
    '30050 ip4.src == 10.4.0.0/24 -> reroute 10.4.0.1',
    '30060 ip4.src == 10.4.0.0/24 && ip4.dst == 10.4.0.0/24 -> allow',
    '31000 ip4.dst == $under.u2o_exclude_ip.ip4 && ip4.src == 10.4.0.0/24 -> reroute 10.4.0.1',
  ]);
  const overlay = (): readonly string[] => (bench.row('Address_Set', 'ovn.cluster.u2o_overlay_cidrs.ip4')?.['addresses'] ?? []) as string[];
  assert.ok(!overlay().includes('10.4.0.0/24') && overlay().includes('10.16.0.0/16'), overlay().join());
  made.subnet('more', { cidrBlock: '10.9.0.0/24' });
  bench.converge();
  assert.ok(overlay().includes('10.9.0.0/24'));
  bench.edit('subnets', 'under', { u2oFeatures: { overlayOnlyRouting: false } });
  bench.converge();
  assert.equal(bench.row('Address_Set', 'ovn.cluster.u2o_overlay_cidrs.ip4'), undefined);
  assert.equal(policies(made).length, 3);
});

test('deletion leaves nothing, also if the controller was away', () => {
  const made = scene();
  made.bench.delete('pods', 'shop/web');
  made.bench.delete('subnets', 'under');
  const { bench } = { bench: made.bench.restarted() };
  bench.converge();
  assert.equal(bench.object('subnets', 'under'), undefined);
  assert.equal(bench.object('ips', IP), undefined);
  for (const table of ['Logical_Router_Policy', 'Address_Set', 'Logical_Router_Port', 'Logical_Switch_Port'])
    for (const row of bench.northbound.table(table).values())
      assert.ok(!(row['external_ids'] instanceof Map && row['external_ids'].get('kiln.io/owner') === 'subnet//under'), table);
});

test('without load balancers of OVN, what pods send to Services goes to their node; in the default Vpc alone, and no longer than that', () => {
  const made = scene({ enableLb: false });
  const { bench } = made;
  const services = (): readonly string[] => policies(made).filter((one) => one.includes('10.96.0.0/12'));
  const join = String(bench.object('nodes', 'n1')?.metadata.annotations?.['ovn.kubernetes.io/ip_address']);
  assert.deepEqual(services(), [`29400 ip4.src == $under.n1_ip4 && ip4.dst == 10.96.0.0/12 -> reroute ${join}`]);
  const group = bench.row('Port_Group', 'under.n1');
  const { lr, ls, u2o } = (group?.['external_ids'] ?? {}) as Record<string, string>;
  assert.deepEqual({ lr, ls, u2o }, { lr: 'ovn-cluster', ls: 'under', u2o: 'true' });
  assert.equal((group?.['ports'] as readonly unknown[] | undefined)?.length ?? 1, 1, "its pod's port is in it");
  const policy = [...bench.northbound.table('Logical_Router_Policy').values()].find(({ match }) => String(match).includes('10.96.0.0/12'));
  const keys = policy?.['external_ids'] as ReadonlyMap<string, string>;
  assert.deepEqual(
    ['vendor', 'subnet', 'node', 'svcCidr', 'isU2ORoutePolicy', 'isU2ONoLBRoutePolicy'].map((key) => keys.get(key)),
    ['kube-ovn', 'under', 'n1', '10.96.0.0/12', 'true', 'true'],
  );
  assert.equal(bench.writesAfterRestart(), 0);
  const uuid = policy?._uuid;
  bench.edit('subnets', 'under', { enableDHCP: true });
  bench.converge();
  assert.equal(
    [...bench.northbound.table('Logical_Router_Policy').values()].find(({ match }) => String(match).includes('10.96.0.0/12'))?._uuid,
    uuid,
    'no gap at another change',
  );
  bench.edit('subnets', 'under', { enableLb: true });
  bench.converge();
  assert.deepEqual([services(), bench.row('Port_Group', 'under.n1')], [[], undefined]);
  bench.edit('subnets', 'under', { enableLb: false });
  bench.converge();
  assert.equal(services().length, 1);
  bench.edit('subnets', 'under', { u2oInterconnection: false });
  bench.converge();
  assert.deepEqual([policies(made), bench.row('Port_Group', 'under.n1')], [[], undefined]);

  const custom = scene({ enableLb: false }, 'blue');
  assert.deepEqual(policies(custom), ['29000 ip4.src == 10.4.0.0/24 -> reroute 10.4.0.1']);
  assert.equal(custom.bench.row('Port_Group', 'under.n1'), undefined);
});

test('an IP object that a user made with the address of the router is told on both, until it is gone', () => {
  const { bench } = scene();
  const { ipAddress } = (bench.object('ips', IP)?.spec ?? {}) as Record<string, string>;
  bench.put('ips', {
    metadata: { name: 'db.shop', labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } },
    spec: { podName: 'db', namespace: 'shop', subnet: 'under', podType: '', ipAddress, v4IpAddress: ipAddress },
  });
  bench.converge();
  assert.match(bench.conditionText('ips', IP), /HeldTwice.*is also held by db\.shop/);
  assert.match(bench.conditionText('ips', 'db.shop'), /HeldTwice.*is also held by/);
  assert.equal(bench.writesAfterRestart(), 0);
  bench.removeByForce('ips', 'db.shop');
  bench.converge();
  assert.doesNotMatch(bench.conditionText('ips', IP), /HeldTwice/);
});

test('the Subnet is ready once the router has its port in it, and not before', () => {
  const made = scene({ u2oInterconnection: false });
  made.bench.edit('subnets', 'under', { u2oInterconnection: true });
  let waited = false;
  while (made.bench.step()) {
    const isReady = made.bench.condition('subnets', 'under', 'Ready')?.status === 'True';
    const hasPort = made.bench.rowIds('Logical_Router_Port').some((name) => name.endsWith('-under'));
    assert.ok(!isReady || hasPort);
    waited ||= !isReady && !hasPort;
  }
  assert.ok(waited);
  assert.equal(made.bench.condition('subnets', 'under', 'Ready')?.status, 'True');
});
