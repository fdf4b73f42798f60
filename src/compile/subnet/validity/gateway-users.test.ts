/**
 * A Subnet changes under running pods: the routes, masks and MTU of their interfaces stay in effect while the pods have them; all other changes
 * take effect.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodInput } from '../../../testing/pod-scene.ts';
import { PodScene } from '../../../testing/pod-scene.ts';
import type { RuleBench } from '../../../testing/rule-bench.ts';

const NETWORKS = 'k8s.v1.cni.cncf.io/networks';
const SUBNET = { vpc: 'blue', cidrBlock: '10.0.0.0/24,fd00::/112', gateway: '10.0.0.1,fd00::1', namespaces: ['shop'] };
const MOVED = { ...SUBNET, gateway: '10.0.0.254,fd00::1' };

function shop(spec: object = SUBNET): PodScene {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.subnet('net', spec);
  scene.attachment('shop/second', 'kube-ovn');
  scene.subnet('second', { cidrBlock: '10.1.0.0/24', gateway: '10.1.0.1', provider: 'second.shop.ovn' });
  scene.statefulSet('db', 1);
  scene.bench.converge();
  return scene;
}

const networks = ({ bench }: PodScene, port = 'blue-net'): unknown => bench.row('Logical_Router_Port', port)?.['networks'];
const accepted = ({ bench }: PodScene, subnet = 'net'): readonly [string, string] => {
  const { reason = '', message = '' } = bench.condition('subnets', subnet, 'Accepted') ?? {};
  return [reason, message];
};
const edit = (scene: PodScene, spec: object, subnet = 'net'): void => {
  scene.bench.edit('subnets', subnet, spec);
  scene.bench.converge();
};

const own = (suffix: string): string => `ovn.kubernetes.io/${suffix}`;
const attached = (suffix: string): string => `second.shop.ovn.kubernetes.io/${suffix}`;
const routes = (gw: string): string => JSON.stringify([{ dst: '172.16.0.0/16', gw }]);

const BEHIND: Readonly<Record<string, PodInput>> = {
  'a default route': {},
  'a StatefulSet': { statefulSet: 'db' },
  'a static route alone': { annotations: { [own('default_route')]: 'false', [own('routes')]: routes('10.0.0.1') } },
};
for (const [what, input] of Object.entries(BEHIND))
  test(`a gateway stays while routes of running pods lead to it (${what}), and moves when they are gone`, () => {
    const scene = shop();
    scene.pod('db-0', input);
    scene.bench.converge();
    edit(scene, MOVED);
    assert.deepEqual(networks(scene), ['10.0.0.1/24', 'fd00::1/112']);
    const [reason, message] = accepted(scene);
    assert.equal(reason, 'SubnetGatewayInUse');
    assert.equal(
      message,
      'Subnet net: spec.gateway "10.0.0.254" would cut off what has routes through 10.0.0.1, which stays the gateway until that is gone: Pod shop/db-0; ' +
        'put 10.0.0.1 back, or delete all of these before new ones come, or kubectl annotate subnet net kiln.io/allow-change-under-pods=true and make them again',
    );
    assert.equal(scene.annotations('shop/db-0')[own('gateway')], '10.0.0.1,fd00::1');
    const fresh = scene.bench.restarted();
    fresh.converge();
    assert.equal(fresh.writes, 0);
    scene.pod('late');
    scene.bench.converge();
    assert.equal(scene.annotations('shop/late')[own('gateway')], '10.0.0.1,fd00::1', 'a new pod has the gateway that works');
    scene.bench.removeByForce('pods', 'shop/late');
    scene.bench.removeByForce('pods', 'shop/db-0');
    scene.bench.converge();
    assert.deepEqual([networks(scene), accepted(scene)[0]], [['10.0.0.254/24', 'fd00::1/112'], 'Accepted']);
  });

test('an attached network: its gateway stays for a pod with its default route there, or a route of its own through it', () => {
  for (const annotations of [{ [attached('default_route')]: 'true' }, { [attached('routes')]: routes('10.1.0.1') }]) {
    const scene = shop();
    scene.pod('web', { annotations: { [NETWORKS]: 'shop/second', ...annotations } });
    scene.bench.converge();
    edit(scene, { cidrBlock: '10.1.0.0/24', gateway: '10.1.0.9', provider: 'second.shop.ovn' }, 'second');
    assert.deepEqual([networks(scene, 'ovn-cluster-second'), accepted(scene, 'second')[0]], [['10.1.0.1/24'], 'SubnetGatewayInUse']);
  }
});

test('the default Subnet and the join Subnet: pods and nodes keep their gateway', () => {
  const scene = new PodScene();
  scene.pod('web');
  scene.bench.converge();
  for (const [subnet, block, who] of [
    ['ovn-default', '10.16.0.0/16', 'Pod shop/web'],
    ['join', '100.64.0.0/16', 'Node n1'],
  ] as const) {
    const { spec } = scene.bench.object('subnets', subnet) ?? {};
    edit(scene, { ...spec, gateway: block.replace('0.0/16', '9.9') }, subnet);
    assert.deepEqual(networks(scene, `ovn-cluster-${subnet}`), [block.replace('0.0/16', '0.1/16')]);
    const [reason, message] = accepted(scene, subnet);
    assert.equal(reason, 'SubnetGatewayInUse');
    assert.ok(message.includes(who), message);
  }
});

const UNHARMED: Readonly<Record<string, (scene: PodScene) => void>> = {
  'no pod': () => undefined,
  'a pod whose default route is on another interface': (scene) => {
    scene.pod('web', { annotations: { [own('default_route')]: 'false' } });
  },
  'a pod with a route through another hop': (scene) => {
    scene.pod('web', { annotations: { [own('default_route')]: 'false', [own('routes')]: routes('10.0.0.77') } });
  },
  'a pod without an address of that family': (scene) => {
    scene.pod('web', { annotations: { [own('ip_family')]: 'ipv6' } });
  },
  'a reserved address, and a Vip': ({ bench }) => {
    bench.put('ips', {
      metadata: { name: 'kept.shop' },
      spec: { podName: 'kept', namespace: 'shop', subnet: 'net', ipAddress: '10.0.0.9' },
    });
    bench.put('vips', { metadata: { name: 'vip' }, spec: { subnet: 'net' } });
  },
  'a StatefulSet that has no pod': (scene) => {
    scene.pod('db-0', { statefulSet: 'db' });
    scene.bench.converge();
    scene.bench.removeByForce('pods', 'shop/db-0');
  },
};
for (const [what, prepare] of Object.entries(UNHARMED))
  test(`a gateway moves at once where no route leads to it: ${what}`, () => {
    const scene = shop();
    prepare(scene);
    scene.bench.converge();
    edit(scene, MOVED);
    assert.deepEqual([networks(scene), accepted(scene)[0]], [['10.0.0.254/24', 'fd00::1/112'], 'Accepted']);
  });

test('with its annotation a gateway moves under running pods, and their annotations name the new one', () => {
  const scene = shop();
  scene.pod('web');
  scene.bench.converge();
  edit(scene, MOVED);
  const { metadata } = scene.bench.object('subnets', 'net') ?? {};
  scene.bench.put('subnets', {
    metadata: { ...metadata, name: 'net', annotations: { 'kiln.io/allow-change-under-pods': 'true' } },
    spec: MOVED,
  });
  scene.bench.converge();
  assert.deepEqual([networks(scene), accepted(scene)[0]], [['10.0.0.254/24', 'fd00::1/112'], 'Accepted']);
  assert.equal(scene.annotations('shop/web')[own('gateway')], '10.0.0.254,fd00::1');
});

test('an annotation that is neither true nor false is reported, and allows nothing', () => {
  const scene = shop();
  scene.pod('web');
  scene.bench.put('subnets', { metadata: { name: 'net', annotations: { 'kiln.io/allow-change-under-pods': 'yes' } }, spec: SUBNET });
  scene.bench.converge();
  edit(scene, MOVED);
  assert.equal(accepted(scene)[0], 'SubnetGatewayInUse');
  assert.match(scene.bench.condition('subnets', 'net', 'WithoutEffect')?.message ?? '', /allow-change-under-pods\] "yes" is neither/);
});

test('a gateway that another program moved is put back under running pods', () => {
  const scene = shop();
  scene.pod('web');
  scene.bench.converge();
  const { northbound, world } = scene.bench;
  const [uuid] = [...northbound.table('Logical_Router_Port')].find(([, row]) => row['name'] === 'blue-net') ?? assert.fail();
  const drift = { kind: 'update', table: 'Logical_Router_Port', uuid, row: { networks: ['10.0.0.77/24', 'fd00::1/112'] } } as const;
  world.rows.apply(northbound, northbound.apply([drift]));
  scene.bench.converge();
  assert.deepEqual([networks(scene), accepted(scene)[0]], [['10.0.0.1/24', 'fd00::1/112'], 'Accepted']);
});

test('a wider network, and a further family, take effect under running pods', () => {
  const scene = shop({ ...SUBNET, cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1' });
  scene.pod('web');
  scene.bench.converge();
  edit(scene, { ...SUBNET, cidrBlock: '10.0.0.0/23,fd00::/112' });
  assert.deepEqual([networks(scene), accepted(scene)[0]], [['10.0.0.1/23', 'fd00::1/112'], 'Accepted']);
});

const NARROW = { ...SUBNET, cidrBlock: '10.0.0.0/25,fd00::/112' };
const cidrOf = (scene: PodScene, pod: string): string | undefined => scene.annotations(`shop/${pod}`)[own('cidr')];

test('a network stays as wide as the masks of running pods, and new addresses come from the narrower one', () => {
  for (const [narrow, mask, range] of [
    [NARROW, '10.0.0.0/24', '10.0.0.3-10.0.0.126'],
    [{ ...SUBNET, cidrBlock: '10.0.0.0/24,fd00::/120' }, 'fd00::/112', 'fd00::3-fd00::fe'],
  ] as const) {
    const scene = shop();
    scene.pod('web');
    scene.bench.converge();
    edit(scene, narrow);
    assert.deepEqual(networks(scene), ['10.0.0.1/24', 'fd00::1/112']);
    const [reason, message] = accepted(scene);
    assert.equal(reason, 'SubnetMaskInUse');
    assert.equal(
      message,
      `Subnet net: spec.cidrBlock is narrower than the network of running pods, which look for all of ${mask} on their own switch; it stays in ` +
        `effect until they are gone, and new addresses come from spec.cidrBlock: Pod shop/web; put ${mask} back, or delete all of these ` +
        'before new ones come, or kubectl annotate subnet net kiln.io/allow-change-under-pods=true and make them again',
    );
    assert.equal(scene.bench.condition('subnets', 'net', 'Ready')?.status, 'True');
    const { status = {} } = scene.bench.object('subnets', 'net') ?? {};
    assert.ok([status['v4availableIPrange'], status['v6availableIPrange']].includes(range), String(status['v4availableIPrange']));
    assert.equal(scene.bench.writesAfterRestart(), 0);
    scene.pod('late');
    scene.bench.converge();
    assert.equal(cidrOf(scene, 'late'), SUBNET.cidrBlock, 'a new pod has the network in effect');
    scene.subnet('other', { vpc: 'blue', cidrBlock: '10.0.0.128/25,fd00::8000/113' });
    scene.bench.converge();
    assert.equal(accepted(scene, 'other')[0], 'SubnetCidrOverlap', 'no other Subnet gets what these pods look for on their switch');
    for (const pod of ['late', 'web']) scene.bench.removeByForce('pods', `shop/${pod}`);
    scene.bench.converge();
    assert.equal(accepted(scene)[0], 'Accepted');
    assert.notDeepEqual(networks(scene), ['10.0.0.1/24', 'fd00::1/112']);
  }
});

test('with its annotation a network becomes narrower under running pods', () => {
  const scene = shop();
  scene.pod('web');
  scene.bench.converge();
  scene.bench.put('subnets', { metadata: { name: 'net', annotations: { 'kiln.io/allow-change-under-pods': 'true' } }, spec: NARROW });
  scene.bench.converge();
  assert.deepEqual([networks(scene), accepted(scene)[0]], [['10.0.0.1/25', 'fd00::1/112'], 'Accepted']);
});

test('a pod from before the network became wider has its smaller mask, and no narrower network waits for it', () => {
  const scene = shop(NARROW);
  scene.pod('old');
  scene.bench.converge();
  edit(scene, SUBNET);
  assert.equal(cidrOf(scene, 'old'), NARROW.cidrBlock);
  scene.pod('young');
  scene.bench.converge();
  edit(scene, NARROW);
  assert.match(accepted(scene)[1], /: Pod shop\/young;/);
  scene.bench.removeByForce('pods', 'shop/young');
  scene.bench.converge();
  assert.deepEqual([networks(scene), accepted(scene)[0]], [['10.0.0.1/25', 'fd00::1/112'], 'Accepted']);
  assert.equal(scene.bench.writesAfterRestart(), 0);
});

test('an annotation cidr that is wrong, missing or without the gateway is written again', () => {
  const scene = shop();
  scene.pod('web');
  scene.bench.converge();
  for (const cidr of ['', '10.0.0.0/16,fd00::/112', '10.0.0.2/31,fd00::/112', 'nonsense']) {
    const { metadata, spec } = scene.bench.object('pods', 'shop/web') ?? assert.fail();
    scene.bench.put('pods', { metadata: { ...metadata, annotations: { ...metadata.annotations, [own('cidr')]: cidr } }, spec });
    scene.bench.converge();
    assert.equal(cidrOf(scene, 'web'), SUBNET.cidrBlock);
  }
});

test('an overlay Subnet keeps its router port under running pods when its spec names a Vlan; with a logical gateway it has it anyway', () => {
  const scene = shop();
  scene.pod('web');
  scene.bench.converge();
  edit(scene, { ...SUBNET, vlan: 'v100' });
  const [reason, message] = accepted(scene);
  assert.deepEqual([networks(scene), reason], [['10.0.0.1/24', 'fd00::1/112'], 'SubnetGatewayInUse']);
  assert.match(message, /spec\.vlan "v100" would take the gateway out of OVN.*Pod shop\/web.*spec\.logicalGateway/);
  edit(scene, { ...SUBNET, vlan: 'v100', logicalGateway: true });
  assert.deepEqual([networks(scene), accepted(scene)[0]], [['10.0.0.1/24', 'fd00::1/112'], 'Accepted']);
  edit(scene, { ...SUBNET, vlan: 'v100', logicalGateway: false });
  assert.equal(accepted(scene)[0], 'SubnetGatewayInUse');
  scene.bench.removeByForce('pods', 'shop/web');
  scene.bench.converge();
  assert.deepEqual([networks(scene), accepted(scene)[0]], [undefined, 'Accepted']);
});

test('the gateway of an underlay Subnet is a router outside of OVN, and may change under running pods', () => {
  const scene = shop({ ...SUBNET, vlan: 'v100' });
  scene.pod('web');
  scene.bench.converge();
  edit(scene, { ...MOVED, vlan: 'v100' });
  assert.equal(accepted(scene)[0], 'Accepted');
  assert.equal(scene.annotations('shop/web')[own('gateway')], '10.0.0.254,fd00::1');
});

test('of many pods the first five are named, and the number of the others', () => {
  const scene = shop();
  for (let i = 0; i < 12; i++) scene.pod(`web-${String(i).padStart(2, '0')}`);
  scene.bench.converge();
  edit(scene, MOVED);
  assert.match(accepted(scene)[1], /: Pod shop\/web-00, (Pod shop\/web-0[1-4](, )?){4} and 7 more;/);
});

test('another MTU under running pods is reported and stays in DHCP until they are gone, or until it is allowed', () => {
  const scene = new PodScene();
  const { bench } = scene;
  const spec = { cidrBlock: '10.8.0.0/24', namespaces: ['shop'], enableDHCP: true };
  scene.subnet('net', { ...spec, mtu: 1400 });
  bench.converge();
  const accepted = (): readonly (string | undefined)[] => {
    const { status, reason } = bench.condition('subnets', 'net', 'Accepted') ?? {};
    return [status, reason, bench.map('DHCP_Options', 'net|IPv4|', 'options')['mtu']];
  };
  assert.deepEqual(accepted(), ['True', 'Accepted', '1400']);
  bench.edit('subnets', 'net', { ...spec, mtu: 1350 });
  bench.converge();
  assert.deepEqual(accepted(), ['True', 'Accepted', '1350'], 'nobody is there');
  scene.pod('web');
  bench.converge();
  for (const mtu of [1300, 0]) {
    bench.edit('subnets', 'net', { ...spec, mtu });
    bench.converge();
    assert.deepEqual(accepted(), ['False', 'SubnetMtuInUse', '1350']);
    const { message = '' } = bench.condition('subnets', 'net', 'Accepted') ?? {};
    assert.match(message, new RegExp(`^Subnet net: spec.mtu "${mtu}" .*: Pod shop/web; put it back, .*kubectl annotate subnet net `));
    assert.equal(bench.writesAfterRestart(), 0);
  }
  assert.ok(bench.events.some(({ object, reason }) => object === 'subnets/net' && reason === 'SubnetMtuInUse'));
  assert.equal(bench.condition('subnets', 'net', 'Ready')?.status, 'True');
  bench.edit('subnets', 'net', { ...spec, mtu: 1350 });
  bench.converge();
  assert.deepEqual(accepted(), ['True', 'Accepted', '1350']);

  bench.edit('subnets', 'net', { ...spec, mtu: 1300 });
  bench.converge();
  bench.put('subnets', { metadata: { name: 'net', annotations: { 'kiln.io/allow-change-under-pods': 'true' } } });
  bench.converge();
  assert.deepEqual(accepted(), ['True', 'Accepted', '1300']);
  bench.put('subnets', { metadata: { name: 'net', annotations: {} } });
  bench.edit('subnets', 'net', { ...spec, mtu: 1200 });
  bench.converge();
  assert.deepEqual(accepted(), ['False', 'SubnetMtuInUse', '1300']);
  bench.delete('pods', 'shop/web');
  bench.converge();
  assert.deepEqual(accepted(), ['True', 'Accepted', '1200']);
});

test('an MTU that was refused under running pods stays refused when the switch or the database is lost, or restored from a backup', () => {
  const spec = { cidrBlock: '10.8.0.0/24', namespaces: ['shop'], enableDHCP: true };
  const withSwitchOf = (bench: RuleBench, mtu: string): void => {
    const { northbound, world } = bench;
    const [uuid, row] = [...northbound.table('Logical_Switch')].find(([, { name }]) => name === 'net') ?? assert.fail();
    const keys = row['external_ids'] as ReadonlyMap<string, string>;
    const older = {
      kind: 'update',
      table: 'Logical_Switch',
      uuid,
      row: { external_ids: new Map([...keys, ['kiln.io/mtu', mtu]]) },
    } as const;
    world.rows.apply(northbound, northbound.apply([older]));
  };
  const losses: readonly ((bench: RuleBench) => RuleBench)[] = [
    (bench) => bench.withNewDatabase(),
    (bench) => {
      bench.removeNamedRow('Logical_Switch', 'net');
      return bench;
    },
    (bench) => {
      withSwitchOf(bench, '1450');
      return bench;
    },
  ];
  const accepted = (bench: RuleBench): readonly (string | undefined)[] => [
    bench.condition('subnets', 'net', 'Accepted')?.reason,
    bench.map('DHCP_Options', 'net|IPv4|', 'options')['mtu'],
    bench.object('subnets', 'net')?.metadata.annotations?.['kiln.io/mtu'],
  ];
  for (const [from, to] of [
    [1400, 1300],
    [1400, 0],
    [0, 1300],
  ] as const)
    for (const lose of losses)
      for (const edited of ['before', 'after']) {
        const scene = new PodScene();
        scene.subnet('net', { ...spec, mtu: from });
        scene.pod('web');
        scene.bench.converge();
        const [, before, noted] = accepted(scene.bench);
        assert.equal(noted, from === 0 ? undefined : String(from));
        if (edited === 'before') edit(scene, { ...spec, mtu: to }, 'net');
        if (from === 0 && edited === 'after' && lose === losses[2]) continue; // The default has no annotation, and that switch has another MTU.
        const after = lose(scene.bench);
        if (edited === 'after') after.edit('subnets', 'net', { ...spec, mtu: to });
        after.converge();
        assert.deepEqual(
          accepted(after),
          ['SubnetMtuInUse', before, String(from)],
          `${from} to ${to}, ${edited}, loss ${losses.indexOf(lose)}`,
        );
        assert.equal(after.writesAfterRestart(), 0);
        after.removeByForce('pods', 'shop/web');
        after.converge();
        const [reason, , last] = accepted(after);
        assert.deepEqual([reason, last], ['Accepted', to === 0 ? undefined : String(to)]);
      }
});
