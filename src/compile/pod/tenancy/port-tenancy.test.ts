/** With `tenancy: namespaced` a pod's port sends from its own addresses, and from others only where the Subnet or a Vip lets it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';
import { RuleBench } from '../../../testing/rule-bench.ts';
import type { Tenancy } from '../../../world/settings.ts';

const BOUND = 'kiln.io/NetworkBound';
const KEY = 'ovn.kubernetes.io';
const ALLOWING = { 'kiln.io/allow-port-security-off': 'true', 'kiln.io/allow-layer2-forward': 'true' };

function net(tenancy: Tenancy = 'namespaced', annotations: Readonly<Record<string, string>> = {}): PodScene {
  const scene = new PodScene({ tenancy });
  scene.namespace('others');
  scene.bench.put('subnets', {
    metadata: { name: 'net', annotations },
    spec: { cidrBlock: '10.20.0.0/24', namespaces: ['shop', 'others'], enableDHCP: true, excludeIps: ['10.20.0.200..10.20.0.210'] },
  });
  for (const [name, ips, namespaces] of [
    ['theirs', ['10.20.0.150..10.20.0.159'], ['elsewhere']],
    ['anyones', ['10.20.0.160..10.20.0.169'], []],
  ] as const)
    scene.bench.put('ippools', { metadata: { name }, spec: { subnet: 'net', ips, namespaces } });
  scene.bench.converge();
  const [switchUuid = ''] = [...scene.bench.northbound.table('Logical_Switch')].flatMap(([uuid, { name }]) =>
    name === 'net' ? [uuid] : [],
  );
  const home = { table: 'Logical_Switch', uuid: switchUuid, column: 'ports' };
  const columns = { name: 'theirs', type: '', addresses: ['0a:00:00:00:00:01 10.20.0.120'] };
  scene.bench.foreignRow('Logical_Switch_Port', '11111111-1111-4111-8111-111111111111', columns, home);
  scene.bench.converge();
  return scene;
}

const conditionOf = ({ bench }: PodScene, pod: string): readonly [string, string, string] => {
  const { status = '', reason = '', message = '' } = bench.condition('pods', pod, BOUND) ?? {};
  return [status, reason, message];
};

const column = ({ bench }: PodScene, port: string, name: string): unknown => bench.row('Logical_Switch_Port', port)?.[name];

/** The words of `port_security`; empty if it is off. */
const security = (scene: PodScene, port: string): readonly string[] =>
  [column(scene, port, 'port_security')]
    .flat()
    .flatMap((text) => String(text).split(' '))
    .slice(1);

test('namespaced: port security is on unless the Subnet allows it off and the pod requests that; open: it is on where the pod requests it', () => {
  for (const [tenancy, annotations, said, expected] of [
    ['namespaced', {}, undefined, ['10.20.0.2']],
    ['namespaced', {}, 'true', ['10.20.0.2']],
    ['namespaced', ALLOWING, undefined, ['10.20.0.2']],
    ['namespaced', ALLOWING, 'false', []],
    ['open', {}, undefined, []],
    ['open', {}, 'false', []],
    ['open', {}, 'true', ['10.20.0.2']],
  ] as const) {
    const scene = net(tenancy, annotations);
    scene.pod('web', said === undefined ? {} : { annotations: { [`${KEY}/port_security`]: said } });
    scene.bench.converge();
    assert.equal(scene.addressOf('shop/web'), '10.20.0.2');
    assert.deepEqual(security(scene, 'web.shop'), expected, `${tenancy} ${JSON.stringify(annotations)} ${said}`);
  }
});

/** The annotation, its value, and what the message names. */
const REFUSED = [
  ['port_security', 'false', /kubectl annotate subnet net kiln\.io\/allow-port-security-off=true/],
  ['layer2_forward', 'true', /kubectl annotate subnet net kiln\.io\/allow-layer2-forward=true/],
  ['port_vips', '0.0.0.0/0', /is a network/],
  ['port_vips', '10.20.0.0/28', /is a network/],
  ['port_vips', '::/0', /is a network/],
  ['port_vips', '10.99.0.7', /outside of Subnet net/],
  ['port_vips', 'fd00::7', /outside of Subnet net/],
  ['port_vips', '10.20.0.50,10.20.0.1', /"10\.20\.0\.1" is the gateway/],
  ['port_vips', '10.20.0.1/32', /is the gateway/],
  ['port_vips', '10.20.0.2', /is held by another/],
  ['port_vips', '10.20.0.99', /is held by another/],
  ['port_vips', '10.20.0.120', /a port of another program/],
  ['port_vips', '10.20.0.0', /is the network or the broadcast address/],
  ['port_vips', '10.20.0.255', /is the network or the broadcast address/],
  ['port_vips', '10.20.0.200', /is in spec\.excludeIps of Subnet net/],
  ['port_vips', '10.20.0.151', /is of IPPool theirs, whose spec\.namespaces does not list Namespace shop/],
  ['dhcp-v4-options', 'lease_time=60,router=10.20.0.2', /"router=10\.20\.0\.2" names option router/],
  ['dhcp-v4-options', 'server_id=10.20.0.2', /server_id/],
  ['dhcp-v4-options', 'server_mac=00:00:00:00:00:09', /server_mac/],
  ['dhcp-v4-options', 'tftp_server_address=10.20.0.2', /tftp_server_address/],
  ['dhcp-v4-options', 'classless_static_route={0.0.0.0/0;10.20.0.2}', /classless_static_route/],
  ['dhcp-v6-options', 'server_id=00:00:00:00:00:09', /server_id/],
] as const;

for (const [suffix, value, sentence] of REFUSED) {
  test(`namespaced: a pod with ${suffix} ${value} is not allowed, and gets nothing; open: it is`, () => {
    for (const tenancy of ['namespaced', 'open'] as const) {
      const scene = net(tenancy);
      scene.bench.put('vips', { metadata: { name: 'v' }, spec: { subnet: 'net', v4ip: '10.20.0.99' } });
      scene.pod('victim', { namespace: 'others' });
      scene.bench.converge();
      assert.equal(scene.addressOf('others/victim'), '10.20.0.2');
      scene.pod('web', { annotations: { [`${KEY}/${suffix}`]: value } });
      scene.bench.converge();
      if (tenancy === 'open') {
        assert.equal(scene.addressOf('shop/web'), '10.20.0.3');
        continue;
      }
      const [status, reason, message] = conditionOf(scene, 'shop/web');
      assert.deepEqual([status, reason], ['False', 'PortNotAllowed'], message);
      assert.match(message, sentence);
      assert.match(message, /Pod shop\/web: metadata\.annotations\[ovn\.kubernetes\.io\/.*kubectl (edit|annotate) /);
      assert.equal(scene.bench.object('ips', 'web.shop'), undefined);
      assert.ok(scene.bench.events.some(({ object, reason: said }) => object === 'pods/shop/web' && said === 'PortNotAllowed'));
    }
  });
}

test('what a port may have in addition: a free address of the Subnet, its own, a shared Vip, frames where the Subnet allows them, DHCP options', () => {
  const scene = net('namespaced', ALLOWING);
  scene.bench.put('vips', { metadata: { name: 'v' }, spec: { subnet: 'net', v4ip: '10.20.0.99', namespace: 'shop' } });
  scene.bench.converge();
  scene.pod('web', {
    annotations: {
      [`${KEY}/port_vips`]: '10.20.0.50,10.20.0.2/32,10.20.0.99,10.20.0.161',
      [`${KEY}/aaps`]: 'v',
      [`${KEY}/layer2_forward`]: 'true',
      [`${KEY}/dhcp-v4-options`]: 'lease_time=60,router=10.20.0.1,dns_server=10.20.0.53',
    },
  });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web'), '10.20.0.2', conditionOf(scene, 'shop/web')[2]);
  assert.deepEqual(security(scene, 'web.shop').toSorted(), ['10.20.0.161', '10.20.0.2', '10.20.0.2/32', '10.20.0.50', '10.20.0.99']);
  assert.ok([column(scene, 'web.shop', 'addresses')].flat().includes('unknown'));
});

test('a reserved address is shared as a Vip for the namespace, and belongs to the pod that got it', () => {
  const scene = net();
  scene.bench.put('vips', { metadata: { name: 'v' }, spec: { subnet: 'net', v4ip: '10.20.0.201', namespace: 'shop' } });
  scene.pod('own', { annotations: { [`${KEY}/ip_address`]: '10.20.0.202' } });
  scene.bench.converge();
  scene.pod('own', { annotations: { ...scene.annotations('shop/own'), [`${KEY}/port_vips`]: '10.20.0.202' } });
  scene.pod('web', { annotations: { [`${KEY}/aaps`]: 'v', [`${KEY}/port_vips`]: '10.20.0.201' } });
  scene.bench.converge();
  assert.ok(security(scene, 'web.shop').includes('10.20.0.201'), conditionOf(scene, 'shop/web')[2]);
  assert.notEqual(conditionOf(scene, 'shop/own')[1], 'PortNotAllowed');
});

test('a port loses an address that it may send from when another object gets it', () => {
  const scene = net();
  scene.pod('web', { annotations: { [`${KEY}/port_vips`]: '10.20.0.50' } });
  scene.bench.converge();
  assert.ok(security(scene, 'web.shop').includes('10.20.0.50'));
  scene.pod('owner', { namespace: 'others', annotations: { [`${KEY}/ip_address`]: '10.20.0.50' } });
  scene.bench.converge();
  assert.equal(scene.addressOf('others/owner'), '10.20.0.50');
  assert.deepEqual(security(scene, 'web.shop'), ['10.20.0.2']);
  assert.equal(scene.externalIds('Logical_Switch_Port', 'web.shop')['vips'], undefined);
  const [status, reason, message] = conditionOf(scene, 'shop/web');
  assert.deepEqual([status, reason], ['True', 'PortNotAllowed']);
  assert.match(message, /held by another/);
  scene.bench.removeByForce('pods', 'others/owner');
  scene.bench.converge();
  assert.ok(security(scene, 'web.shop').includes('10.20.0.50'));
});

test("excluded edits of a running pod's annotations change nothing of its port and are reported", () => {
  for (const [suffix, value] of REFUSED) {
    const scene = net();
    scene.bench.put('vips', { metadata: { name: 'v' }, spec: { subnet: 'net', v4ip: '10.20.0.99' } });
    scene.pod('victim', { namespace: 'others' });
    scene.pod('web');
    scene.bench.converge();
    const before = [scene.bench.row('Logical_Switch_Port', 'web.shop'), scene.bench.world.rows.owned.size];
    const pod = scene.bench.object('pods', 'shop/web');
    assert.ok(pod !== undefined);
    const annotations = {
      ...pod.metadata.annotations,
      [`${KEY}/${suffix}`]: value.replace('10.20.0.50,', '').replace('lease_time=60,', ''),
    };
    scene.bench.put('pods', { ...pod, metadata: { ...pod.metadata, annotations } });
    scene.bench.converge();
    assert.deepEqual([scene.bench.row('Logical_Switch_Port', 'web.shop'), scene.bench.world.rows.owned.size], before, `${suffix} ${value}`);
    assert.deepEqual(conditionOf(scene, 'shop/web').slice(0, 2), ['True', 'PortNotAllowed']);
  }
});

test('a pod that had more before the setting keeps it while it runs and reports it, except addresses of others; the next pod may not have it', () => {
  const before = net('open');
  before.pod('victim', { namespace: 'others' });
  before.bench.converge();
  const annotations = {
    [`${KEY}/port_security`]: 'false',
    [`${KEY}/layer2_forward`]: 'true',
    [`${KEY}/port_vips`]: '10.99.0.7,0.0.0.0/0,10.20.0.2,10.20.0.1',
    [`${KEY}/dhcp-v4-options`]: 'lease_time=60,router=10.20.0.77',
  };
  before.pod('free', { annotations });
  before.pod('secured', { annotations: { ...annotations, [`${KEY}/port_security`]: 'true' } });
  before.pod('silent', { annotations: { [`${KEY}/port_vips`]: '10.99.0.8' } });
  before.pod('plain');
  before.bench.converge();
  const bench = new RuleBench({ settings: { tenancy: 'namespaced' }, after: before.bench });
  bench.converge();
  const scene = Object.assign(Object.create(PodScene.prototype) as PodScene, { bench });
  assert.deepEqual(security(scene, 'free.shop'), []);
  assert.ok([column(scene, 'free.shop', 'addresses')].flat().includes('unknown'));
  assert.deepEqual(
    security(scene, 'secured.shop').slice(1),
    ['10.99.0.7', '0.0.0.0/0'],
    'neither the gateway nor the address of the victim',
  );
  assert.deepEqual(security(scene, 'silent.shop').slice(1), ['10.99.0.8']);
  assert.equal(security(scene, 'plain.shop').length, 1, 'security is on by default');
  const dhcp = (): unknown =>
    bench.row('DHCP_Options', bench.rowIds('DHCP_Options').find((id) => id.includes('free.shop')) ?? '')?.['options'];
  assert.match(JSON.stringify(dhcp()), /10\.20\.0\.77/);
  for (const pod of ['free', 'secured', 'silent'])
    assert.deepEqual(conditionOf(scene, `shop/${pod}`).slice(0, 2), ['True', 'PortNotAllowed']);
  assert.equal(conditionOf(scene, 'shop/plain')[0], '');
  assert.equal(bench.writesAfterRestart(), 0);
  bench.removeByForce('pods', 'shop/free');
  bench.converge();
  scene.pod('free', { annotations });
  bench.converge();
  assert.deepEqual(conditionOf(scene, 'shop/free').slice(0, 2), ['False', 'PortNotAllowed']);
});

test('a legacy port keeps what it has if Kiln starts with tenancy namespaced', () => {
  const scene = net();
  const portAddress = '0a:00:00:00:00:09 10.20.0.9';
  const said = {
    [`${KEY}/allocated`]: 'true',
    [`${KEY}/ip_address`]: '10.20.0.9',
    [`${KEY}/mac_address`]: '0a:00:00:00:00:09',
    [`${KEY}/logical_switch`]: 'net',
    [`${KEY}/port_security`]: 'false',
    [`${KEY}/layer2_forward`]: 'true',
  };
  scene.bench.put('ips', {
    metadata: { name: 'old.shop', finalizers: ['kubeovn.io/kube-ovn-controller'] },
    spec: {
      podName: 'old',
      namespace: 'shop',
      subnet: 'net',
      v4IpAddress: '10.20.0.9',
      ipAddress: '10.20.0.9',
      macAddress: '0a:00:00:00:00:09',
    },
  });
  const [uuid = ''] = [...scene.bench.northbound.table('Logical_Switch')].flatMap(([id, { name }]) => (name === 'net' ? [id] : []));
  const external_ids = new Map([
    ['vendor', 'kube-ovn'],
    ['ls', 'net'],
    ['pod', 'shop/old'],
  ]);
  scene.bench.foreignRow(
    'Logical_Switch_Port',
    '22222222-2222-4222-8222-222222222222',
    { name: 'old.shop', type: '', addresses: [portAddress, 'unknown'], external_ids },
    { table: 'Logical_Switch', uuid, column: 'ports' },
  );
  scene.pod('old', { annotations: said });
  scene.bench.converge();
  assert.equal(scene.externalIds('Logical_Switch_Port', 'old.shop')['kiln.io/owner'], 'pod/shop/old', conditionOf(scene, 'shop/old')[2]);
  assert.deepEqual(security(scene, 'old.shop'), []);
  assert.deepEqual(scene.portAddresses('old.shop'), [portAddress, 'unknown']);
  assert.deepEqual(conditionOf(scene, 'shop/old').slice(0, 2), ['True', 'PortNotAllowed']);
});
