/** Pods in switches of other programs: where an administrator admits the namespace, and with nothing of the switch changed but our port. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';
import type { Settings } from '../../world/settings.ts';

const uuid = (n: number): string => `00000000-0000-4000-9000-00000000000${n}`;
const NEUTRON = { 'neutron:network_name': 'n' };
const IN_SWITCH = { table: 'Logical_Switch', uuid: uuid(3), column: 'ports' } as const;
const IN_ROUTER = { table: 'Logical_Router', uuid: uuid(1), column: 'ports' } as const;

/** Neutron's router with a small network: 10.91.0.1 is the router's, 2 its NAT's, 3 a port's, 4 an allowed pair of it, 5 a virtual one. */
function besideNeutron(settings: Partial<Settings> = {}): PodScene {
  const scene = new PodScene({ enableExternalVpc: true, ...settings });
  const { bench } = scene;
  bench.foreignRow('Logical_Router', uuid(1), { name: 'neutron-1', external_ids: { 'neutron:router_name': 'r' } });
  bench.foreignRow('Logical_Router_Port', uuid(2), { name: 'lrp-1', networks: ['10.91.0.1/28'], external_ids: NEUTRON }, IN_ROUTER);
  bench.foreignRow(
    'NAT',
    uuid(6),
    { type: 'snat', external_ip: '10.91.0.2', logical_ip: '10.0.0.0/8', external_ids: NEUTRON },
    { ...IN_ROUTER, column: 'nat' },
  );
  bench.foreignRow('Logical_Switch', uuid(3), { name: 'net-1', external_ids: NEUTRON });
  const port = (n: number, columns: object): void =>
    bench.foreignRow('Logical_Switch_Port', uuid(n), { external_ids: NEUTRON, ...columns }, IN_SWITCH);
  port(4, { name: 'to-router', type: 'router', addresses: ['router'], options: { 'router-port': 'lrp-1' } });
  port(5, { name: 'vm', addresses: ['fa:16:3e:00:00:01 10.91.0.3'], port_security: ['fa:16:3e:00:00:01 10.91.0.3 10.91.0.4/28'] });
  port(7, { name: 'vip', type: 'virtual', options: { 'virtual-ip': '10.91.0.5', 'virtual-parents': 'vm' } });
  bench.converge();
  return scene;
}

function admit({ bench }: PodScene, namespaces: string): void {
  const subnet = bench.object('subnets', 'net-1');
  assert.ok(subnet !== undefined);
  const annotations = { ...subnet.metadata.annotations, 'kiln.io/admit-namespaces': namespaces };
  bench.put('subnets', { metadata: { ...subnet.metadata, annotations }, spec: subnet.spec ?? {} });
  bench.converge();
}

function podIn(scene: PodScene, name: string, annotations: Readonly<Record<string, string>> = {}): void {
  scene.pod(name, { annotations: { 'ovn.kubernetes.io/logical_switch': 'net-1', ...annotations } });
  scene.bench.converge();
}

const ipOf = ({ bench }: PodScene, pod: string): unknown =>
  bench.object('pods', `shop/${pod}`)?.metadata.annotations?.['ovn.kubernetes.io/ip_address'];

/** Their rows, without our port in `ports`. */
function theirs({ bench }: PodScene, ours: readonly string[] = []): unknown {
  const { ports, ...rest } = (bench.row('Logical_Switch', 'net-1') ?? {}) as { readonly ports?: readonly string[] };
  const others = ['vm', 'vip', 'to-router'].map((name) => bench.row('Logical_Switch_Port', name));
  const left = (ports ?? []).filter((port) => !ours.some((name) => port.endsWith(`/${name}`)));
  return { rest, left, others, router: bench.row('Logical_Router', 'neutron-1'), port: bench.row('Logical_Router_Port', 'lrp-1') };
}

for (const tenancy of ['namespaced', 'open'] as const)
  test(`with tenancy ${tenancy} a pod comes in where the annotation of the Subnet admits its namespace, and not before`, () => {
    const scene = besideNeutron({ tenancy });
    const { bench } = scene;
    const before = theirs(scene);
    podIn(scene, 'web');
    const waits = bench.conditions('pods', 'shop/web').find(({ reason }) => reason === 'NamespaceNotAdmitted');
    assert.match(
      waits?.message ?? '',
      /Subnet net-1 does not admit Namespace shop: it shows a switch of another program;.*admit-namespaces/,
    );
    assert.deepEqual(theirs(scene), before);
    // What a tenant can write admits nothing.
    scene.namespace('shop', { annotations: { 'kiln.io/admit-namespaces': 'shop', 'ovn.kubernetes.io/logical_switch': 'net-1' } });
    bench.edit('subnets', 'net-1', { namespaces: ['shop'] });
    bench.converge();
    assert.deepEqual(theirs(scene), before);
    admit(scene, 'shop');
    // The first address that no port, router, NAT, allowed pair or virtual port shows.
    assert.equal(ipOf(scene, 'web'), '10.91.0.6');
    const port = bench.row('Logical_Switch_Port', 'web.shop');
    assert.deepEqual([port?.['dhcpv4_options'], port?.['type']], [null, '']);
    assert.match(String(port?.['addresses']), /^[0-9a-f:]{17} 10\.91\.0\.6$/);
    assert.deepEqual(port?.['port_security'], port?.['addresses']);
    assert.deepEqual(
      bench.rowIds('Port_Group').filter((group) => JSON.stringify(bench.row('Port_Group', group)?.['ports'] ?? []).includes('web.shop')),
      [],
      'it is in no group',
    );
    assert.deepEqual(theirs(scene, ['web.shop']), before);
    assert.equal(bench.writesAfterRestart(), 0);
    // Who is in stays when the annotation goes.
    admit(scene, '');
    assert.equal(ipOf(scene, 'web'), '10.91.0.6');
    assert.notEqual(bench.row('Logical_Switch_Port', 'web.shop'), undefined);
    bench.removeByForce('pods', 'shop/web');
    bench.converge();
    assert.equal(bench.row('Logical_Switch_Port', 'web.shop'), undefined);
    assert.deepEqual(theirs(scene), before);
  });

test('DHCP options, groups and security of a pod, and edits of the Subnet, bring nothing into the switch', () => {
  const scene = besideNeutron({ tenancy: 'open' });
  admit(scene, 'shop');
  scene.bench.edit('subnets', 'net-1', {
    enableDHCP: true,
    enableLb: true,
    acls: [{ priority: 1, direction: 'to-lport', match: 'ip4', action: 'drop' }],
  });
  podIn(scene, 'web', {
    'ovn.kubernetes.io/dhcp-v4-options': 'lease_time=60',
    'ovn.kubernetes.io/layer2_forward': 'true',
    'ovn.kubernetes.io/port_security': 'false',
    'ovn.kubernetes.io/security_groups': 'sg',
  });
  const { bench } = scene;
  const port = bench.row('Logical_Switch_Port', 'web.shop');
  assert.deepEqual(port?.['port_security'], port?.['addresses']);
  assert.doesNotMatch(JSON.stringify(port), /unknown|security_groups/);
  assert.deepEqual(
    bench.rowIds('DHCP_Options').filter((id) => id.includes('net-1')),
    [],
  );
  assert.deepEqual(
    bench.rowIds('ACL').filter((id) => id.includes('net-1')),
    [],
  );
});

test('an address that comes later is avoided, one that a pod has and another program takes is a conflict that says so', () => {
  const scene = besideNeutron();
  const { bench } = scene;
  admit(scene, 'shop');
  bench.foreignRow(
    'NAT',
    uuid(8),
    { type: 'dnat_and_snat', external_ip: '10.91.0.6', logical_ip: '10.0.0.9', external_ids: NEUTRON },
    { ...IN_ROUTER, column: 'nat' },
  );
  bench.converge();
  podIn(scene, 'web');
  assert.equal(ipOf(scene, 'web'), '10.91.0.7');
  bench.foreignRow(
    'Logical_Switch_Port',
    uuid(9),
    { name: 'late', addresses: ['fa:16:3e:00:00:09 10.91.0.7'], external_ids: NEUTRON },
    IN_SWITCH,
  );
  bench.converge();
  assert.match(
    bench.conditions('pods', 'shop/web').find(({ reason }) => reason === 'AddressConflict')?.message ?? '',
    /port late of another program/,
  );
  assert.equal(
    bench.condition('subnets', 'net-1', 'WithoutEffect'),
    undefined,
    'that others have addresses there is no fault of the Subnet',
  );
  assert.equal(ipOf(scene, 'web'), '10.91.0.7', 'it keeps what it has');
});

test('what cannot be known is told: ports with unknown addresses, and dynamic ones that are not chosen', () => {
  const scene = besideNeutron();
  const { bench } = scene;
  const told = (): string => bench.condition('subnets', 'net-1', 'Ready')?.message ?? '';
  bench.foreignRow('Logical_Switch_Port', uuid(8), { name: 'open', addresses: ['unknown'], external_ids: NEUTRON }, IN_SWITCH);
  bench.foreignRow('Logical_Switch_Port', uuid(9), { name: 'soon', addresses: ['dynamic'], external_ids: NEUTRON }, IN_SWITCH);
  bench.converge();
  assert.equal(told(), '', 'no pod comes in');
  admit(scene, 'shop');
  assert.match(told(), /nothing shows the addresses behind port open and 1 more of another program; exclude what they use/);
});

test('a Subnet with a pod stays after its switch, says so, stays for what is set on it, and goes without that; without the flag no pod comes in', () => {
  const scene = besideNeutron();
  const { bench } = scene;
  admit(scene, 'shop');
  podIn(scene, 'web');
  bench.removeForeignRow('Logical_Switch', uuid(3));
  bench.converge();
  const ready = bench.condition('subnets', 'net-1', 'Ready');
  assert.deepEqual([ready?.status, ready?.reason], ['False', 'SwitchOfOthersGone']);
  const kept = (): string => bench.condition('subnets', 'net-1', 'CauseGone')?.message ?? '';
  assert.match(kept(), /stays while it is in use: IP web\.shop/);
  bench.passTo(Date.parse('2026-03-01T00:00:00Z'));
  assert.equal(bench.object('subnets', 'net-1')?.metadata.deletionTimestamp, undefined, 'it can be used again');
  bench.removeByForce('pods', 'shop/web');
  bench.converge();
  assert.match(kept(), /what is set on it: annotation kiln\.io\/admit-namespaces; kubectl delete/);
  const { metadata, spec } = bench.object('subnets', 'net-1') ?? assert.fail();
  bench.put('subnets', { metadata: { ...metadata, annotations: {} }, spec });
  bench.converge();
  assert.equal(bench.object('subnets', 'net-1'), undefined);
});
