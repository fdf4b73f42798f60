import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../../nb/row-id.ts';
import { NatScene } from '../../testing/nat-scene.ts';
import type { PlainRow, RuleBench } from '../../testing/rule-bench.ts';

const PORT = 'ovn-cluster-external';
const LABEL = 'ovn.kubernetes.io/external-gw';
const MARK = 'kiln.io/gateway-of';

function configure(bench: RuleBench, data: Readonly<Record<string, string>>): void {
  bench.put('configmaps', { metadata: { name: 'ovn-external-gw-config', namespace: 'kube-system' }, spec: data });
  bench.converge();
}

/** Without Subnet `external`: a bare cluster with two nodes that are no gateway nodes. */
function cluster(): NatScene {
  const scene = new NatScene();
  const { bench } = scene;
  scene.gatewayNode('gw1', {});
  scene.gatewayNode('gw2', {});
  bench.delete('vpcs', 'blue');
  bench.delete('subnets', 'inside');
  bench.converge();
  bench.delete('subnets', 'external');
  bench.delete('vpcs', 'outside');
  bench.converge();
  assert.equal(bench.object('subnets', 'external'), undefined);
  return scene;
}

const GUIDE = {
  'enable-external-gw': 'true',
  'external-gw-nodes': 'gw2, gw1',
  'external-gw-nic': 'eth1',
  'external-gw-addr': '172.56.0.1/16',
  'nic-ip': '172.56.0.254/16',
  'nic-mac': '16:52:f3:13:6a:25',
};

const node = (bench: RuleBench, name: string): readonly unknown[] => {
  const { labels, annotations } = bench.object('nodes', name)?.metadata ?? assert.fail();
  return [labels?.[LABEL], annotations?.[MARK]];
};
const chassis = (bench: RuleBench): readonly unknown[] =>
  bench
    .rows('Gateway_Chassis')
    .filter(({ name }) => String(name).startsWith(PORT))
    .toSorted((a: PlainRow, b: PlainRow) => Number(b['priority']) - Number(a['priority']))
    .map(({ chassis_name: name, priority }) => `${String(name)} ${String(priority)}`);

test('the ConfigMap of the guide connects the default Vpc without a Subnet: switch, localnet port, router port, chassis, labels', () => {
  const { bench } = cluster();
  configure(bench, GUIDE);
  const port = bench.row('Logical_Router_Port', PORT) ?? assert.fail();
  assert.deepEqual([port['mac'], port['networks']], ['16:52:f3:13:6a:25', ['172.56.0.254/16']]);
  const localnet = bench.row('Logical_Switch_Port', 'localnet.external') ?? assert.fail();
  assert.deepEqual(
    [localnet['type'], localnet['addresses'], localnet['options'], localnet['tag']],
    ['localnet', ['unknown'], { network_name: 'external' }, null],
  );
  assert.deepEqual(bench.list('Logical_Switch', 'external', 'ports').toSorted(), [
    'Logical_Switch_Port/external-ovn-cluster',
    'Logical_Switch_Port/localnet.external',
  ]);
  assert.deepEqual(chassis(bench), ['chassis-gw2 100', 'chassis-gw1 99']);
  assert.deepEqual(
    [node(bench, 'gw1'), node(bench, 'gw2')],
    [
      ['true', 'ovn-external-gw-config'],
      ['true', 'ovn-external-gw-config'],
    ],
  );
  assert.equal(bench.condition('vpcs', 'ovn-cluster', 'External')?.status, 'True');
  assert.equal(bench.object('vpcs', 'ovn-cluster')?.status?.['enableExternal'], true);
  assert.deepEqual(bench.keys('ovn-eips'), []);
  assert.equal(bench.writesAfterRestart(), 0);

  // Each of the ways to turn it off takes away exactly what it made.
  for (const off of ['false', 'deleted'] as const) {
    if (off === 'false') configure(bench, { ...GUIDE, 'enable-external-gw': 'false' });
    else {
      bench.delete('configmaps', 'kube-system/ovn-external-gw-config');
      bench.converge();
    }
    assert.equal(bench.row('Logical_Router_Port', PORT), undefined);
    assert.equal(bench.row('Logical_Switch', 'external'), undefined);
    assert.equal(bench.row('Logical_Switch_Port', 'localnet.external'), undefined);
    assert.deepEqual(
      [bench.rowIds('Gateway_Chassis'), node(bench, 'gw1'), node(bench, 'gw2')],
      [[], [undefined, undefined], [undefined, undefined]],
    );
    assert.equal(bench.object('vpcs', 'ovn-cluster')?.status?.['enableExternal'], false);
    assert.equal(bench.condition('vpcs', 'ovn-cluster', 'External'), undefined);
    configure(bench, GUIDE);
    assert.ok(bench.row('Logical_Router_Port', PORT));
  }
});

test('edits follow at once: nodes, addresses and type; a label that a user set stays', () => {
  const { bench } = cluster();
  const scene = { bench };
  bench.put('nodes', { metadata: { name: 'gw1', labels: { [LABEL]: 'true' } } });
  configure(bench, GUIDE);
  assert.deepEqual(node(bench, 'gw1'), ['true', undefined]);
  assert.deepEqual(chassis(scene.bench), ['chassis-gw1 100', 'chassis-gw2 99']);
  configure(bench, { ...GUIDE, 'external-gw-nodes': 'gw1', 'nic-ip': '172.56.0.253/16', 'nic-mac': '' });
  assert.deepEqual(chassis(bench), ['chassis-gw1 100']);
  assert.deepEqual(
    [node(bench, 'gw1'), node(bench, 'gw2')],
    [
      ['true', undefined],
      [undefined, undefined],
    ],
  );
  assert.deepEqual(bench.row('Logical_Router_Port', PORT)?.['networks'], ['172.56.0.253/16']);
  assert.notEqual(bench.row('Logical_Router_Port', PORT)?.['mac'], GUIDE['nic-mac']);
  configure(bench, { ...GUIDE, type: 'distributed' });
  assert.deepEqual(chassis(bench), ['chassis-gw1 100']);
  assert.match(
    bench.condition('vpcs', 'ovn-cluster', 'WithoutEffect')?.message ?? '',
    /data\.external-gw-nodes "gw2,gw1" has no effect with type distributed/,
  );
  configure(bench, { ...GUIDE, 'enable-external-gw': 'no' });
  assert.deepEqual(chassis(bench), ['chassis-gw1 100', 'chassis-gw2 99']);
  bench.delete('configmaps', 'kube-system/ovn-external-gw-config');
  bench.converge();
  assert.deepEqual(node(bench, 'gw1'), ['true', undefined]);
});

test('from centralized to distributed the gateway nodes stay gateway nodes, in their order; a label that goes by hand stays away', () => {
  const { bench } = cluster();
  configure(bench, GUIDE);
  const made = ['true', 'ovn-external-gw-config'];
  const uuids = (): readonly unknown[] =>
    bench.rowIds('Gateway_Chassis').map((id) => bench.world.rows.state(rowId('Gateway_Chassis', id))?.uuid);
  const before = uuids();
  for (const edit of [{ type: 'distributed' }, { type: 'distributed', 'external-gw-nodes': '' }, { type: 'centralized' }]) {
    configure(bench, { ...GUIDE, ...edit });
    assert.deepEqual([node(bench, 'gw1'), node(bench, 'gw2')], [made, made]);
    if (!('external-gw-nodes' in edit)) assert.deepEqual([chassis(bench), uuids()], [['chassis-gw2 100', 'chassis-gw1 99'], before]);
    assert.equal(chassis(bench).length, 2);
  }
  configure(bench, { ...GUIDE, type: 'distributed' });
  bench.put('nodes', { metadata: { name: 'gw1', labels: {}, annotations: bench.object('nodes', 'gw1')?.metadata.annotations ?? {} } });
  bench.converge();
  assert.deepEqual([node(bench, 'gw1'), chassis(bench)], [[undefined, undefined], ['chassis-gw2 100']]);
  configure(bench, { ...GUIDE, type: 'distributed', 'enable-external-gw': 'false' });
  assert.deepEqual([node(bench, 'gw2'), chassis(bench)], [[undefined, undefined], []]);
});

test('with the ConfigMap extraExternalSubnets of the default Vpc come beside its port', () => {
  const scene = new NatScene();
  const { bench } = scene;
  scene.put('subnets', 'second', { cidrBlock: '172.21.0.0/24', vpc: 'outside' });
  configure(bench, { 'external-gw-nodes': 'gw1' });
  bench.edit('vpcs', 'ovn-cluster', { enableExternal: true, extraExternalSubnets: ['second'] });
  bench.converge();
  assert.ok(bench.row('Logical_Router_Port', PORT));
  assert.ok(bench.row('Logical_Router_Port', 'ovn-cluster-second'));
  bench.delete('configmaps', 'kube-system/ovn-external-gw-config');
  bench.converge();
  assert.equal(bench.writesAfterRestart(), 0);
});

test('wrong values are told on the Vpc and the ConfigMap, leave the port as it is, and are mended with the edit', () => {
  const { bench } = cluster();
  configure(bench, GUIDE);
  const before = bench.row('Logical_Router_Port', PORT);
  for (const [data, message] of [
    [
      { 'nic-ip': '172.56.0.254' },
      /ConfigMap kube-system\/ovn-external-gw-config: data\.nic-ip "172\.56\.0\.254" is no address with a prefix length/,
    ],
    [{ 'nic-ip': '172.56.0.254/16,172.57.0.1/16' }, /data\.nic-ip .* has two addresses of one family/],
    [{ 'nic-ip': '172.56.0.0/16' }, /data\.nic-ip .* no host of its network can have/],
    [{ 'nic-mac': '01:00:00:00:00:00' }, /data\.nic-mac "01:00:00:00:00:00" is a multicast MAC address/],
  ] as const) {
    configure(bench, { ...GUIDE, ...data });
    const external = bench.condition('vpcs', 'ovn-cluster', 'External');
    assert.deepEqual([external?.status, external?.reason], ['False', 'ExternalGatewayConfigInvalid']);
    assert.match(external?.message ?? '', message);
    assert.ok(
      bench.events.some((event) => event.object === 'configmaps/kube-system/ovn-external-gw-config' && message.test(event.message)),
    );
    assert.deepEqual(bench.row('Logical_Router_Port', PORT), before);
    configure(bench, GUIDE);
    assert.equal(bench.condition('vpcs', 'ovn-cluster', 'External')?.status, 'True');
  }
  configure(bench, { ...GUIDE, 'external-gw-nodes': 'gw2,nobody', 'external-gw-addr': 'x', nicip: '1' });
  const message = bench.condition('vpcs', 'ovn-cluster', 'WithoutEffect')?.message ?? '';
  assert.match(message, /data\.external-gw-nodes "nobody" names no Node that exists/);
  assert.match(message, /data\.external-gw-addr "x" is no address/);
  assert.match(message, /data\.nicip "1" is no key of this ConfigMap/);
  assert.deepEqual(chassis(bench), ['chassis-gw2 100']);
  configure(bench, GUIDE);
  assert.equal(bench.condition('vpcs', 'ovn-cluster', 'WithoutEffect'), undefined);
  configure(bench, { 'enable-external-gw': 'true', 'external-gw-nodes': 'gw1' });
  assert.match(bench.condition('vpcs', 'ovn-cluster', 'External')?.message ?? '', /Subnet external, which does not exist/);
});

test('with a Subnet the address of the ConfigMap is reserved in it; without nic-ip the port has an OvnEip', () => {
  const scene = cluster();
  const { bench } = scene;
  configure(bench, { ...GUIDE, 'nic-ip': '172.20.0.9/24' });
  const switchUuid = (): string | undefined => bench.world.rows.state(rowId('Logical_Switch', 'external'))?.uuid;
  const uuid = switchUuid();
  bench.put('vpcs', { metadata: { name: 'outside' }, spec: {} });
  scene.pods.subnet('external', { cidrBlock: '172.20.0.0/24', vpc: 'outside' });
  bench.converge();
  // The Subnet takes the switch over, with its ports.
  assert.equal(switchUuid(), uuid);
  assert.equal(bench.externalIds('Logical_Switch', 'external')['kiln.io/owner'], 'subnet//external');
  assert.deepEqual(bench.row('Logical_Router_Port', PORT)?.['networks'], ['172.20.0.9/24']);
  assert.equal(bench.row('Logical_Switch_Port', 'localnet.external')?.['type'], 'localnet');
  assert.equal(bench.object('subnets', 'external')?.status?.['v4usingIPrange'], '172.20.0.9');
  assert.equal(bench.writesAfterRestart(), 0);
  scene.eip('taken', { v4Ip: '172.20.0.9' });
  assert.equal(bench.condition('ovn-eips', 'taken', 'Accepted')?.reason, 'AddressConflict');
  bench.delete('ovn-eips', 'taken');
  scene.eip('other', { v4Ip: '172.20.0.10' });
  configure(bench, { ...GUIDE, 'nic-ip': '172.20.0.10/24' });
  assert.match(bench.condition('vpcs', 'ovn-cluster', 'External')?.message ?? '', /data\.nic-ip "172\.20\.0\.10\/24" cannot be had/);
  assert.deepEqual(bench.row('Logical_Router_Port', PORT)?.['networks'], ['172.20.0.9/24']);
  bench.delete('ovn-eips', 'other');
  bench.converge();
  assert.deepEqual(bench.row('Logical_Router_Port', PORT)?.['networks'], ['172.20.0.10/24']);
  configure(bench, { 'external-gw-nodes': 'gw1' });
  assert.deepEqual(bench.row('Logical_Router_Port', PORT)?.['networks'], ['172.20.0.10/24']);
  assert.equal(bench.object('ovn-eips', PORT)?.status?.['v4Ip'], '172.20.0.10');
  configure(bench, { ...GUIDE, 'nic-ip': '172.20.0.11/24' });
  assert.deepEqual([bench.keys('ovn-eips'), bench.row('Logical_Router_Port', PORT)?.['networks']], [[], ['172.20.0.11/24']]);
  bench.delete('configmaps', 'kube-system/ovn-external-gw-config');
  bench.converge();
  assert.deepEqual([bench.row('Logical_Router_Port', PORT), bench.row('Logical_Switch_Port', 'localnet.external')], [undefined, undefined]);
  assert.equal(String(bench.object('subnets', 'external')?.status?.['v4usingIPs']), '0');
  assert.ok(bench.row('Logical_Switch', 'external'));
});

test('a next hop outside of the network has no effect and is reported; the gateway of the Subnet stays in effect', () => {
  const scene = new NatScene({ external: '172.56.0.0/16' });
  const { bench } = scene;
  scene.eip('e1', { v4Ip: '172.56.0.40' });
  const hops = (): unknown => bench.rows('Logical_Router_Policy').flatMap((row) => (row['priority'] === 29_250 ? [row['nexthops']] : []));
  configure(bench, { ...GUIDE, 'external-gw-addr': '172.56.0.9' });
  scene.put('ovn-fips', 'f1', { ovnEip: 'e1', vpc: 'ovn-cluster', v4Ip: '10.16.0.9' });
  assert.deepEqual(hops(), [['172.56.0.9']]);
  configure(bench, { ...GUIDE, 'external-gw-addr': '10.99.0.1/16' });
  assert.deepEqual(hops(), [['172.56.0.1']]);
  const { reason, message = '' } = bench.condition('vpcs', 'ovn-cluster', 'WithoutEffect') ?? assert.fail();
  assert.equal(reason, 'ExternalGatewayConfigInvalid');
  assert.match(
    message,
    /data\.external-gw-addr "10\.99\.0\.1" is outside of 172\.56\.0\.0\/16, .* until then it is 172\.56\.0\.1, the gateway/,
  );
  assert.equal(bench.writesAfterRestart(), 0);
});

test('without a Subnet the next hop lies in a network of nic-ip', () => {
  const { bench } = cluster();
  configure(bench, { ...GUIDE, 'external-gw-addr': '10.99.0.1' });
  const { message = '' } = bench.condition('vpcs', 'ovn-cluster', 'WithoutEffect') ?? assert.fail();
  assert.match(message, /"10\.99\.0\.1" is outside of the networks of nic-ip; .* until then nothing leads there/);
  configure(bench, GUIDE);
  assert.equal(bench.condition('vpcs', 'ovn-cluster', 'WithoutEffect'), undefined);
});
