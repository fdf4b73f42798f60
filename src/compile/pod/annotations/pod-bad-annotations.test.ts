import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';

/** Every annotation that users write: an invalid value, the expected message, and a valid value. */
const CASES: readonly (readonly [key: string, bad: string, rule: RegExp, good: string])[] = [
  ['ovn.kubernetes.io/ip_address', '10.16.0.300', /"10\.16\.0\.300" .*; it is one address, or one of each family/, '10.16.0.30'],
  ['ovn.kubernetes.io/ip_address', '10.16.0.30,10.16.0.31', /has two IPv4 addresses/, '10.16.0.30'],
  ['ovn.kubernetes.io/ip_address', '10.17.0.30', /10\.17\.0\.30 cannot be allocated in Subnet "ovn-default"/, '10.16.0.30'],
  ['ovn.kubernetes.io/mac_address', 'zz:00:00:00:00:01', /is not a MAC address/, '0a:00:00:00:00:01'],
  ['ovn.kubernetes.io/mac_address', '01:00:00:00:00:01', /multicast/, '0a:00:00:00:00:01'],
  [
    'ovn.kubernetes.io/ip_pool',
    '10.16.0.40,nonsense',
    /holds "nonsense".*it is a list of addresses, or the name of one IPPool/,
    '10.16.0.40',
  ],
  ['ovn.kubernetes.io/ip_pool', 'no-such-pool', /IPPool no-such-pool does not exist/, '10.16.0.40'],
  ['ovn.kubernetes.io/ip_family', 'IPv5', /"IPv5" is not known; it is ipv4 or ipv6/, 'ipv4'],
  ['ovn.kubernetes.io/ip_family', 'ipv6', /Subnet "ovn-default" is IPv4, but the request is for IPv6/, 'ipv4'],
  ['ovn.kubernetes.io/logical_switch', 'nowhere', /Subnet nowhere/, 'ovn-default'],
  ['ovn.kubernetes.io/logical_switch', 'a,b', /logical_switch\] "a,b": it names several Subnets/, 'ovn-default'],
  ['ovn.kubernetes.io/port_security', 'yes', /"yes" is not known; it is true or false/, 'true'],
  ['ovn.kubernetes.io/layer2_forward', 'on', /"on" is not known; it is true or false/, 'true'],
  ['ovn.kubernetes.io/default_route', 'no', /"no" is not known; it is true or false/, 'false'],
  ['ovn.kubernetes.io/port_vips', '10.16.0.50,x', /holds "x".*it is a list of addresses or networks/, '10.16.0.50'],
  ['ovn.kubernetes.io/security_groups', 'good,Bad_One', /holds "Bad_One", which is no name/, 'good'],
  [
    'ovn.kubernetes.io/dhcp-v4-options',
    'lease_time',
    /has the option "lease_time": an option is written name=value; it is a list of options as name=value/,
    'lease_time=60',
  ],
  ['ovn.kubernetes.io/dhcp-v6-options', '=x', /has the option "=x"/, 'dns_server=fd00::1'],
  ['ovn.kubernetes.io/routes', '10.0.0.0/8 via x', /is not JSON; it is a JSON list of routes/, '[{"dst":"10.0.0.0/8","gw":"10.16.0.1"}]'],
  ['ovn.kubernetes.io/routes', '[{"dst":"10.0.0.0/8"}]', /route 0 whose gw null is no address/, '[{"gw":"10.16.0.1"}]'],
  ['ovn.kubernetes.io/routes', '[{"dst":"10.0.0.0/8","gw":"fd00::1"}]', /other family/, '[]'],
  ['ovn.kubernetes.io/ingress_rate', '-1', /is no rate; it is a whole number of megabits/, '10'],
  ['ovn.kubernetes.io/egress_rate', '1M', /is no rate/, '10'],
  ['ovn.kubernetes.io/ingress_burst', '1.5', /is no rate/, '10'],
  ['ovn.kubernetes.io/egress_burst', '99999999999', /is no rate/, '10'],
  ['ovn.kubernetes.io/latency', '3ms', /is no whole number/, '3'],
  ['ovn.kubernetes.io/limit', '-3', /is no whole number/, '3'],
  ['ovn.kubernetes.io/jitter', 'x', /is no whole number/, '3'],
  ['ovn.kubernetes.io/loss', '101', /is no percentage; it is a number from 0 to 100/, '0.5'],
  ['ovn.kubernetes.io/pod_nic_type', 'wire', /is not known; it is one of veth-pair/, 'veth-pair'],
  ['k8s.v1.cni.cncf.io/networks', '[{"name":', /annotation k8s\.v1\.cni\.cncf\.io\/networks/, ''],
];

for (const [key, bad, rule, good] of CASES) {
  test(`a pod with ${key} ${bad} reports object, key, value and rule, has nothing, and binds as soon as it has ${good || 'nothing'}`, () => {
    const scene = new PodScene();
    scene.pod('a', { annotations: { [key]: bad } });
    scene.bench.converge();
    const bound = scene.bench.condition('pods', 'shop/a', BOUND);
    assert.equal(bound?.status, 'False');
    assert.match(bound?.message ?? '', rule);
    for (const named of ['Pod shop/a: ', key, bad]) assert.ok(bound?.message?.includes(named), `${bound?.message ?? ''} names ${named}`);
    assert.equal(scene.bench.object('ips', 'a.shop'), undefined);
    assert.equal(scene.bench.row('Logical_Switch_Port', 'a.shop'), undefined);
    assert.equal(scene.annotations('shop/a')['ovn.kubernetes.io/allocated'], undefined);
    assert.equal(scene.bench.object('subnets', 'ovn-default')?.status?.['v4usingIPs'], 0n);
    scene.pod('a', { annotations: good === '' ? {} : { [key]: good } });
    scene.bench.converge();
    assert.match(scene.addressOf('shop/a') ?? '', /^10\.16\./);
    assert.equal(scene.bench.condition('pods', 'shop/a', BOUND)?.status, 'True');
  });
}

test('invalid list items of a running pod are reported, and are neither in the keys of its port nor in its addresses', () => {
  const scene = new PodScene();
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/port_security': 'true' } });
  scene.bench.converge();
  const [portAddress] = scene.bench.list('Logical_Switch_Port', 'web.shop', 'port_security');
  const edited = { 'ovn.kubernetes.io/security_groups': 'a:b,wall,c/d', 'ovn.kubernetes.io/port_vips': '10.16.0.50,x' };
  scene.pod('web', { annotations: { ...scene.annotations('shop/web'), ...edited } });
  scene.bench.converge();
  assert.match(scene.bench.condition('pods', 'shop/web', BOUND)?.message ?? '', /holds "a:b", which is no name|holds "x"/);
  const keys = scene.bench.map('Logical_Switch_Port', 'web.shop', 'external_ids');
  assert.deepEqual(
    Object.keys(keys).filter((key) => key.startsWith('associated_sg_')),
    ['associated_sg_wall'],
  );
  assert.deepEqual([keys['security_groups'], keys['vips']], ['wall', '10.16.0.50']);
  assert.deepEqual(scene.bench.list('Logical_Switch_Port', 'web.shop', 'port_security'), [`${portAddress} 10.16.0.50`]);
});

test("a fault that only the Subnet of an attached network shows is reported on that network's annotation; on the pod's own, only that nothing was requested", () => {
  const scene = new PodScene();
  scene.bench.put('network-attachment-definitions', {
    metadata: { name: 'net1', namespace: 'shop' },
    spec: { config: '{"cniVersion":"0.3.0","type":"kube-ovn","provider":"net1.shop.ovn"}' },
  });
  scene.subnet('one', { cidrBlock: '10.9.0.0/30', provider: 'net1.shop.ovn' });
  const networks = { 'k8s.v1.cni.cncf.io/networks': 'net1' };
  scene.pod('first', { annotations: networks });
  scene.bench.converge();
  const message = (pod: string): string => scene.bench.condition('pods', `shop/${pod}`, BOUND)?.message ?? '';
  scene.pod('a', { annotations: { ...networks, 'net1.shop.ovn.kubernetes.io/ip_address': '10.8.0.2' } });
  scene.pod('b', { annotations: { 'k8s.v1.cni.cncf.io/networks': '[{"name":"net1","ips":["10.8.0.3"]}]' } });
  scene.pod('c', { annotations: networks });
  scene.bench.converge();
  assert.match(
    message('a'),
    /^Pod shop\/a: metadata\.annotations\[net1\.shop\.ovn\.kubernetes\.io\/ip_address\] "10\.8\.0\.2": the address/,
  );
  assert.match(message('b'), /^Pod shop\/b: metadata\.annotations\[k8s\.v1\.cni\.cncf\.io\/networks\] "10\.8\.0\.3": the address/);
  assert.match(message('c'), /^Pod shop\/c: network shop\/net1: /);
});

test('options of DHCP for one port: a row of its own, the defaults with its options over them, also where the Subnet has no DHCP', () => {
  const scene = new PodScene();
  scene.pod('a', { annotations: { 'ovn.kubernetes.io/dhcp-v4-options': 'lease_time=60,dns_server={8.8.8.8;1.1.1.1}' } });
  scene.bench.converge();
  const id = 'ovn-default|IPv4|a.shop';
  assert.equal(scene.bench.row('Logical_Switch_Port', 'a.shop')?.['dhcpv4_options'], `DHCP_Options/${id}`);
  const options = scene.bench.map('DHCP_Options', id, 'options');
  assert.deepEqual([options['lease_time'], options['dns_server'], options['router']], ['60', '{8.8.8.8,1.1.1.1}', '10.16.0.1']);
  const { ls, protocol, port } = scene.externalIds('DHCP_Options', id);
  assert.deepEqual([ls, protocol, port], ['ovn-default', 'IPv4', 'a.shop']);
  scene.pod('a', { annotations: Object.fromEntries(Object.entries(scene.annotations('shop/a')).filter(([key]) => !key.includes('dhcp'))) });
  scene.bench.converge();
  assert.equal(scene.bench.row('DHCP_Options', id), undefined);
  assert.equal(scene.bench.row('Logical_Switch_Port', 'a.shop')?.['dhcpv4_options'], null);
});

test('a running pod edited to an unreadable value keeps its network and reports it until it is fixed', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  const address = scene.addressOf('shop/web');
  const edit = (more: Readonly<Record<string, string>>): void => {
    scene.pod('web', { annotations: { ...scene.annotations('shop/web'), ...more } });
    scene.bench.converge();
  };
  edit({ 'ovn.kubernetes.io/port_security': 'yes' });
  const bound = scene.bench.condition('pods', 'shop/web', BOUND);
  assert.deepEqual([bound?.status, bound?.reason], ['True', 'InvalidAnnotation']);
  assert.equal(
    bound?.message,
    'Pod shop/web: metadata.annotations[ovn.kubernetes.io/port_security] "yes" is not known; it is true or false. ' +
      'All interfaces have their addresses, and this is not in effect; kubectl edit pod -n shop web',
  );
  assert.equal(scene.addressOf('shop/web'), address);
  edit({ 'ovn.kubernetes.io/port_security': 'true' });
  assert.equal(scene.bench.condition('pods', 'shop/web', BOUND)?.reason, 'Bound');
});

test('a pod that requests something not implemented has a condition while it does', () => {
  const scene = new PodScene();
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/security_groups': 'wall', 'ovn.kubernetes.io/north_gateway': '1.2.3.4' } });
  scene.bench.converge();
  const notImplemented = scene.bench.condition('pods', 'shop/web', 'kiln.io/NotCarriedOut');
  assert.deepEqual([notImplemented?.status, notImplemented?.reason], ['True', 'NotCarriedOut']);
  assert.match(
    notImplemented?.message ?? '',
    /annotation ovn\.kubernetes\.io\/security_groups is not implemented .*enforced\. Pod shop\/web: annotation ovn\.kubernetes\.io\/north_gateway /,
  );
  const {
    'ovn.kubernetes.io/security_groups': groups,
    'ovn.kubernetes.io/north_gateway': hop,
    ...annotations
  } = scene.annotations('shop/web');
  assert.deepEqual([groups, hop], ['wall', '1.2.3.4']);
  scene.pod('web', { annotations });
  scene.bench.converge();
  assert.equal(scene.bench.condition('pods', 'shop/web', 'kiln.io/NotCarriedOut'), undefined);
});
