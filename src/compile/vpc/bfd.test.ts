import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { statusOf } from '../../explain/status.ts';
import { NatScene } from '../../testing/nat-scene.ts';
import type { PlainRow, RuleBench } from '../../testing/rule-bench.ts';

const sessions = (bench: RuleBench): readonly string[] =>
  bench
    .rows('BFD')
    .map((row: PlainRow) => ['logical_port', 'dst_ip', 'min_rx', 'min_tx', 'detect_mult'].map((column) => String(row[column])).join(' '))
    .toSorted();
const bfd = (bench: RuleBench): string => {
  const { status, reason, message } = bench.condition('vpcs', 'blue', 'Bfd') ?? {};
  return [status, reason, message].join(' ');
};
const routes = (bench: RuleBench, prefix: string): readonly unknown[] =>
  bench
    .rows('Logical_Router_Static_Route')
    .filter((row: PlainRow) => row['ip_prefix'] === prefix)
    .toSorted((a, b) => String(a['nexthop']).localeCompare(String(b['nexthop'])))
    .map((row) => [row['policy'], row['nexthop'], row['bfd'], row['options']]);

describe('enableBfd', () => {
  test('watches the gateway of the external Subnet, with the settings, and takes the session away when it is off', () => {
    const { bench } = new NatScene({ settings: { bfdMinRx: 300, bfdMinTx: 200, bfdDetectMult: 5 } });
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true });
    bench.converge();
    assert.deepEqual(sessions(bench), ['blue-external 172.20.0.1 300 200 5']);
    assert.equal(bench.externalIds('BFD', 'blue-external|172.20.0.1')['kiln.io/owner'], 'vpc//blue');
    assert.deepEqual([bfd(bench), bench.object('vpcs', 'blue')?.status?.['enableBfd']], ['True BfdInPlace ', true]);
    assert.equal(bench.writesAfterRestart(), 0);
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: false });
    bench.converge();
    assert.deepEqual([sessions(bench), bench.object('vpcs', 'blue')?.status?.['enableBfd']], [[], false]);
    assert.equal(bench.condition('vpcs', 'blue', 'Bfd'), undefined);
    bench.edit('vpcs', 'blue', { enableExternal: false, enableBfd: true });
    bench.converge();
    assert.match(bfd(bench), /^False BfdWithoutExternal Vpc blue: spec\.enableBfd "true" watches external gateways, and the Vpc has none/);
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true });
    while (!bfd(bench).startsWith('False BfdPending'))
      assert.ok(bench.step(), 'the Vpc says that its sessions are not in place: BfdPending');
    bench.converge();
    assert.match(bfd(bench), /^True/);
    bench.delete('vpcs', 'blue');
    bench.delete('subnets', 'inside');
    bench.converge();
    assert.deepEqual(sessions(bench), []);
  });

  test('says which sessions OVN reports as down: all, some, or none; one that no route uses is neither', () => {
    const { bench } = new NatScene();
    const staticRoutes = ['172.20.0.7', '172.20.0.8'].map((nextHopIP) => ({
      policy: 'policyDst',
      cidr: '10.99.0.0/16',
      nextHopIP,
      ecmpMode: 'ecmp',
    }));
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true, staticRoutes });
    bench.converge();
    const report = (peer: string, status: string): void => {
      const [uuid] = [...bench.northbound.table('BFD')].find(([, row]) => row['dst_ip'] === peer) ?? assert.fail(peer);
      bench.world.rows.apply(bench.northbound, bench.northbound.apply([{ kind: 'update', table: 'BFD', uuid, row: { status } }]));
      bench.converge();
    };
    report('172.20.0.1', 'admin_down');
    assert.equal(bfd(bench), 'True BfdInPlace ');
    report('172.20.0.7', 'down');
    report('172.20.0.8', 'down');
    assert.match(
      bfd(bench),
      /^False BfdDown Vpc blue: all its BFD sessions are down, with 172\.20\.0\.7 \(port blue-external\), 172\.20\.0\.8 .*: no route or policy that they watch is in effect; .*ovn-nbctl list BFD$/,
    );
    const shown = statusOf(bench.world, true).findings.filter(({ key }) => key === 'blue');
    assert.deepEqual(
      shown.map(({ what, message }) => [what, /all its BFD sessions are down/.test(message)]),
      [['not ready', true]],
    );
    report('172.20.0.8', 'up');
    assert.match(
      bfd(bench),
      /^False BfdDown Vpc blue: 1 of 2 BFD sessions are down, with 172\.20\.0\.7 \(port blue-external\): OVN sends nothing to these/,
    );
    report('172.20.0.7', 'up');
    assert.equal(bfd(bench), 'True BfdInPlace ');
    report('172.20.0.7', 'down');
    assert.equal(bench.object('vpcs', 'blue')?.status?.['enableBfd'], true);
    assert.equal(bench.writesAfterRestart(), 0, 'the state is never written');
    assert.ok(bench.rows('BFD').some(({ status }) => status === 'down'));
  });

  for (const [how, after] of [
    ['goes', {}],
    ['gets another next hop', { staticRoutes: [{ cidr: '10.9.0.0/16', nextHopIP: '172.20.0.103', ecmpMode: 'ecmp_symmetric_reply' }] }],
    ['goes with enableBfd', { enableBfd: false }],
  ] as const) {
    test(`a session outlives the route that names it: the route ${how}`, () => {
      const { bench } = new NatScene();
      const route = { cidr: '10.9.0.0/16', nextHopIP: '172.20.0.101', ecmpMode: 'ecmp_symmetric_reply' };
      bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true, staticRoutes: [route] });
      bench.converge();
      const has = (): readonly boolean[] => [
        bench.rows('Logical_Router_Static_Route').some(({ nexthop }) => nexthop === route.nextHopIP),
        sessions(bench).some((text) => text.includes(route.nextHopIP)),
      ];
      assert.deepEqual(has(), [true, true]);
      bench.edit('vpcs', 'blue', { staticRoutes: [], ...after });
      let between = false;
      while (bench.step()) {
        const [routed, watched] = has();
        assert.ok(routed !== true || watched === true, 'no route without its session');
        between ||= routed === false && watched === true;
      }
      assert.ok(between, 'first the route, then the session');
      assert.deepEqual(has(), [false, false]);
      assert.equal(bench.writesAfterRestart(), 0);
    });
  }

  test('adopts the session of Kube-OVN, which has no keys', () => {
    const { bench } = new NatScene();
    const uuid = '00000000-0000-4000-8000-0000000000bf';
    bench.world.rows.apply(
      bench.northbound,
      bench.northbound.insert('BFD', uuid, {
        logical_port: 'blue-external',
        dst_ip: '172.20.0.1',
        min_rx: 100,
        min_tx: 100,
        detect_mult: 3,
      }),
    );
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true });
    bench.converge();
    assert.deepEqual([...bench.northbound.table('BFD').keys()], [uuid]);
    assert.match(bfd(bench), /^True/);
  });

  test('static routes with ecmpMode are watched, and one whose next hop is elsewhere is told', () => {
    const { bench } = new NatScene();
    const staticRoutes = ['172.20.0.101', '172.20.0.102', '10.5.0.9'].map((nextHopIP) => ({
      ...{ policy: 'policyDst', cidr: '10.9.0.0/16', nextHopIP },
      ecmpMode: 'ecmp_symmetric_reply',
    }));
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true, staticRoutes });
    bench.converge();
    const watched = (peer: string): unknown => ['dst-ip', peer, `BFD/blue-external|${peer}`, { ecmp_symmetric_reply: 'true' }];
    assert.deepEqual(routes(bench, '10.9.0.0/16'), [['dst-ip', '10.5.0.9', null, {}], watched('172.20.0.101'), watched('172.20.0.102')]);
    assert.equal(sessions(bench).length, 3);
    assert.match(
      bench.condition('vpcs', 'blue', 'WithoutEffect')?.message ?? '',
      /spec\.staticRoutes\[2\]\.ecmpMode .* has no BFD session/,
    );
    assert.equal(bench.condition('vpcs', 'blue', 'WithoutEffect')?.reason, 'BfdUnwatched');
    assert.equal(bench.writesAfterRestart(), 0);
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: false, staticRoutes });
    bench.converge();
    assert.deepEqual(sessions(bench), []);
    assert.deepEqual(
      routes(bench, '10.9.0.0/16').map((one) => (one as readonly unknown[])[2]),
      [null, null, null],
    );
  });

  test('Subnets with enableEcmp share their traffic over the gateway nodes, as these come and go', () => {
    const scene = new NatScene();
    const { bench } = scene;
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true });
    bench.put('subnets', { metadata: { name: 'inside' }, spec: { ...bench.object('subnets', 'inside')?.spec, enableEcmp: true } });
    bench.converge();
    assert.match(bfd(bench), /^False BfdPeersMissing/);
    const own = routes(bench, '10.5.0.0/24');
    assert.deepEqual(own, [['src-ip', '10.5.0.1', null, {}]]);
    const ready = (name: string): void => {
      const eip = bench.object('ovn-eips', name) ?? assert.fail();
      bench.put('ovn-eips', { metadata: { name }, spec: eip.spec, status: { ...eip.status, ready: true } });
      bench.converge();
    };
    for (const name of ['gw1', 'gw2']) scene.eip(name, { type: 'lsp' });
    ready('gw1');
    assert.deepEqual(routes(bench, '10.5.0.0/24'), own);
    ready('gw2');
    const peers = ['gw1', 'gw2'].map((name) => String(bench.object('ovn-eips', name)?.status?.['v4Ip']));
    const shared = peers.map((peer) => ['src-ip', peer, `BFD/blue-external|${peer}`, { ecmp_symmetric_reply: 'true' }]);
    assert.deepEqual(routes(bench, '10.5.0.0/24'), shared);
    assert.equal(sessions(bench).length, 3);
    assert.match(bfd(bench), /^True/);
    assert.equal(bench.writesAfterRestart(), 0);
    bench.delete('ovn-eips', 'gw2');
    bench.converge();
    assert.deepEqual([routes(bench, '10.5.0.0/24'), sessions(bench).length], [own, 1]);
  });
});

test('each family is shared over the gateway nodes that have it, if there are two', () => {
  const scene = new NatScene({ inside: '10.5.0.0/24,fd05::/64', external: '172.20.0.0/24,fd20::/64' });
  const { bench } = scene;
  bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true });
  bench.put('subnets', { metadata: { name: 'inside' }, spec: { ...bench.object('subnets', 'inside')?.spec, enableEcmp: true } });
  /** Whether routes are watched. */
  const watched = (prefix: string): readonly boolean[] => routes(bench, prefix).map((one) => (one as readonly unknown[])[2] !== null);
  const gateway = (name: string): void => {
    scene.eip(name, { type: 'lsp' });
    const eip = bench.object('ovn-eips', name) ?? assert.fail();
    bench.put('ovn-eips', { metadata: { name }, spec: eip.spec, status: { ...eip.status, ready: true } });
    bench.converge();
  };
  gateway('gw1');
  assert.deepEqual([watched('10.5.0.0/24'), watched('fd05::/64')], [[false], [false]], 'one node has two addresses');
  gateway('gw2');
  assert.deepEqual(
    [watched('10.5.0.0/24'), watched('fd05::/64')],
    [
      [true, true],
      [true, true],
    ],
  );
});

describe('Subnets that share their traffic over gateway nodes', () => {
  const shared = (prefix: string, peers: readonly unknown[]): readonly unknown[] =>
    peers.map((peer) => ['src-ip', String(peer), `BFD/blue-external|${String(peer)}`, { ecmp_symmetric_reply: 'true' }]);
  const scene = (): { readonly bench: RuleBench; readonly peers: (key: string) => readonly unknown[]; readonly told: () => string } => {
    const made = new NatScene({ inside: '10.5.0.0/24,fd05::/64', external: '172.20.0.0/24,fd20::/64' });
    const { bench } = made;
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true });
    bench.put('subnets', { metadata: { name: 'inside' }, spec: { ...bench.object('subnets', 'inside')?.spec, enableEcmp: true } });
    for (const name of ['gw1', 'gw2']) {
      made.eip(name, { type: 'lsp' });
      const eip = bench.object('ovn-eips', name) ?? assert.fail();
      bench.put('ovn-eips', { metadata: { name }, spec: eip.spec, status: { ...eip.status, ready: true } });
    }
    bench.converge();
    return {
      bench,
      peers: (key) => ['gw1', 'gw2'].map((name) => bench.object('ovn-eips', name)?.status?.[key]),
      told: () => ['vpcs blue', 'subnets inside'].map((one) => bench.conditionText(...(one.split(' ') as ['vpcs', string]))).join('\n'),
    };
  };
  const route = (cidr: string, nextHopIP: string): object => ({ policy: 'policyDst', cidr, nextHopIP });

  test('share it beside a default route to the external gateway as well, and nothing is reported', () => {
    const { bench, peers, told } = scene();
    const staticRoutes = [route('0.0.0.0/0', '172.20.0.1'), route('::/0', 'fd20::1')];
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true, staticRoutes });
    bench.converge();
    assert.deepEqual(routes(bench, '10.5.0.0/24'), shared('10.5.0.0/24', peers('v4Ip')));
    assert.deepEqual(routes(bench, 'fd05::/64'), shared('fd05::/64', peers('v6Ip')));
    const hops = routes(bench, '0.0.0.0/0').map((one) => (one as readonly unknown[])[1]);
    assert.ok(hops.includes('172.20.0.1'), 'it stays for other Subnets');
    assert.match(bfd(bench), /^True/);
    assert.doesNotMatch(told(), /WithoutEffect/);
    bench.delete('ovn-eips', 'gw2');
    bench.converge();
    assert.deepEqual(routes(bench, '10.5.0.0/24'), [], 'the default route is in effect again');
  });

  test('a default route elsewhere is reported, and a more specific route is not hidden, which is reported too', () => {
    const { bench, peers, told } = scene();
    const put = (staticRoutes: readonly object[]): void => {
      bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: true, staticRoutes });
      bench.converge();
    };
    put([route('0.0.0.0/0', '10.5.0.9')]);
    assert.deepEqual(routes(bench, '10.5.0.0/24'), shared('10.5.0.0/24', peers('v4Ip')));
    assert.match(told(), /spec\.staticRoutes\[0\] "0\.0\.0\.0\/0" goes by way of 10\.5\.0\.9, and Subnet inside does not take it/);
    put([route('10.0.0.0/8', '10.5.0.9')]);
    assert.deepEqual(routes(bench, '10.5.0.0/24'), []);
    assert.deepEqual(routes(bench, 'fd05::/64'), shared('fd05::/64', peers('v6Ip')));
    assert.match(
      told(),
      /spec\.enableEcmp "true" does not share the IPv4 traffic .* hide the static route 10\.0\.0\.0\/8 by way of 10\.5\.0\.9/,
    );
    assert.equal(bench.condition('subnets', 'inside', 'WithoutEffect')?.reason, 'RouteHidden');
    put([]);
    assert.doesNotMatch(told(), /WithoutEffect/);
    assert.equal(bench.writesAfterRestart(), 0);
    bench.edit('vpcs', 'blue', { enableExternal: true, enableBfd: false });
    bench.converge();
    assert.match(told(), /spec\.enableEcmp "true" has no effect alone; it takes effect together with .* a Vpc with spec\.enableBfd true/);
  });
});

describe('bfdPort', () => {
  const group = (bench: RuleBench): readonly string[] =>
    bench
      .rows('HA_Chassis')
      .toSorted((a, b) => Number(b['priority']) - Number(a['priority']))
      .map((row) => `${String(row['chassis_name'])} ${String(row['priority'])}`);

  test('is a router port with the nodes that the selector selects; they follow the nodes; off takes all away', () => {
    const scene = new NatScene();
    const { bench } = scene;
    const bfdPort = { enabled: true, ip: '10.255.255.255,fd00::ff', nodeSelector: { matchLabels: { role: 'edge' } } };
    bench.edit('vpcs', 'blue', { bfdPort });
    bench.converge();
    assert.deepEqual(group(bench), []);
    assert.match(
      bench.condition('vpcs', 'blue', 'WithoutEffect')?.message ?? '',
      /spec\.bfdPort\.nodeSelector .* selects no node with a chassis/,
    );
    assert.equal(bench.condition('vpcs', 'blue', 'WithoutEffect')?.reason, 'BfdPortUnhosted');
    scene.gatewayNode('gw1', { role: 'edge' });
    scene.gatewayNode('gw2', { role: 'edge' });
    bench.converge();
    assert.deepEqual(group(bench), ['chassis-gw1 100', 'chassis-gw2 99']);
    const port = bench.row('Logical_Router_Port', 'bfd@blue') ?? assert.fail();
    assert.deepEqual(
      [port['networks'], port['options'], port['ha_chassis_group']],
      [['10.255.255.255', 'fd00::ff'], { 'bfd-only': 'true' }, 'HA_Chassis_Group/bfd@blue'],
    );
    assert.deepEqual(bench.object('vpcs', 'blue')?.status?.['bfdPort'], {
      name: 'bfd@blue',
      ip: '10.255.255.255,fd00::ff',
      nodes: ['gw1', 'gw2'],
    });
    assert.equal(bench.writesAfterRestart(), 0);
    bench.delete('nodes', 'gw1');
    bench.converge();
    assert.deepEqual(group(bench), ['chassis-gw2 100']);
    scene.gatewayNode('gw2', {});
    bench.converge();
    assert.deepEqual(group(bench), []);
    bench.edit('vpcs', 'blue', { bfdPort: { enabled: false } });
    bench.converge();
    assert.deepEqual([bench.row('Logical_Router_Port', 'bfd@blue'), bench.rowIds('HA_Chassis_Group')], [undefined, []]);
    assert.equal(bench.object('vpcs', 'blue')?.status?.['bfdPort'], undefined);
  });

  test('without a selector has three nodes, the same ones after a restart', () => {
    const scene = new NatScene();
    for (const name of ['gw3', 'gw4', 'gw5']) scene.gatewayNode(name, {});
    scene.bench.edit('vpcs', 'blue', { bfdPort: { enabled: true, ip: '10.255.255.255' } });
    scene.bench.converge();
    assert.equal(group(scene.bench).length, 3);
    assert.equal(scene.bench.writesAfterRestart(), 0);
    scene.bench.delete('vpcs', 'blue');
    scene.bench.delete('subnets', 'inside');
    scene.bench.converge();
    assert.deepEqual([scene.bench.rowIds('HA_Chassis_Group'), scene.bench.rowIds('HA_Chassis')], [[], []]);
  });
});
