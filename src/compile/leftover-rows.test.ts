import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftoverGroups, leftoverLines, leftoverText } from '../explain/leftovers.ts';
import { PodScene } from '../testing/pod-scene.ts';

let made = 0;

/** A row as Kube-OVN leaves it: with its vendor key, or without it before 1.15. */
function left(
  scene: PodScene,
  table: string,
  columns: object,
  home?: { readonly table: string; readonly name: string; readonly column: string },
): void {
  const { bench } = scene;
  const found = home === undefined ? undefined : [...bench.northbound.table(home.table)].find(([, row]) => row['name'] === home.name);
  const parent = home === undefined || found === undefined ? undefined : { table: home.table, uuid: found[0], column: home.column };
  bench.foreignRow(table, `70000000-0000-4000-8000-${(++made).toString().padStart(12, '0')}`, { ...columns }, parent);
}

const VENDOR = { vendor: 'kube-ovn' };
const POLICIES = { table: 'Logical_Router', name: 'blue', column: 'policies' };
const POLICY = { priority: 10, match: 'ip4.src == 10.9.0.0/24', action: 'drop' };
const POLICY_ID = 'blue|10|ip4.src == 10.9.0.0/24';

function withVpc(): PodScene {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  scene.bench.converge();
  return scene;
}

function reports(scene: PodScene): readonly string[] {
  return leftoverGroups(scene.bench.world).map((group) => leftoverText(group).message);
}

test('a policy that Kube-OVN left in the router of a Vpc is retained and reported, and is deleted with the Vpc', () => {
  const scene = withVpc();
  const { bench } = scene;
  left(scene, 'Logical_Router_Policy', { ...POLICY, external_ids: VENDOR }, POLICIES);
  bench.converge();
  assert.equal(bench.externalIds('Logical_Router_Policy', POLICY_ID)['kiln.io/owner'], 'vpc//blue');
  assert.equal(bench.row('Logical_Router_Policy', POLICY_ID)?.['action'], 'drop');
  assert.deepEqual(reports(scene), [
    `Kube-OVN left 1 row for Vpc blue; Kiln keeps it as it is until the Vpc is deleted: Logical_Router_Policy ${POLICY_ID} (drop)`,
  ]);
  assert.deepEqual(
    leftoverGroups(bench.world).map((group) => leftoverText(group).next),
    ['kiln explain vpc blue'],
    'it lists the rows',
  );
  bench.delete('vpcs', 'blue');
  bench.converge();
  assert.deepEqual(
    bench.rowIds('Logical_Router_Policy').filter((id) => id.startsWith('blue')),
    [],
  );
  assert.equal(bench.object('vpcs', 'blue'), undefined);
});

test('the load balancer of an OvnDnatRule stays in the router that Kube-OVN put it into, and goes with the rule', () => {
  const scene = withVpc();
  const { bench } = scene;
  bench.put('ovn-dnat-rules', { metadata: { name: 'web' }, spec: {} });
  const home = { table: 'Logical_Router', name: 'blue', column: 'load_balancer' };
  left(scene, 'Load_Balancer', { name: 'web', vips: new Map([['172.19.0.15:80', '10.50.0.4:8080']]), external_ids: VENDOR }, home);
  for (const run of [bench, bench.restarted()]) {
    run.converge();
    assert.equal(run.externalIds('Load_Balancer', 'web')['kiln.io/owner'], 'ovndnatrule//web');
    assert.deepEqual(run.list('Logical_Router', 'blue', 'load_balancer'), ['Load_Balancer/web']);
  }
  bench.delete('ovn-dnat-rules', 'web');
  bench.converge();
  assert.equal(bench.row('Load_Balancer', 'web'), undefined);
});

test('of equal policies one stays when the Vpc requests it, and none when it does not', () => {
  const scene = withVpc();
  const { bench } = scene;
  for (let i = 0; i < 3; i++) left(scene, 'Logical_Router_Policy', { ...POLICY, external_ids: VENDOR }, POLICIES);
  bench.edit('vpcs', 'blue', { policyRoutes: [POLICY] });
  bench.converge();
  assert.equal(bench.rowIds('Logical_Router_Policy').filter((id) => id === POLICY_ID).length, 1);
  assert.deepEqual(reports(scene), []);
  bench.edit('vpcs', 'blue', { policyRoutes: [] });
  bench.converge();
  assert.equal(bench.rowIds('Logical_Router_Policy').filter((id) => id === POLICY_ID).length, 0);
});

test('what serves a node is deleted with it, also if the node was gone before the start', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('apps', { cidrBlock: '10.8.0.0/24' });
  bench.converge();
  const policy = (node: string): object => ({
    ...{ priority: 29_500, match: `ip4.src == $apps.${node}_ip4`, action: 'reroute', nexthops: new Set(['100.64.0.9']) },
    external_ids: { ...VENDOR, subnet: 'apps', node },
  });
  const home = { table: 'Logical_Router', name: 'ovn-cluster', column: 'policies' };
  left(scene, 'Logical_Router_Policy', policy('n1'), home);
  left(scene, 'Logical_Router_Policy', policy('dead'), home);
  left(scene, 'Port_Group', { name: 'node.dead', external_ids: { np: 'node/dead' } });
  bench.converge();
  const rows = (): readonly string[] => bench.rowIds('Logical_Router_Policy').filter((id) => id.includes('29500'));
  assert.deepEqual(rows(), ['ovn-cluster|29500|ip4.src == $apps.n1_ip4']);
  assert.equal(bench.row('Port_Group', 'node.dead'), undefined);
  bench.delete('nodes', 'n1');
  bench.converge();
  assert.deepEqual(rows(), []);
});

test('a group of a SecurityGroup that Kube-OVN left keeps the ports of running pods', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.pod('web');
  bench.converge();
  bench.world.unimplemented.set('security-groups/sg', { resource: 'security-groups', key: 'sg', uid: 'u', feature: 'SecurityGroup' });
  const [port] = [...bench.northbound.table('Logical_Switch_Port')].find(([, row]) => row['name'] === 'web.shop') ?? [];
  left(scene, 'Port_Group', { name: 'ovn.sg.sg', ports: new Set([port]), external_ids: { sg: 'sg', type: 'security_group' } });
  bench.converge();
  assert.equal(bench.externalIds('Port_Group', 'ovn.sg.sg')['kiln.io/owner'], 'securitygroup//sg');
  assert.deepEqual(bench.list('Port_Group', 'ovn.sg.sg', 'ports'), ['Logical_Switch_Port/web.shop']);
  bench.world.unimplemented.delete('security-groups/sg');
  bench.converge();
  assert.equal(bench.row('Port_Group', 'ovn.sg.sg'), undefined);
});

test("Kube-OVN's group that denies traffic of pods with SecurityGroups is not to be removed while ports are in it", () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.pod('web');
  bench.converge();
  const [port] = [...bench.northbound.table('Logical_Switch_Port')].find(([, row]) => row['name'] === 'web.shop') ?? [];
  const external_ids = { ...VENDOR, type: 'security_group', sg: 'kubeovn_deny_all' };
  left(scene, 'Port_Group', { name: 'ovn.sg.kubeovn_deny_all', ports: new Set([port]), external_ids });
  const acl = { direction: 'to-lport', priority: 2003, match: 'outport == @ovn.sg.kubeovn_deny_all && ip', action: 'drop', external_ids };
  left(scene, 'ACL', acl, { table: 'Port_Group', name: 'ovn.sg.kubeovn_deny_all', column: 'acls' });
  bench.converge();
  const removals = (): readonly (string | undefined)[] =>
    leftoverGroups(bench.world).flatMap(({ rows }) => rows.map(({ remove }) => remove));
  assert.deepEqual(removals(), [undefined, undefined]);
  const [group] = leftoverGroups(bench.world);
  assert.ok(group);
  assert.match(leftoverText(group).next, /^ovn-nbctl list /);
  bench.delete('pods', 'shop/web');
  bench.converge();
  assert.deepEqual(
    removals().map((command) => command?.split(' ')[1]),
    ['remove', 'destroy'],
  );
});

test('what serves no object that exists is left alone, and reported with what it names', () => {
  const scene = withVpc();
  const { bench } = scene;
  const match = 'ip4.src == $gone_set';
  const columns = { priority: 5, match, action: 'allow', external_ids: { ...VENDOR, subnet: 'gone' } };
  left(scene, 'Logical_Router_Policy', columns, { table: 'Logical_Router', name: 'ovn-cluster', column: 'policies' });
  left(scene, 'Load_Balancer', { name: 'nobodys', external_ids: VENDOR });
  bench.converge();
  assert.equal(bench.externalIds('Logical_Router_Policy', `ovn-cluster|5|${match}`)['kiln.io/owner'], undefined);
  const [group] = leftoverGroups(bench.world);
  assert.ok(group);
  const { message, next } = leftoverText(group);
  assert.match(message, /left 2 rows of objects that do not exist.*\(allow; address set gone_set does not exist\); Load_Balancer nobodys/);
  assert.match(next, /^ovn-nbctl remove Logical_Router \S+ policies \S+$/, 'never the load balancer');
});

test('load balancers without keys, as Kube-OVN before 1.15 leaves them of a deleted Vpc, are listed before and after the take-over', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const vips = { '10.96.0.9:80': '10.9.0.2:80' };
  left(scene, 'Load_Balancer', { name: 'vpc-gone-tcp-load', external_ids: {}, vips });
  left(scene, 'Load_Balancer', { name: 'vpc-gone-udp-sess-load', external_ids: {} });
  left(scene, 'Load_Balancer', { name: 'vpc-theirs-tcp-load', external_ids: { 'neutron:lb': 'x' }, vips });
  left(scene, 'Load_Balancer', { name: 'by-hand', external_ids: {}, vips });
  left(scene, 'Load_Balancer', { name: 'vpc-blue-tcp-load', external_ids: {}, vips });
  left(scene, 'Logical_Router', { name: 'gone', external_ids: VENDOR });
  left(scene, 'Load_Balancer', { name: 'rule-of-gone', external_ids: {}, vips });
  const [rule] = [...bench.northbound.table('Load_Balancer')].find(([, row]) => row['name'] === 'rule-of-gone') ?? [];
  left(scene, 'Logical_Switch', { name: 'gone-net', external_ids: VENDOR, load_balancer: new Set([rule]) });
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: {}, status: { tcpLoadBalancer: 'vpc-blue-tcp-load' } });
  bench.compile();
  const expected = [
    'left by Kube-OVN, 5 for objects that do not exist:',
    '  Load_Balancer rule-of-gone (1 vip; in 1 switch)',
    '  Load_Balancer vpc-gone-tcp-load (1 vip; in no switch or router)',
    '  Load_Balancer vpc-gone-udp-sess-load (empty; in no switch or router)',
    '  Logical_Router gone (empty)',
    '  Logical_Switch gone-net (empty)',
  ];
  assert.deepEqual(leftoverLines(leftoverGroups(bench.world, bench.desired.rows)), expected);
  bench.converge();
  assert.deepEqual(leftoverLines(leftoverGroups(bench.world)), expected);
  assert.equal(bench.externalIds('Load_Balancer', 'vpc-blue-tcp-load')['kiln.io/owner'], 'vpc//blue');
  const removals = leftoverGroups(bench.world).flatMap(({ rows }) =>
    rows.flatMap(({ name, remove }) => (remove === undefined ? [name] : [])),
  );
  assert.deepEqual(removals, ['rule-of-gone'], 'a switch has it');
  for (const [uuid, row] of [...bench.northbound.table('Load_Balancer')])
    if (String(row['name']).startsWith('vpc-gone')) bench.removeForeignRow('Load_Balancer', uuid);
  assert.equal(leftoverLines(leftoverGroups(bench.world)).length, expected.length - 2);
});

test('a row of Kiln that lost the keys of its owner when it was no longer needed is collected, and is no leftover', () => {
  for (const lost of [
    ['kiln.io/owner', 'kiln.io/uid'],
    ['kiln.io/owner', 'kiln.io/uid', 'kiln.io/rule', 'kiln.io/seal'],
  ]) {
    const scene = new PodScene();
    const { bench } = scene;
    scene.subnet('apps', { cidrBlock: '10.8.0.0/24', enableDHCP: true });
    bench.converge();
    const ids = (): readonly string[] => bench.rowIds('DHCP_Options').filter((id) => id.startsWith('apps|'));
    assert.deepEqual(ids(), ['apps|IPv4|']);
    const [uuid] = [...bench.northbound.table('DHCP_Options').keys()];
    const edit = {
      kind: 'keys',
      table: 'DHCP_Options',
      uuid: uuid ?? assert.fail(),
      column: 'external_ids',
      set: {},
      remove: lost,
    } as const;
    bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
    bench.edit('subnets', 'apps', { enableDHCP: false });
    bench.converge();
    assert.deepEqual(ids(), []);
    assert.deepEqual(leftoverGroups(bench.world), []);
    assert.equal(bench.object('subnets', 'apps')?.status?.['dhcpV4OptionsUUID'] ?? '', '');
  }
});

test('a row that translates addresses is deleted with its rule or its pod, and does not meet the next holder of the address', () => {
  const scene = withVpc();
  const { bench } = scene;
  const NAT = { table: 'Logical_Router', name: 'blue', column: 'nat' };
  const ROUTES = { table: 'Logical_Router', name: 'blue', column: 'static_routes' };
  const pod = (name: string, ip: string, more: object): object => ({
    metadata: { name, namespace: 'shop', annotations: { 'ovn.kubernetes.io/ip_address': ip, ...more } },
    spec: { nodeName: 'n1', containers: [] },
  });
  bench.put('ovn-fips', { metadata: { name: 'f1' }, spec: { ovnEip: 'e1' }, status: { v4Eip: '172.19.0.13', v4Ip: '10.9.0.3' } });
  bench.put('ovn-snat-rules', {
    metadata: { name: 's1' },
    spec: { ovnEip: 'e2' },
    status: { v4Eip: '172.19.0.14', v4IpCidr: '10.9.0.0/24' },
  });
  bench.put('pods', pod('web', '10.9.0.9', { 'ovn.kubernetes.io/snat': '172.19.0.89' }) as never);
  left(scene, 'NAT', { external_ids: VENDOR, type: 'dnat_and_snat', external_ip: '172.19.0.13', logical_ip: '10.9.0.3' }, NAT);
  left(scene, 'NAT', { external_ids: VENDOR, type: 'snat', external_ip: '172.19.0.14', logical_ip: '10.9.0.0/24' }, NAT);
  left(scene, 'NAT', { external_ids: VENDOR, type: 'snat', external_ip: '172.19.0.89', logical_ip: '10.9.0.9' }, NAT);
  left(
    scene,
    'Logical_Router_Static_Route',
    { external_ids: VENDOR, policy: 'src-ip', ip_prefix: '10.9.0.9', nexthop: '172.19.0.1' },
    ROUTES,
  );
  left(scene, 'NAT', { external_ids: VENDOR, type: 'snat', external_ip: '172.19.0.90', logical_ip: '10.9.0.77' }, NAT);
  bench.converge();
  const owners = (): readonly string[] =>
    [
      ...bench.rowIds('NAT').map((id) => bench.externalIds('NAT', id)),
      ...bench.rowIds('Logical_Router_Static_Route').map((id) => bench.externalIds('Logical_Router_Static_Route', id)),
    ]
      .map((keys) => keys['kiln.io/owner'] ?? '')
      .filter((owner) => !owner.startsWith('vpc//ovn-cluster'))
      .toSorted();
  assert.deepEqual(owners(), ['ovnfip//f1', 'ovnsnatrule//s1', 'pod/shop/web', 'pod/shop/web', 'vpc//blue']);
  assert.match(reports(scene).join('\n'), /Kube-OVN left 2 rows for Pod shop\/web; .*snat of 10\.9\.0\.9 to 172\.19\.0\.89/);

  // A new pod with the same name gets another address; a pod without an annotation gets the former one.
  bench.delete('pods', 'shop/web');
  bench.put('pods', pod('web', '10.9.0.10', {}) as never);
  bench.put('pods', pod('next', '10.9.0.9', {}) as never);
  bench.converge();
  assert.deepEqual(owners(), ['ovnfip//f1', 'ovnsnatrule//s1', 'vpc//blue']);
  bench.delete('ovn-fips', 'f1');
  bench.converge();
  assert.deepEqual(owners(), ['ovnsnatrule//s1', 'vpc//blue']);
  assert.match(reports(scene).join('\n'), /for Vpc blue; .*snat of 10\.9\.0\.77 to 172\.19\.0\.90/);
});

test('a NAT row without keys in the router of a Vpc is retained and reported, and is deleted with the Vpc; NAT of another program protects the router', () => {
  const scene = withVpc();
  const { bench } = scene;
  const NAT = { table: 'Logical_Router', name: 'blue', column: 'nat' };
  const nat = (logical_ip: string, external_ids: object): void =>
    left(scene, 'NAT', { external_ids, type: 'snat', external_ip: '172.19.0.14', logical_ip }, NAT);
  nat('10.9.0.0/24', {});
  nat('10.9.1.0/24', { 'neutron:fip_id': 'f' });
  nat('10.9.2.0/24', { 'k8s.ovn.org/owner': 'o' });
  bench.converge();
  assert.equal(bench.externalIds('NAT', 'blue|snat|172.19.0.14|10.9.0.0/24')['kiln.io/owner'], 'vpc//blue');
  assert.match(reports(scene).join('\n'), /^Kube-OVN left 1 row for Vpc blue; .*snat of 10\.9\.0\.0\/24 to 172\.19\.0\.14\)$/);
  bench.delete('vpcs', 'blue');
  bench.converge();
  const rows = (): readonly string[] => bench.rowIds('NAT').filter((id) => id.startsWith('blue|'));
  assert.equal(rows().length, 2, 'those of other programs');
  assert.notEqual(bench.object('vpcs', 'blue')?.metadata.deletionTimestamp, undefined);
  for (const [uuid, row] of [...bench.northbound.table('NAT')])
    if (String(row['logical_ip']).startsWith('10.9.')) bench.removeForeignRow('NAT', uuid);
  bench.converge();
  assert.equal(bench.object('vpcs', 'blue'), undefined);
  assert.equal(bench.row('Logical_Router', 'blue'), undefined);
});

test('of equal static routes that Kube-OVN left one stays when the Vpc requests it, and none when it does not; the others are not leftovers', () => {
  const scene = withVpc();
  const { bench } = scene;
  scene.subnet('net', { vpc: 'blue', cidrBlock: '10.9.0.0/24' });
  const ROUTES = { table: 'Logical_Router', name: 'blue', column: 'static_routes' };
  const route = { ip_prefix: '10.77.0.0/24', nexthop: '10.9.0.9', policy: 'dst-ip' };
  bench.converge();
  for (let i = 0; i < 3; i++) left(scene, 'Logical_Router_Static_Route', { ...route, external_ids: VENDOR }, ROUTES);
  const id = 'blue||dst-ip|10.77.0.0/24|10.9.0.9';
  const count = (): number => bench.rowIds('Logical_Router_Static_Route').filter((one) => one === id).length;
  bench.edit('vpcs', 'blue', { staticRoutes: [{ policy: 'policyDst', cidr: '10.77.0.0/24', nextHopIP: '10.9.0.9' }] });
  bench.converge();
  assert.equal(count(), 1);
  assert.deepEqual(reports(scene), []);
  bench.edit('vpcs', 'blue', { staticRoutes: [] });
  bench.converge();
  assert.equal(count(), 0);
});

test('a static route that Kube-OVN watches with BFD keeps its session and its options while the Vpc names the session', () => {
  const scene = withVpc();
  const { bench } = scene;
  const session = '60000000-0000-4000-8000-000000000001';
  bench.northbound.insert('BFD', session, { logical_port: 'blue-external', dst_ip: '172.19.0.3' });
  const home = { table: 'Logical_Router', name: 'blue', column: 'static_routes' };
  const route = { ip_prefix: '10.9.0.0/24', policy: 'src-ip', route_table: '', options: new Map([['ecmp_symmetric_reply', 'true']]) };
  for (const nexthop of ['172.19.0.3', '172.19.0.4'])
    left(scene, 'Logical_Router_Static_Route', { ...route, nexthop, bfd: session, external_ids: VENDOR }, home);
  const requested = (bfdId: string): object[] =>
    ['172.19.0.3', '172.19.0.4'].map((nextHopIP) => ({
      ...{ policy: 'policySrc', cidr: '10.9.0.0/24', nextHopIP, ecmpMode: 'ecmp_symmetric_reply', bfdId },
    }));
  const held = (): readonly unknown[] =>
    bench
      .rows('Logical_Router_Static_Route')
      .filter(({ ip_prefix }) => ip_prefix === '10.9.0.0/24')
      .map((row) => [row['bfd'], row['options']]);
  bench.edit('vpcs', 'blue', { staticRoutes: requested(session) });
  bench.converge();
  const kept = [session, { ecmp_symmetric_reply: 'true' }];
  assert.deepEqual(held(), [kept, kept]);
  assert.equal(bench.restarted().writesAfterRestart(), 0);
  bench.edit('vpcs', 'blue', { staticRoutes: requested('') });
  bench.converge();
  assert.deepEqual(
    held().map((one) => (one as readonly unknown[])[0] ?? null),
    [null, null],
  );
});

test('equal static routes without keys, as Kube-OVN before 1.15 leaves them: a take-over keeps the one that the Vpc requests', () => {
  const scene = new PodScene();
  const { bench } = scene;
  left(scene, 'Logical_Router', { name: 'red', external_ids: VENDOR });
  const route = { ip_prefix: '10.77.0.0/24', nexthop: '169.254.0.2', policy: 'dst-ip', external_ids: {} };
  for (let i = 0; i < 2; i++)
    left(scene, 'Logical_Router_Static_Route', route, { table: 'Logical_Router', name: 'red', column: 'static_routes' });
  bench.put('vpcs', {
    metadata: { name: 'red' },
    spec: { staticRoutes: [{ policy: 'policyDst', cidr: '10.77.0.0/24', nextHopIP: '169.254.0.2' }] },
  });
  bench.converge();
  const id = 'red||dst-ip|10.77.0.0/24|169.254.0.2';
  assert.equal(bench.rowIds('Logical_Router_Static_Route').filter((one) => one === id).length, 1);
  assert.equal(bench.externalIds('Logical_Router_Static_Route', id)['kiln.io/owner'], 'vpc//red');
  assert.deepEqual(reports(scene), []);
});

test('equal static routes that no Vpc requests are retained and listed each, and are deleted with the Vpc', () => {
  const scene = withVpc();
  const { bench } = scene;
  const ROUTES = { table: 'Logical_Router', name: 'blue', column: 'static_routes' };
  for (let i = 0; i < 2; i++)
    left(scene, 'Logical_Router_Static_Route', { ip_prefix: '10.77.0.0/24', nexthop: '10.9.0.9', external_ids: VENDOR }, ROUTES);
  bench.converge();
  const line = '  Logical_Router_Static_Route blue||dst-ip|10.77.0.0/24|10.9.0.9 (to 10.77.0.0/24 by 10.9.0.9)';
  assert.deepEqual(leftoverLines(leftoverGroups(bench.world)), ['left by Kube-OVN, 2 for Vpc blue:', line, line]);
  bench.delete('vpcs', 'blue');
  bench.converge();
  assert.deepEqual(
    bench.rowIds('Logical_Router_Static_Route').filter((id) => id.startsWith('blue')),
    [],
  );
  assert.deepEqual(leftoverGroups(bench.world), []);
});

const OLD_POLICY = { priority: 29_000, match: 'ip4.src == 10.8.0.0/24', action: 'reroute', nexthops: new Set(['100.64.0.9']) };
const OF_DEFAULT = { table: 'Logical_Router', name: 'ovn-cluster', column: 'policies' };
const OLD_POLICY_ID = 'ovn-cluster|29000|ip4.src == 10.8.0.0/24';

test('equal leftovers of a Subnet are listed each, also beside its own policies of equal priority, and are deleted with the Subnet', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('apps', { cidrBlock: '10.8.0.0/24' });
  bench.converge();
  for (let i = 0; i < 2; i++)
    left(scene, 'Logical_Router_Policy', { ...OLD_POLICY, external_ids: { ...VENDOR, subnet: 'apps' } }, OF_DEFAULT);
  bench.converge();
  const line = `  Logical_Router_Policy ${OLD_POLICY_ID} (reroute to 100.64.0.9)`;
  assert.deepEqual(leftoverLines(leftoverGroups(bench.world)), ['left by Kube-OVN, 2 for Subnet apps:', line, line]);
  assert.ok(bench.row('Logical_Router_Policy', 'ovn-cluster|29000|ip4.src == $apps.n1_ip4'), "the Subnet's own");
  bench.delete('subnets', 'apps');
  bench.converge();
  assert.deepEqual(
    bench.rowIds('Logical_Router_Policy').filter((id) => id.includes('29000')),
    policiesOfOthers(bench.rowIds('Logical_Router_Policy')),
  );
  assert.deepEqual(reports(scene), []);
});

function policiesOfOthers(ids: readonly string[]): readonly string[] {
  return ids.filter((id) => id.includes('29000') && !id.includes('10.8.0.0/24') && !id.includes('$apps'));
}

test('a Subnet that is deleted and made again: an old policy of equal priority is deleted with the first one, and is reported if it existed before', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const old = (external_ids: object): void => left(scene, 'Logical_Router_Policy', { ...OLD_POLICY, external_ids }, OF_DEFAULT);
  const left29000 = (): readonly string[] => bench.rowIds('Logical_Router_Policy').filter((id) => id === OLD_POLICY_ID);
  scene.subnet('apps', { cidrBlock: '10.8.0.0/24' });
  bench.converge();
  old({ ...VENDOR, subnet: 'apps' });
  bench.converge();
  bench.delete('subnets', 'apps');
  bench.converge();
  scene.subnet('apps', { cidrBlock: '10.8.0.0/24' });
  bench.converge();
  assert.deepEqual([left29000(), reports(scene)], [[], []]);

  // The Subnet is gone before the policy is seen: nothing explains it, and status and diff list it.
  bench.delete('subnets', 'apps');
  bench.converge();
  old({ ...VENDOR, subnet: 'apps' });
  bench.converge();
  const line = `  Logical_Router_Policy ${OLD_POLICY_ID} (reroute to 100.64.0.9)`;
  assert.deepEqual(leftoverLines(leftoverGroups(bench.world)), ['left by Kube-OVN, 1 for objects that do not exist:', line]);
  // A Subnet of that name appears: the row is reported as its own from then on, and it goes with that one.
  scene.subnet('apps', { cidrBlock: '10.8.0.0/24' });
  bench.converge();
  assert.deepEqual(leftoverLines(leftoverGroups(bench.world)), ['left by Kube-OVN, 1 for Subnet apps:', line]);
  assert.match(reports(scene).join(), /29000/);
  bench.delete('subnets', 'apps');
  bench.converge();
  assert.deepEqual([left29000(), reports(scene)], [[], []]);

  bench.put('nodes', {
    metadata: { name: 'n1' },
    spec: {},
    status: { addresses: [{ type: 'InternalIP', address: '192.168.1.11' }], conditions: [{ type: 'Ready', status: 'True' }] },
  });
  // As centralized, the Subnet requests that very policy: it is adopted with the next hop of now, and goes with the Subnet.
  old({ ...VENDOR, subnet: 'apps' });
  old({ ...VENDOR, subnet: 'apps' });
  scene.subnet('apps', { cidrBlock: '10.8.0.0/24', gatewayType: 'centralized', gatewayNode: 'n1' });
  bench.converge();
  assert.equal(left29000().length, 1);
  assert.notDeepEqual(bench.list('Logical_Router_Policy', OLD_POLICY_ID, 'nexthops'), ['100.64.0.9']);
  assert.deepEqual(reports(scene), []);
  bench.edit('subnets', 'apps', { cidrBlock: '10.8.0.0/24', gatewayType: 'distributed', gatewayNode: '' });
  bench.converge();
  assert.deepEqual(left29000(), []);
});

test('what a take-over would leave is known before it, and nothing that a rule requests is in it', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const fresh = new PodScene();
  assert.deepEqual(leftoverLines(leftoverGroups(fresh.bench.world, fresh.bench.desired.rows)), []);
  scene.subnet('apps', { cidrBlock: '10.8.0.0/24' });
  bench.converge();
  left(scene, 'Logical_Router_Policy', { ...OLD_POLICY, external_ids: { ...VENDOR, subnet: 'apps' } }, OF_DEFAULT);
  bench.compile();
  const line = `  Logical_Router_Policy ${OLD_POLICY_ID} (reroute to 100.64.0.9)`;
  assert.deepEqual(leftoverLines(leftoverGroups(bench.world, bench.desired.rows)), ['left by Kube-OVN, 1 for Subnet apps:', line]);
});

test('the contents of sets, groups and load balancers are counted in words', () => {
  const scene = new PodScene();
  const { bench } = scene;
  bench.converge();
  const effectOf = (table: string, name: string, columns: object): string => {
    left(scene, table, { name, external_ids: VENDOR, ...columns });
    const rows = leftoverGroups(bench.world).flatMap((group) => group.rows);
    return rows.find((row) => row.table === table && row.name === name)?.effect ?? '';
  };
  assert.equal(effectOf('Address_Set', 'none', {}), 'empty');
  assert.equal(effectOf('Address_Set', 'one', { addresses: new Set(['10.0.0.1']) }), '1 address');
  assert.equal(effectOf('Address_Set', 'two', { addresses: new Set(['10.0.0.1', '10.0.0.2']) }), '2 addresses');
  assert.equal(effectOf('Load_Balancer', 'one', { vips: { '10.0.0.1:80': '' } }), '1 vip; in no switch or router');
  assert.equal(effectOf('Load_Balancer', 'none', {}), 'empty; in no switch or router');
  const [port] = [...bench.northbound.table('Logical_Switch_Port').keys()];
  assert.equal(effectOf('Port_Group', 'one', { ports: new Set([port]) }), '1 port');
});
