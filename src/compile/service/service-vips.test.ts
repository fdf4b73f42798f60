import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, EndpointPort } from '../../api/kubernetes/core.ts';
import type { Uuid } from '../../ovsdb/index.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import type { RuleBench } from '../../testing/rule-bench.ts';

const WEB = { name: 'http', port: 8080 };

function putSlice(
  bench: RuleBench,
  service: string,
  name: string,
  endpoints: readonly Endpoint[],
  ports: readonly EndpointPort[] = [WEB],
): void {
  const [namespace = '', of = ''] = service.split('/');
  bench.put('endpointslices', {
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': of } },
    addressType: endpoints[0]?.addresses[0]?.includes(':') === true ? 'IPv6' : 'IPv4',
    endpoints,
    ports,
  } as never);
}

function putService(bench: RuleBench, key: string, spec: object, annotations: Readonly<Record<string, string>> = {}): void {
  const [namespace = '', name = ''] = key.split('/');
  bench.put('services', { metadata: { name, namespace, annotations }, spec: { ports: [{ name: 'http', port: 80 }], ...spec } });
}

/** A cluster whose API server serves EndpointSlices, as every one does. */
function scene(): PodScene {
  const made = new PodScene();
  putSlice(made.bench, 'default/kubernetes', 'kubernetes', [{ addresses: ['172.18.0.2'] }], [{ name: 'https', port: 6443 }]);
  made.bench.converge();
  return made;
}

const at = (address: string, conditions: Endpoint['conditions'] = {}): Endpoint => ({ addresses: [address], conditions });

function vips(bench: RuleBench, balancer = 'cluster-tcp-loadbalancer'): unknown {
  return bench.map('Load_Balancer', balancer, 'vips');
}

test('a Service has a vip for each address and port, with the ready endpoints of all its slices of that family', () => {
  const { bench } = scene();
  putService(bench, 'shop/web', {
    clusterIPs: ['10.96.0.10', 'fd96::10'],
    ports: [
      { name: 'http', port: 80 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  });
  const dns = { name: 'dns', port: 5353, protocol: 'UDP' } as const;
  putSlice(bench, 'shop/web', 'web-1', [at('10.16.0.5'), at('10.16.0.6', { ready: false })], [WEB, dns]);
  putSlice(bench, 'shop/web', 'web-2', [at('10.16.0.4', { ready: true })], [{ ...WEB, port: 9090 }]);
  putSlice(bench, 'shop/web', 'web-6', [at('fd00:16::5')], [WEB]);
  bench.converge();
  assert.deepEqual(vips(bench), { '10.96.0.10:80': '10.16.0.4:9090,10.16.0.5:8080', '[fd96::10]:80': '[fd00:16::5]:8080' });
  assert.deepEqual(vips(bench, 'cluster-udp-loadbalancer'), { '10.96.0.10:53': '10.16.0.5:5353', '[fd96::10]:53': '' });
  assert.equal(bench.writesAfterRestart(), 0);

  bench.removeByForce('services', 'shop/web');
  bench.converge();
  assert.deepEqual(vips(bench), {});
  assert.deepEqual(vips(bench, 'cluster-udp-loadbalancer'), {});
});

test('without a ready endpoint those that are terminating and serve get packets; without these the vip stays empty, and the balancer refuses', () => {
  const { bench } = scene();
  putService(bench, 'shop/web', { clusterIP: '10.96.0.10' });
  const table: readonly [Endpoint['conditions'], string][] = [
    [{}, '10.16.0.5:8080'],
    [{ ready: false }, ''],
    [{ ready: false, serving: true, terminating: true }, '10.16.0.5:8080'],
    [{ ready: false, terminating: true }, '10.16.0.5:8080'],
    [{ ready: false, serving: false, terminating: true }, ''],
    [{ ready: true, serving: false, terminating: true }, '10.16.0.5:8080'],
  ];
  for (const [conditions, backends] of table) {
    putSlice(bench, 'shop/web', 'web-1', [at('10.16.0.5', conditions)]);
    bench.converge();
    assert.deepEqual(vips(bench), { '10.96.0.10:80': backends }, JSON.stringify(conditions));
    assert.equal(bench.map('Load_Balancer', 'cluster-tcp-loadbalancer', 'options')['reject'], 'true');
  }
  putSlice(bench, 'shop/web', 'web-1', [at('10.16.0.5', { ready: false, serving: true, terminating: true }), at('10.16.0.6')]);
  bench.converge();
  assert.deepEqual(vips(bench), { '10.96.0.10:80': '10.16.0.6:8080' });
});

test('an address in two slices is there once, as the slice has it in which it is ready; each order of events gives the same', () => {
  const slices: readonly [string, readonly Endpoint[]][] = [
    ['web-1', [at('10.16.0.5', { ready: false })]],
    ['web-2', [at('10.16.0.5'), at('10.16.0.5')]],
  ];
  for (const order of [slices, slices.toReversed()]) {
    const { bench } = scene();
    putService(bench, 'shop/web', { clusterIP: '10.96.0.10' });
    for (const [name, endpoints] of order) {
      putSlice(bench, 'shop/web', name, endpoints);
      bench.converge();
    }
    assert.deepEqual(vips(bench), { '10.96.0.10:80': '10.16.0.5:8080' });
    bench.removeByForce('endpointslices', 'shop/web-2');
    bench.converge();
    assert.deepEqual(vips(bench), { '10.96.0.10:80': '' });
  }
});

test('affinity moves a vip to the other load balancer, a family that goes takes its vip along, and both are in no moment twice', () => {
  const { bench } = scene();
  putService(bench, 'shop/web', { clusterIPs: ['10.96.0.10', 'fd96::10'] });
  bench.converge();
  putService(bench, 'shop/web', { clusterIPs: ['10.96.0.10'], sessionAffinity: 'ClientIP' });
  bench.converge();
  assert.deepEqual([vips(bench), vips(bench, 'cluster-tcp-session-loadbalancer')], [{}, { '10.96.0.10:80': '' }]);
  const options = bench.map('Load_Balancer', 'cluster-tcp-session-loadbalancer', 'options');
  assert.equal(options['affinity_timeout'], undefined);
  assert.deepEqual(bench.list('Load_Balancer', 'cluster-tcp-session-loadbalancer', 'selection_fields'), ['ip_src', 'ipv6_src']);
});

test('headless Services, ExternalNames and those of the local node alone have no vips; old addresses are read as decimal numbers', () => {
  const { bench } = scene();
  putService(bench, 'shop/headless', { clusterIP: 'None' });
  putService(bench, 'shop/named', { type: 'ExternalName', clusterIP: '' });
  putService(bench, 'shop/local', { clusterIP: '10.96.0.12', internalTrafficPolicy: 'Local' });
  putService(bench, 'shop/old', { clusterIP: '010.096.000.013' });
  bench.converge();
  assert.deepEqual(vips(bench), { '10.96.0.13:80': '' });
});

test('endpoints in two Vpcs: each Vpc has its own, and a Service of a tenant without endpoints has its vip in the Vpc of its Namespace', () => {
  const made = scene();
  const { bench } = made;
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  made.subnet('blue-net', { vpc: 'blue', cidrBlock: '10.20.0.0/24', namespaces: ['tenant'] });
  bench.put('namespaces', { metadata: { name: 'tenant' } });
  bench.put('namespaces', { metadata: { name: 'shop' } });
  bench.converge();
  putService(bench, 'tenant/web', { clusterIP: '10.96.0.20' });
  bench.converge();
  assert.deepEqual([vips(bench), vips(bench, 'vpc-blue-tcp-load')], [{}, { '10.96.0.20:80': '' }]);

  for (const [namespace, name] of [
    ['tenant', 'a'],
    ['shop', 'b'],
  ] as const)
    bench.put('pods', { metadata: { name, namespace }, spec: { nodeName: 'n1' }, status: { phase: 'Running' } });
  bench.converge();
  const pod = (namespace: string, name: string): Endpoint => {
    const address = String(bench.object('pods', `${namespace}/${name}`)?.metadata.annotations?.['ovn.kubernetes.io/ip_address']);
    return { ...at(address), targetRef: { kind: 'Pod', namespace, name } };
  };
  const [a, b] = [pod('tenant', 'a'), pod('shop', 'b')];
  putSlice(bench, 'tenant/web', 'web-1', [a, b]);
  bench.converge();
  assert.deepEqual(
    [vips(bench), vips(bench, 'vpc-blue-tcp-load')],
    [{ '10.96.0.20:80': `${b.addresses[0]}:8080` }, { '10.96.0.20:80': `${a.addresses[0]}:8080` }],
  );
  assert.equal(bench.writesAfterRestart(), 0);
});

test('annotations with a Vpc and a Subnet hold for all endpoints; the Vpc alone for those of no pod', () => {
  const made = scene();
  const { bench } = made;
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  bench.converge();
  putService(
    bench,
    'shop/one',
    { clusterIP: '10.96.0.31' },
    { 'ovn.kubernetes.io/logical_router': 'blue', 'ovn.kubernetes.io/logical_switch': 'x' },
  );
  putService(bench, 'shop/two', { clusterIP: '10.96.0.32' }, { 'ovn.kubernetes.io/vpc': 'blue' });
  putSlice(bench, 'shop/one', 'one-1', [at('10.20.0.5')]);
  putSlice(bench, 'shop/two', 'two-1', [at('10.20.0.6')]);
  bench.converge();
  assert.deepEqual(vips(bench, 'vpc-blue-tcp-load'), { '10.96.0.31:80': '10.20.0.5:8080', '10.96.0.32:80': '10.20.0.6:8080' });
  assert.deepEqual(vips(bench), {});
});

test('while no EndpointSlices are served, no vip is written or removed', () => {
  const made = new PodScene();
  putService(made.bench, 'shop/web', { clusterIP: '10.96.0.10' });
  made.bench.converge();
  assert.deepEqual(vips(made.bench), {});
});

/** Another program, or a controller that is gone, wrote these entries. */
function withEntries({ bench }: PodScene, balancer: string, set: Readonly<Record<string, string>>): void {
  const [uuid = ''] = [...bench.northbound.table('Load_Balancer')].find(([, row]) => row['name'] === balancer) ?? [];
  const edit = { kind: 'keys', table: 'Load_Balancer', uuid: uuid as Uuid, column: 'vips', set, remove: [] } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
  bench.converge();
}

test('an entry that no Service has goes; what one has by an option that is not implemented stays, and goes with it', () => {
  const made = scene();
  const { bench } = made;
  putService(bench, 'shop/rule', { clusterIP: 'None' }, { 'ovn.kubernetes.io/switch_lb_vip': '10.96.0.60' });
  putService(bench, 'shop/local', { clusterIP: '10.96.0.12', internalTrafficPolicy: 'Local' });
  bench.converge();
  withEntries(made, 'cluster-tcp-loadbalancer', {
    '10.96.0.60:80': '10.16.0.5:8080',
    '10.96.0.60:81': '10.16.0.5:8080',
    '10.96.0.77:80': '10.16.0.5:8080',
    '10.96.0.12:80': '10.16.0.5:8080',
    '[fd96::77]:80': '',
  });
  withEntries(made, 'cluster-udp-loadbalancer', { '10.96.0.60:80': '10.16.0.5:8080' });
  assert.deepEqual([vips(bench), vips(bench, 'cluster-udp-loadbalancer')], [{ '10.96.0.60:80': '10.16.0.5:8080' }, {}]);
  bench.removeByForce('services', 'shop/rule');
  bench.converge();
  assert.deepEqual(vips(bench), {});
});

test('while no EndpointSlices are served, entries of an earlier time stay', () => {
  const made = new PodScene();
  made.bench.converge();
  withEntries(made, 'cluster-tcp-loadbalancer', { '10.96.0.77:80': '10.16.0.5:8080' });
  assert.deepEqual(vips(made.bench), { '10.96.0.77:80': '10.16.0.5:8080' });
});

test('externalIPs and addresses of load balancers are vips in the Vpcs that have the endpoints, each only where it keeps what the Service says', () => {
  const made = scene();
  const { bench } = made;
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  made.subnet('blue-net', { vpc: 'blue', cidrBlock: '10.20.0.0/24', namespaces: ['tenant'] });
  bench.put('namespaces', { metadata: { name: 'tenant' } });
  bench.converge();
  const web = (spec: object, ingress: readonly object[]): Record<string, string> => {
    const ports = [{ name: 'http', port: 80 }];
    const of = {
      clusterIPs: ['10.96.0.20', 'fd96::20'],
      type: 'LoadBalancer',
      externalIPs: ['203.0.113.9', '2001:db8::9'],
      ports,
      ...spec,
    };
    bench.put('services', { metadata: { name: 'web', namespace: 'tenant' }, spec: of, status: { loadBalancer: { ingress } } });
    bench.converge();
    return Object.fromEntries(Object.entries(vips(bench, 'vpc-blue-tcp-load') as object).filter(([key]) => !key.includes('96')));
  };
  bench.put('pods', { metadata: { name: 'a', namespace: 'tenant' }, spec: { nodeName: 'n1' }, status: { phase: 'Running' } });
  bench.converge();
  const address = String(bench.object('pods', 'tenant/a')?.metadata.annotations?.['ovn.kubernetes.io/ip_address']);
  putSlice(bench, 'tenant/web', 'web-1', [{ ...at(address), targetRef: { kind: 'Pod', namespace: 'tenant', name: 'a' } }]);
  const backend = `${address}:8080`;
  const fixed = { '203.0.113.9:80': backend, '[2001:db8::9]:80': '' };
  assert.deepEqual(web({}, [{ ip: '198.51.100.7', ipMode: 'VIP' }, { ip: '2001:db8::7' }, { hostname: 'lb.example' }]), {
    ...fixed,
    '198.51.100.7:80': backend,
    '[2001:db8::7]:80': '',
  });
  assert.deepEqual(vips(bench), {}, 'not where no endpoint is');
  assert.equal(bench.writesAfterRestart(), 0);
  assert.deepEqual(web({}, [{ ip: '198.51.100.7', ipMode: 'Proxy' }]), fixed);
  assert.deepEqual(web({ loadBalancerSourceRanges: ['192.0.2.0/24'] }, [{ ip: '198.51.100.7' }]), fixed);
  assert.deepEqual(web({ type: 'ClusterIP' }, [{ ip: '198.51.100.7' }]), fixed);
  assert.deepEqual(web({ externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Local' }, [{ ip: '198.51.100.7' }]), {
    ...fixed,
    '198.51.100.7:80': backend,
  });
  assert.ok(!('10.96.0.20:80' in (vips(bench, 'vpc-blue-tcp-load') as object)), 'its ClusterIP is left to kube-proxy');
  assert.deepEqual(web({ clusterIPs: ['None'] }, [{ ip: '198.51.100.7' }]), {}, 'headless');
});

test('no Service takes with an address from outside what a pod or another Service has, or what is of another Vpc', () => {
  const made = scene();
  const { bench } = made;
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  bench.put('namespaces', { metadata: { name: 'shop' } });
  bench.converge();
  const mine = { clusterIP: '10.96.0.50', externalIPs: ['10.96.0.10', '10.16.0.77', '203.0.113.9'] };
  putService(bench, 'shop/thief', mine);
  putSlice(bench, 'shop/thief', 'thief-1', [at('10.16.0.66')]);
  bench.converge();
  assert.deepEqual(
    Object.keys(vips(bench) as object),
    ['10.96.0.10:80', '10.96.0.50:80', '203.0.113.9:80'],
    'nothing has the first one yet',
  );
  putService(bench, 'shop/web', { clusterIP: '10.96.0.10' });
  bench.converge();
  assert.equal((vips(bench) as Record<string, string>)['10.96.0.10:80'], '', 'the younger Service has its ClusterIP');

  putService(bench, 'shop/thief', mine, { 'ovn.kubernetes.io/logical_router': 'blue', 'ovn.kubernetes.io/logical_switch': 'x' });
  bench.converge();
  assert.deepEqual(vips(bench, 'vpc-blue-tcp-load'), { '10.96.0.50:80': '10.16.0.66:8080' }, 'a Vpc that the Namespace is not in');
});
