import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';
import { conditionOf } from '../../../world/conditions.ts';

const OWN = 'ovn.kubernetes.io';

function messageOf(scene: PodScene, pod: string): string {
  const object = scene.bench.object('pods', `shop/${pod}`);
  assert.ok(object);
  const condition = conditionOf('pods', object, 'kiln.io/WithoutEffect');
  return condition === undefined ? '' : `${condition.status} ${condition.reason ?? ''}: ${condition.message ?? ''}`;
}

function scene(): PodScene {
  const made = new PodScene();
  made.subnet('net', { cidrBlock: '10.4.0.0/24', namespaces: ['shop'] });
  made.subnet('nb', { cidrBlock: '10.5.0.0/24', provider: 'nb.shop.ovn' });
  made.subnet('mac', { cidrBlock: '10.6.0.0/24', provider: 'mac.shop' });
  made.attachment('shop/nb', 'kube-ovn');
  made.attachment('shop/mac', 'ipam-only');
  made.bench.converge();
  return made;
}

test('a pod with the annotations of the contract has no such condition', () => {
  const made = scene();
  made.pod('web', {
    annotations: {
      'k8s.v1.cni.cncf.io/networks': 'nb,mac',
      [`nb.shop.${OWN}/ip_address`]: '10.5.0.9',
      'mac.shop.kubernetes.io/ip_address': '10.6.0.9',
      [`${OWN}/port_security`]: 'true',
      [`${OWN}/bgp`]: 'true',
    },
  });
  made.bench.converge();
  assert.equal(made.annotations('shop/web')[`nb.shop.${OWN}/ip_address`], '10.5.0.9');
  assert.equal(messageOf(made, 'web'), '');
});

test('a key that no program reads is in a condition of the pod until it is fixed', () => {
  const made = scene();
  made.pod('web', {
    annotations: { 'k8s.v1.cni.cncf.io/networks': 'nb', 'nb.shop.kubernetes.io/ip_address': '10.5.0.9', [`${OWN}/ip_adress`]: '10.4.0.9' },
  });
  made.bench.converge();
  assert.equal(
    messageOf(made, 'web'),
    'True AnnotationUnread: Pod shop/web: metadata.annotations[nb.shop.kubernetes.io/ip_address] "10.5.0.9" is read by no program; the nearest key that is read is nb.shop.ovn.kubernetes.io/ip_address. ' +
      'Pod shop/web: metadata.annotations[ovn.kubernetes.io/ip_adress] "10.4.0.9" is read by no program; the nearest key that is read is ovn.kubernetes.io/ip_address. All else is in effect; kubectl edit pod web -n shop',
  );
  const { 'nb.shop.kubernetes.io/ip_address': _a, [`${OWN}/ip_adress`]: _b, ...rest } = made.annotations('shop/web');
  made.pod('web', { annotations: rest });
  made.bench.converge();
  assert.equal(messageOf(made, 'web'), '');
});

test('a network that is listed twice without names of interfaces', () => {
  const made = scene();
  made.pod('plain', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'nb, nb' } });
  made.pod('named', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'nb@net1, nb@net2' } });
  made.pod('one-named', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'nb, nb@net2' } });
  made.pod('addresses', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'mac@net1, mac@net2' } });
  made.bench.converge();
  assert.match(
    messageOf(made, 'plain'),
    /^True AnnotationIneffective: .*\[k8s\.v1\.cni\.cncf\.io\/networks\] "nb, nb" lists network shop\/nb 2 times without names of interfaces; the pod gets one interface of it; name them to get more: shop\/nb@net1,shop\/nb@net2/,
  );
  assert.equal(Object.keys(made.annotations('shop/plain')).filter((key) => key.endsWith('/allocated')).length, 2);
  for (const pod of ['named', 'one-named']) {
    assert.equal(messageOf(made, pod), '');
    assert.equal(Object.keys(made.annotations(`shop/${pod}`)).filter((key) => key.endsWith('/allocated')).length, 3);
  }
  assert.match(messageOf(made, 'addresses'), /lists network shop\/mac 2 times .*all of them have one address/);
});

test('frames for any address, and security that keeps them from the port', () => {
  const made = scene();
  made.pod('both', { annotations: { [`${OWN}/layer2_forward`]: 'true', [`${OWN}/port_security`]: 'true' } });
  made.pod('open', { annotations: { [`${OWN}/layer2_forward`]: 'true' } });
  made.bench.converge();
  assert.match(
    messageOf(made, 'both'),
    /layer2_forward\] "true" does nothing; ovn\.kubernetes\.io\/port_security "true" keeps every frame for another MAC/,
  );
  assert.equal(messageOf(made, 'open'), '');
});

test('a Vip that the pod may send from and that leaves it out: by its selector, or in another Subnet', () => {
  const made = scene();
  for (const [name, spec] of [
    ['chosen', { subnet: 'net', namespace: 'shop' }],
    ['labelled', { subnet: 'net', namespace: 'shop', selector: ['app:db'] }],
    ['elsewhere', { subnet: 'ovn-default', namespace: 'shop' }],
  ] as const)
    made.bench.put('vips', { metadata: { name }, spec });
  made.bench.converge();
  for (const vip of ['chosen', 'labelled', 'elsewhere']) made.pod(`of-${vip}`, { annotations: { [`${OWN}/aaps`]: vip } });
  made.bench.converge();
  assert.equal(messageOf(made, 'of-chosen'), '');
  assert.match(
    messageOf(made, 'of-labelled'),
    /aaps\] "labelled" names Vip labelled, which leaves the pod out; its spec\.selector asks for app:db: /,
  );
  assert.match(messageOf(made, 'of-elsewhere'), /names Vip elsewhere of Subnet ovn-default; no interface of the pod is in that Subnet/);
});

test('options of a port for an interface without one, DHCP options of a family that the Subnet lacks, a family beside a Vip', () => {
  const made = scene();
  made.bench.put('vips', { metadata: { name: 'own' }, spec: { subnet: 'net' } });
  made.bench.converge();
  made.pod('addresses', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'mac', 'mac.shop.kubernetes.io/port_security': 'true' } });
  made.pod('dhcp', {
    annotations: { [`${OWN}/dhcp-v6-options`]: 'dns_server=fd00::1', [`${OWN}/dhcp-v4-options`]: 'dns_server=10.4.0.2' },
  });
  made.pod('vip', { annotations: { [`${OWN}/vip`]: 'own', [`${OWN}/ip_family`]: 'ipv4' } });
  made.bench.converge();
  assert.match(
    messageOf(made, 'addresses'),
    /mac\.shop\.kubernetes\.io\/port_security\] "true" does nothing; another plugin makes this interface/,
  );
  assert.match(messageOf(made, 'dhcp'), /dhcp-v6-options\] "dns_server=fd00::1" does nothing; Subnet net has no IPv6 network\. All else/);
  assert.match(messageOf(made, 'vip'), /ip_family\] "ipv4" does nothing; the pod has the addresses of Vip own/);
});

const eventsOf = ({ bench }: PodScene, pod: string): string =>
  bench.events
    .filter(({ object, reason }) => object === `pods/shop/${pod}` && reason === 'AnnotationIneffective')
    .map(({ message }) => message)
    .join(' ');

test('requests beside a Vip: what the pod keeps is in its condition, what Kiln writes over is in an Event', () => {
  const made = scene();
  made.bench.put('vips', { metadata: { name: 'own' }, spec: { subnet: 'net', v4ip: '10.4.0.50', macAddress: '0a:00:00:00:00:50' } });
  made.bench.put('vips', { metadata: { name: 'other' }, spec: { subnet: 'net', v4ip: '10.4.0.51' } });
  made.bench.put('ippools', { metadata: { name: 'few' }, spec: { subnet: 'net', ips: ['10.4.0.60'] } });
  made.bench.converge();
  const others = { [`${OWN}/ip_address`]: '10.4.0.9', [`${OWN}/mac_address`]: '0a:00:00:00:00:09', [`${OWN}/ip_pool`]: 'few' };
  made.pod('vip', { annotations: { [`${OWN}/vip`]: 'own', ...others } });
  made.pod('same', { annotations: { [`${OWN}/vip`]: 'other', [`${OWN}/ip_address`]: '10.4.0.51' } });
  made.bench.converge();
  assert.equal(made.addressOf('shop/vip'), '10.4.0.50');
  for (const [suffix, value] of [
    ['ip_address', '10.4.0.9'],
    ['mac_address', '0a:00:00:00:00:09'],
    ['ip_pool', 'few'],
  ])
    assert.ok(
      eventsOf(made, 'vip').includes(
        `metadata.annotations[${OWN}/${suffix}] "${value}" does nothing; the pod has the addresses and the MAC of Vip own, which ${OWN}/vip names`,
      ),
    );
  assert.match(
    messageOf(made, 'vip'),
    /^True AnnotationIneffective: Pod shop\/vip: metadata\.annotations\[ovn\.kubernetes\.io\/ip_pool\] "few" does/,
  );
  assert.equal(made.addressOf('shop/same'), '10.4.0.51');
  assert.deepEqual([messageOf(made, 'same'), eventsOf(made, 'same')], ['', '']);
  assert.equal(made.bench.writesAfterRestart(), 0);
});

test('a request for another Vpc than that of the Subnet, and an IPPool beside an address', () => {
  const made = scene();
  made.bench.put('ippools', { metadata: { name: 'few' }, spec: { subnet: 'net', ips: ['10.4.0.60'] } });
  made.bench.converge();
  made.pod('router', { annotations: { [`${OWN}/logical_router`]: 'blue' } });
  made.pod('right', { annotations: { [`${OWN}/logical_router`]: 'ovn-cluster' } });
  made.pod('both', { annotations: { [`${OWN}/ip_address`]: '10.4.0.9', [`${OWN}/ip_pool`]: 'few' } });
  made.bench.converge();
  assert.ok(
    eventsOf(made, 'router').includes(
      `Pod shop/router: metadata.annotations[${OWN}/logical_router] "blue" does nothing; the pod is in Vpc ovn-cluster, that of its Subnet net: ` +
        `name a Subnet of another Vpc in ${OWN}/logical_switch`,
    ),
  );
  assert.equal(made.annotations('shop/router')[`${OWN}/logical_router`], 'ovn-cluster');
  assert.equal(messageOf(made, 'router'), '', 'Kiln wrote the Vpc over it');
  assert.equal(eventsOf(made, 'right'), '');
  assert.ok(eventsOf(made, 'both').includes(`[${OWN}/ip_pool] "few" does nothing; annotation ${OWN}/ip_address names the address`));
  assert.equal(made.addressOf('shop/both'), '10.4.0.9');
  assert.equal(made.bench.writesAfterRestart(), 0);
});

test('a pod in the network of its node', () => {
  const made = scene();
  made.pod('host', { annotations: { [`${OWN}/ip_pool`]: 'some' }, spec: { hostNetwork: true } });
  made.pod('plain', { spec: { hostNetwork: true } });
  made.bench.converge();
  assert.match(messageOf(made, 'host'), /ip_pool\] "some" does nothing; a pod with spec\.hostNetwork is in the network of its node/);
  assert.equal(messageOf(made, 'plain'), '');
});

test('a network whose plugin asks for the own interface of the pod: attached, and in its place', () => {
  const made = scene();
  made.attachment('shop/bare', { config: '{"cniVersion":"0.3.0","type":"kube-ovn"}' });
  made.attachment('shop/ipam', { config: '{"cniVersion":"0.3.0","type":"macvlan","ipam":{"type":"kube-ovn"}}' });
  made.subnet('bare', { cidrBlock: '10.7.0.0/24', provider: 'bare.shop.ovn' });
  made.subnet('ipam', { cidrBlock: '10.8.0.0/24', provider: 'ipam.shop' });
  made.bench.converge();
  made.pod('instead', { annotations: { 'v1.multus-cni.io/default-network': 'shop/bare' } });
  made.pod('beside', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'bare,ipam' } });
  made.bench.converge();
  assert.match(
    messageOf(made, 'instead'),
    /\[v1\.multus-cni\.io\/default-network\] "shop\/bare" names network shop\/bare, whose spec\.config has no provider; its plugin waits for addresses of the pod's own interface, .*: write provider bare\.shop\.ovn into it; kubectl edit net-attach-def -n shop bare/,
  );
  assert.match(
    messageOf(made, 'beside'),
    /names network shop\/bare, .* write provider bare\.shop\.ovn .* names network shop\/ipam, .* write provider ipam\.shop into it/,
  );
  made.attachment('shop/bare', 'kube-ovn');
  made.bench.converge();
  assert.equal(messageOf(made, 'instead'), '');
});
