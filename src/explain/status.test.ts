import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import { PodScene } from '../testing/pod-scene.ts';
import { ofNamespace, statusOf } from './status.ts';

function findings({ bench }: PodScene): string[] {
  return statusOf(bench.world, true).findings.map(({ what, kind, key, next }) => `${what} ${kind} ${key}: ${next}`);
}

test('a cluster that is well has no findings, and its objects and rows are counted', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  const { counts, rows, findings: found } = statusOf(scene.bench.world, true);
  assert.deepEqual([counts['Vpc'], counts['Subnet'], counts['Pod'], found], [1, 2, 1, []]);
  assert.equal(rows, scene.bench.world.rows.owned.size);
  assert.equal(statusOf(scene.bench.world, false).rows, undefined);
});

test('what is blocked, without a network, misbound or nearly full is found, with the command that leads on', () => {
  const scene = new PodScene();
  scene.subnet('tiny', { cidrBlock: '10.3.0.0/30' });
  scene.bench.converge();
  scene.pod('early');
  scene.pod('one', { annotations: { 'ovn.kubernetes.io/logical_switch': 'tiny' } });
  scene.bench.converge();
  scene.pod('lost', { annotations: { 'ovn.kubernetes.io/logical_switch': 'nowhere' } });
  scene.subnet('own', { cidrBlock: '10.4.0.0/24', namespaces: ['shop'] });
  scene.bench.delete('subnets', 'tiny');
  scene.bench.converge();
  assert.deepEqual(findings(scene).toSorted(), [
    'blocked Subnet tiny: kiln explain subnet tiny',
    'misbound Pod shop/early: kiln explain pod early -n shop',
    'nearly full Subnet tiny: kiln explain subnet tiny',
    'not ready Pod shop/lost: kiln explain pod lost -n shop',
  ]);
});

test('a Subnet that loses a family under pods is not nearly full of that family', () => {
  const scene = new PodScene({ joinCidr: '100.64.0.0/16,fd00:100:64::/112' });
  scene.subnet('dual', { cidrBlock: '10.4.0.0/24,fd04::/112', namespaces: ['shop'] });
  scene.bench.converge();
  scene.pod('web');
  scene.bench.converge();
  scene.bench.edit('subnets', 'dual', { cidrBlock: '10.4.0.0/24', protocol: 'IPv4', gateway: '10.4.0.1', excludeIps: ['10.4.0.1'] });
  scene.bench.converge();
  assert.equal(scene.bench.object('subnets', 'dual')?.status?.['v6usingIPs'], 1n);
  assert.deepEqual(findings(scene), ['not ready Subnet dual: kiln explain subnet dual']);
});

test('a namespace: what is in it, what names it, the Vpcs of its Subnets, and nothing else', () => {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  scene.subnet('own', { cidrBlock: '10.4.0.0/24', vpc: 'blue', namespaces: ['shop'] });
  scene.subnet('other', { cidrBlock: '10.5.0.0/24', namespaces: ['else'] });
  scene.bench.converge();
  scene.pod('web');
  scene.bench.converge();
  const { world } = scene.bench;
  assert.deepEqual(statusOf(world, true, ofNamespace('shop', world)).counts, { Vpc: 1, Subnet: 1, IP: 1, Pod: 1, Namespace: 1 });
  assert.deepEqual(statusOf(world, true, ofNamespace('nobody', world)).counts, {});
});

test('a switch that only a foreign port keeps after its Subnet was removed by force is found, with the command that releases it', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('own', { cidrBlock: '10.4.0.0/24', namespaces: ['shop'] });
  bench.converge();
  scene.pod('web');
  bench.converge();
  const own = String(bench.world.rows.best(rowId('Logical_Switch', 'own'))?.uuid);
  const theirs = '00000000-0000-4000-8000-000000000001';
  bench.foreignRow('Logical_Switch_Port', theirs, { name: 'theirs' }, { table: 'Logical_Switch', uuid: own, column: 'ports' });
  bench.removeByForce('subnets', 'own');
  bench.converge();
  assert.deepEqual(
    findings(scene).filter((one) => one.startsWith('blocked')),
    [],
    'it is kept for a pod',
  );
  bench.removeByForce('pods', 'shop/web');
  bench.converge();
  assert.deepEqual(findings(scene), [`blocked Subnet own: ovn-nbctl list Logical_Switch_Port ${theirs}`]);
  bench.removeForeignRow('Logical_Switch_Port', theirs);
  bench.converge();
  assert.deepEqual([findings(scene), bench.row('Logical_Switch', 'own')], [[], undefined]);
});

test('what is not implemented is a note: fields and annotations by object, whole kinds in one line, and nothing of it is a finding', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('red', { cidrBlock: '10.4.0.0/24', enableMulticastSnoop: true });
  bench.converge();
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/north_gateway': '10.9.0.1' } });
  bench.converge();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
    bench.world.unimplemented.set(`networkpolicies/shop/${name}`, {
      resource: 'networkpolicies',
      key: `shop/${name}`,
      uid: name,
      feature: 'NetworkPolicy: traffic that it should deny is still allowed',
    });
  bench.world.unimplemented.set('vlans/v10', { resource: 'vlans', key: 'v10', uid: 'v', feature: 'underlay networks (Vlan)' });
  const { findings: found, notes } = statusOf(bench.world, true);
  assert.deepEqual(found, []);
  assert.deepEqual(
    notes.map(({ what, kind, key, message, next }) => [what, kind, key, message.replace(/ is set, but .*/, ''), next]),
    [
      ['not implemented', 'Subnet', 'red', 'Subnet red: spec.enableMulticastSnoop', 'kiln explain subnet red'],
      [
        'not implemented',
        'Pod',
        'shop/web',
        'Pod shop/web: annotation ovn.kubernetes.io/north_gateway is not implemented by this version of Kiln: no traffic is sent through that gateway, nor through its node where its Subnet has distributed gateways',
        'kiln explain pod web -n shop',
      ],
      [
        'not implemented',
        'NetworkPolicy',
        'shop/a',
        'NetworkPolicy shop/a, shop/b, shop/c, shop/d and 2 more: this version of Kiln does not implement NetworkPolicy: traffic that it should deny is still allowed',
        'kiln explain networkpolicy a -n shop',
      ],
      [
        'not implemented',
        'Vlan',
        'v10',
        'Vlan v10: this version of Kiln does not implement underlay networks (Vlan)',
        'kiln explain vlan v10',
      ],
    ],
  );
  assert.deepEqual(
    statusOf(bench.world, true, ofNamespace('shop', bench.world)).notes.map(({ kind }) => kind),
    ['Pod', 'NetworkPolicy'],
  );
});

test('a node that waits for its address in the join Subnet is found; one that the kubelet reports as not ready is not', () => {
  const scene = new PodScene({ joinCidr: '100.64.0.0/30' });
  scene.bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: { conditions: [{ type: 'Ready', status: 'False' }] } });
  scene.bench.converge();
  const found = statusOf(scene.bench.world, true).findings.filter(({ kind }) => kind === 'Node');
  assert.deepEqual(
    found.map(({ what, key, next }) => [what, key, next]),
    [['not ready', 'n2', 'kiln explain node n2']],
  );
  assert.match(found[0]?.message ?? '', /^Node n2 has no address in Subnet join: no free IPv4 address/);
  const roomy = new PodScene();
  roomy.bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: { conditions: [{ type: 'Ready', status: 'False' }] } });
  roomy.bench.converge();
  assert.deepEqual(findings(roomy), []);
});

test('rows of other programs are counted by table, for the whole cluster only', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const uuid = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;
  assert.deepEqual(statusOf(bench.world, true).foreignRows, {});
  bench.foreignRow('Logical_Switch', uuid(1), { name: 'neutron-a' });
  bench.foreignRow('Logical_Switch', uuid(2), { name: 'neutron-b' });
  bench.foreignRow('Logical_Switch_Port', uuid(3), { name: 'p' }, { table: 'Logical_Switch', uuid: uuid(1), column: 'ports' });
  const { foreignRows, findings: found } = statusOf(bench.world, true);
  assert.deepEqual([foreignRows, found], [{ Logical_Switch: 2, Logical_Switch_Port: 1 }, []]);
  assert.deepEqual(statusOf(bench.world, true, ofNamespace('shop', bench.world)).foreignRows, {});
  assert.deepEqual(statusOf(bench.world, false).foreignRows, {});
});

test("a pool of networks with host bits, as Kube-OVN's guide writes it, is in effect and no finding; what has no effect beside it is", () => {
  const scene = new PodScene();
  scene.bench.put('namespaces', { metadata: { name: 'ns-1' } });
  const ips = ['10.16.0.201', '10.16.0.210/30', '10.16.0.220..10.16.0.230'];
  scene.bench.put('ippools', { metadata: { name: 'pool-1' }, spec: { subnet: 'ovn-default', ips, namespaces: ['ns-1'] } });
  scene.bench.converge();
  assert.deepEqual(findings(scene), []);
  scene.bench.put('ippools', {
    metadata: { name: 'pool-2' },
    spec: { subnet: 'ovn-default', ips: ['10.16.1.2/30'], namespaces: ['gone'] },
  });
  scene.bench.converge();
  assert.deepEqual(findings(scene), ['without effect IPPool pool-2: kiln explain ippool pool-2']);
});

test('a Subnet whose switch of another program is gone is left over, once, with what keeps it', () => {
  const scene = new PodScene({ enableExternalVpc: true });
  const { bench } = scene;
  const [router, port, home, link] = [1, 2, 3, 4].map((n) => `00000000-0000-4000-9000-00000000000${n}`) as [string, string, string, string];
  bench.foreignRow('Logical_Router', router, { name: 'neutron-1', external_ids: { 'neutron:router_name': 'r' } });
  const inRouter = { table: 'Logical_Router', uuid: router, column: 'ports' };
  bench.foreignRow('Logical_Router_Port', port, { name: 'lrp-1', networks: ['10.91.0.1/28'] }, inRouter);
  bench.foreignRow('Logical_Switch', home, { name: 'net-1', external_ids: { 'neutron:network_name': 'n' } });
  const inSwitch = { table: 'Logical_Switch', uuid: home, column: 'ports' };
  bench.foreignRow('Logical_Switch_Port', link, { name: 'p', type: 'router', options: { 'router-port': 'lrp-1' } }, inSwitch);
  bench.converge();
  bench.edit('subnets', 'net-1', { excludeIps: ['10.91.0.1', '10.91.0.8..10.91.0.14'] });
  bench.removeForeignRow('Logical_Router_Port', port);
  bench.converge();
  assert.deepEqual(findings(scene), ['left over Subnet net-1: kiln explain subnet net-1']);
  assert.match(statusOf(bench.world, true).findings[0]?.message ?? '', /stays for what is set on it: spec\.excludeIps; kubectl delete/);
});
