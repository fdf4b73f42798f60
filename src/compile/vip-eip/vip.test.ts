import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINALIZER } from '../../api/well-known.ts';
import { rowId } from '../../nb/row-id.ts';
import { statusOf } from '../../explain/status.ts';
import { permutations } from '../../testing/permutations.ts';
import { PodScene } from '../../testing/pod-scene.ts';

const MINE = { 'ovn.kubernetes.io/vip': 'v1' };

function scene(cidrBlock = '10.50.0.0/29'): PodScene {
  const made = new PodScene();
  made.subnet('net', { cidrBlock, namespaces: ['shop'] });
  made.bench.converge();
  return made;
}

function vip(made: PodScene, name: string, spec: object = {}, metadata: object = {}): void {
  made.bench.put('vips', { metadata: { name, ...metadata }, spec: { subnet: 'net', ...spec } });
  made.bench.converge();
}

function usingRange(made: PodScene): string {
  return String(made.bench.object('subnets', 'net')?.status?.['v4usingIPrange']);
}

function port(made: PodScene, name: string): Readonly<Record<string, unknown>> {
  return made.bench.row('Logical_Switch_Port', name) ?? assert.fail(`no port ${name}`);
}

test('a Vip is completed: address, MAC, labels, finalizer, status; without a namespace it makes nothing in OVN', () => {
  const made = scene();
  vip(made, 'v1', { v4ip: '10.50.0.5' });
  const { metadata, spec, status } = made.bench.object('vips', 'v1') ?? assert.fail();
  assert.deepEqual(metadata.finalizers, [FINALIZER]);
  assert.deepEqual(metadata.labels, { 'ovn.kubernetes.io/subnet': 'net', 'ovn.kubernetes.io/ip_reserved': '' });
  assert.deepEqual([spec['v4ip'], spec['v6ip']], ['10.50.0.5', '']);
  assert.deepEqual([status?.['v4ip'], status?.['v6ip'], status?.['type'], status?.['mac']], ['10.50.0.5', '', '', spec['macAddress']]);
  assert.equal(made.bench.row('Logical_Switch_Port', 'v1'), undefined);
  assert.equal(usingRange(made), '10.50.0.5');
});

test('all faults of a Vip are reported at once', () => {
  const made = scene();
  vip(made, 'v1', { v4ip: '10.50.0.05', selector: ['app=web', 'app:web', ''] });
  assert.equal(
    made.bench.condition('vips', 'v1', 'Accepted')?.message,
    'Vip v1: spec.v4ip "10.50.0.05" is not an IPv4 address (each of the four numbers is 0 to 255, without leading zeros); ' +
      'it is one IPv4 address, or empty to have one chosen. ' +
      'Vip v1: spec.selector[0] "app=web" is no label; it is a label of the pods as key:value. ' +
      'Vip v1: spec.selector[2] "" is no label; it is a label of the pods as key:value; kubectl edit vips.kubeovn.io v1',
  );
});

test('a Vip of both families has a virtual port for each, since a port with two addresses never binds', () => {
  const made = scene('10.50.0.0/29,fd50::/112');
  vip(made, 'v1', { namespace: 'shop' });
  made.pod('a', { annotations: { 'ovn.kubernetes.io/aaps': 'v1' } });
  made.bench.converge();
  assert.deepEqual(port(made, 'v1')['options'], { 'virtual-ip': '10.50.0.2', 'virtual-parents': 'a.shop' });
  assert.deepEqual(port(made, 'v1-ip6')['options'], { 'virtual-ip': 'fd50::2', 'virtual-parents': 'a.shop' });
  made.bench.delete('pods', 'shop/a');
  made.bench.delete('vips', 'v1');
  made.bench.converge();
  assert.equal(made.bench.row('Logical_Switch_Port', 'v1-ip6'), undefined);
});

test('a Vip for the pods of a namespace has a virtual port, whose parents are the ports of pods that declare it and that it selects', () => {
  const made = scene();
  vip(made, 'v1', { namespace: 'shop', selector: ['app:lb'] });
  assert.deepEqual(port(made, 'v1')['options'], { 'virtual-ip': '10.50.0.2' });
  assert.equal(port(made, 'v1')['type'], 'virtual');
  const declares = { 'ovn.kubernetes.io/aaps': 'v1', 'ovn.kubernetes.io/port_security': 'true' };
  for (const [name, app] of [
    ['a', 'lb'],
    ['b', 'lb'],
    ['c', 'web'],
  ] as const) {
    made.bench.put('pods', {
      metadata: { name, namespace: 'shop', labels: { app }, annotations: declares },
      spec: { nodeName: 'n1', restartPolicy: 'Always' },
    });
  }
  made.bench.converge();
  assert.deepEqual(port(made, 'v1')['options'], { 'virtual-ip': '10.50.0.2', 'virtual-parents': 'a.shop,b.shop' });
  const [own] = made.portAddresses('a.shop') as readonly string[];
  assert.deepEqual(port(made, 'a.shop')['port_security'], [`${own} 10.50.0.2`]);
  assert.deepEqual(
    [made.externalIds('Logical_Switch_Port', 'a.shop')['vips'], made.externalIds('Logical_Switch_Port', 'a.shop')['attach-vips']],
    ['10.50.0.2', 'true'],
  );
  const [other] = made.portAddresses('c.shop') as readonly string[];
  assert.deepEqual(port(made, 'c.shop')['port_security'], [other]);
  assert.equal(usingRange(made), '10.50.0.2-10.50.0.5');
  made.bench.delete('pods', 'shop/a');
  made.bench.converge();
  assert.deepEqual(port(made, 'v1')['options'], { 'virtual-ip': '10.50.0.2', 'virtual-parents': 'b.shop' });
  // Its deletion waits for the pod that uses it.
  made.bench.delete('vips', 'v1');
  made.bench.converge();
  assert.deepEqual(port(made, 'v1')['options'], { 'virtual-ip': '10.50.0.2', 'virtual-parents': 'b.shop' });
  made.bench.delete('pods', 'shop/b');
  made.bench.converge();
  assert.equal(made.bench.object('vips', 'v1'), undefined);
  assert.equal(made.bench.row('Logical_Switch_Port', 'v1'), undefined);
});

test('a Vip of type switch_lb_vip has a port with the MAC of the router, and several of them do not conflict', () => {
  const made = scene();
  vip(made, 'lb1', { type: 'switch_lb_vip', namespace: 'shop' });
  vip(made, 'lb2', { type: 'switch_lb_vip', namespace: 'shop' });
  const mac = String(made.bench.row('Logical_Router_Port', 'ovn-cluster-net')?.['mac']);
  assert.deepEqual(port(made, 'lb1.shop')['addresses'], [`${mac} 10.50.0.2`]);
  assert.deepEqual(port(made, 'lb1.shop')['options'], { arp_proxy: 'true' });
  assert.deepEqual(port(made, 'lb1')['options'], { 'virtual-ip': '10.50.0.2' });
  assert.equal(made.bench.object('vips', 'lb1')?.status?.['mac'], mac);
  assert.equal(made.bench.condition('vips', 'lb2', 'AddressConflict'), undefined);
  made.bench.removeByForce('vips', 'lb1');
  made.bench.converge();
  assert.equal(made.bench.row('Logical_Switch_Port', 'lb1.shop'), undefined);
  assert.equal(usingRange(made), '10.50.0.3');
});

test('a Vip of type kube_host_vm_vip has one port, with a MAC of its own', () => {
  const made = scene();
  vip(made, 'vm', { type: 'kube_host_vm_vip', namespace: 'shop' });
  assert.deepEqual(port(made, 'vm.shop')['addresses'], [`${String(made.bench.object('vips', 'vm')?.status?.['mac'])} 10.50.0.2`]);
  assert.equal(made.bench.row('Logical_Switch_Port', 'vm'), undefined);
});

test('a pod is given the address and the MAC of a Vip; the Vip names its port, counts the address once, and is free again after it', () => {
  const made = scene();
  vip(made, 'v1');
  made.pod('a', { annotations: MINE });
  made.bench.converge();
  assert.equal(made.addressOf('shop/a'), '10.50.0.2');
  assert.equal(made.annotations('shop/a')['ovn.kubernetes.io/mac_address'], made.bench.object('vips', 'v1')?.status?.['mac']);
  assert.equal(made.bench.object('vips', 'v1')?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'], 'a.shop');
  assert.equal(made.bench.condition('vips', 'v1', 'AddressConflict'), undefined);
  assert.equal(made.bench.object('subnets', 'net')?.status?.['v4usingIPs'], 1n);
  const again = made.bench.restarted();
  again.converge();
  assert.equal(again.writes, 0);
  made.bench.delete('pods', 'shop/a');
  made.bench.converge();
  assert.equal(made.bench.object('vips', 'v1')?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'], '');
  assert.equal(usingRange(made), '10.50.0.2');
});

test('of two pods that request one Vip the older gets it; the younger waits, reports the other, and gets it when that is gone', () => {
  const made = scene();
  vip(made, 'v1');
  made.pod('a', { annotations: MINE });
  made.pod('b', { annotations: MINE });
  made.bench.converge();
  const outcome = made.bench.condition('pods', 'shop/b', 'kiln.io/NetworkBound');
  assert.equal(outcome?.reason, 'AddressConflict');
  assert.match(outcome?.message ?? '', /^Pod shop\/b: annotation ovn\.kubernetes\.io\/vip "v1" names a Vip whose address port a\.shop has/);
  made.bench.delete('pods', 'shop/a');
  made.bench.converge();
  assert.equal(made.addressOf('shop/b'), '10.50.0.2');
});

test('the address stays with its pod when the Vip is removed by force, and no other object gets it', () => {
  const made = scene();
  vip(made, 'v1');
  made.pod('a', { annotations: MINE });
  made.bench.converge();
  made.bench.removeByForce('vips', 'v1');
  made.bench.converge();
  assert.equal(made.bench.object('vips', 'v1'), undefined);
  vip(made, 'v2');
  assert.equal(made.bench.object('vips', 'v2')?.status?.['v4ip'], '10.50.0.3');
  assert.equal(made.addressOf('shop/a'), '10.50.0.2');
});

for (const [what, annotations, reason, message, mend] of [
  [
    'a Vip that does not exist',
    MINE,
    'WaitingForVip',
    /Pod shop\/a: annotation ovn\.kubernetes\.io\/vip "v1" names a Vip that does not exist; kubectl get vips/,
    (made: PodScene) => vip(made, 'v1'),
  ],
  [
    'a Vip of a type with a port of its own',
    { 'ovn.kubernetes.io/vip': 'typed' },
    'InvalidAnnotation',
    /"typed" names a Vip of type kube_host_vm_vip/,
    (made: PodScene) => made.bench.put('pods', podWith(made, 'other')),
  ],
  [
    'a Vip for another namespace',
    { 'ovn.kubernetes.io/vip': 'theirs' },
    'InvalidAnnotation',
    /"theirs" names a Vip for pods of Namespace elsewhere/,
    (made: PodScene) => made.bench.put('pods', podWith(made, 'other')),
  ],
  [
    'an allowed pair that does not exist',
    { 'ovn.kubernetes.io/aaps': 'v1' },
    'WaitingForVip',
    /annotation ovn\.kubernetes\.io\/aaps names Vip "v1", which does not exist/,
    (made: PodScene) => vip(made, 'v1', { namespace: 'shop' }),
  ],
  [
    'an allowed pair of another namespace',
    { 'ovn.kubernetes.io/aaps': 'theirs' },
    'InvalidAnnotation',
    /names Vip "theirs", which is for pods of Namespace elsewhere: its spec\.namespace must be shop/,
    (made: PodScene) => made.bench.edit('vips', 'theirs', { namespace: 'shop' }),
  ],
] as const) {
  test(`a pod that names ${what} waits with a message, has nothing, and binds as soon as that is fixed`, () => {
    const made = scene('10.50.0.0/28');
    vip(made, 'typed', { type: 'kube_host_vm_vip', namespace: 'shop' });
    vip(made, 'theirs', { namespace: 'elsewhere' });
    vip(made, 'other');
    made.pod('a', { annotations });
    made.bench.converge();
    const outcome = made.bench.condition('pods', 'shop/a', 'kiln.io/NetworkBound');
    assert.equal(outcome?.reason, reason);
    assert.match(outcome?.message ?? '', message);
    assert.equal(made.bench.object('ips', 'a.shop'), undefined);
    assert.equal(made.bench.row('Logical_Switch_Port', 'a.shop'), undefined);
    mend(made);
    made.bench.converge();
    assert.match(made.addressOf('shop/a') ?? '', /^10\.50\.0\./);
    assert.equal(made.bench.condition('pods', 'shop/a', 'kiln.io/NetworkBound')?.status, 'True');
  });
}

function podWith(made: PodScene, name: string): Parameters<PodScene['bench']['put']>[1] {
  const { metadata, spec } = made.bench.object('pods', 'shop/a') ?? assert.fail();
  return { metadata: { ...metadata, annotations: { 'ovn.kubernetes.io/vip': name } }, spec };
}

for (const [spec, rule] of [
  [{ subnet: '' }, /spec\.subnet "" is empty; a Vip names the Subnet/],
  [{ subnet: 'nowhere' }, /Subnet "nowhere" does not exist/],
  [{ type: 'lb' }, /spec\.type "lb" is not known; it is switch_lb_vip, kube_host_vm_vip or empty/],
  [{ v4ip: '10.50.0' }, /spec\.v4ip "10\.50\.0" .*; it is one IPv4 address/],
  [{ v6ip: 'FD00::1' }, /spec\.v6ip "FD00::1" has upper-case letters/],
  [{ macAddress: '01:00:00:00:00:01' }, /spec\.macAddress "01:00:00:00:00:01" is a multicast MAC/],
  [{ selector: ['app'] }, /spec\.selector\[0\] "app" is no label; it is a label of the pods as key:value/],
] as const) {
  test(`a Vip with ${JSON.stringify(spec)} reports why, holds nothing, and is completed as soon as it is fixed`, () => {
    const made = scene();
    vip(made, 'v1', spec);
    const outcome = made.bench.condition('vips', 'v1', 'Accepted');
    assert.equal(outcome?.status, 'False');
    assert.match(outcome?.message ?? '', rule);
    assert.equal(usingRange(made), '');
    made.bench.put('vips', { metadata: { name: 'v1' }, spec: { subnet: 'net' } });
    made.bench.converge();
    assert.equal(usingRange(made), '10.50.0.2');
    assert.equal(made.bench.condition('vips', 'v1', 'Accepted'), undefined);
  });
}

test('a Subnet waits for its Vips and names them; a Vip without an address yet is invalid and does not block it', () => {
  const made = scene();
  vip(made, 'v1');
  made.bench.delete('subnets', 'net');
  made.bench.converge();
  assert.match(made.bench.condition('subnets', 'net', 'DeletionBlocked')?.message ?? '', /Vip v1/);
  vip(made, 'late');
  assert.match(made.bench.condition('vips', 'late', 'Accepted')?.message ?? '', /is being deleted/);
  made.bench.delete('vips', 'v1');
  made.bench.converge();
  assert.equal(made.bench.object('subnets', 'net'), undefined);
});

test('two Vips with one address (restored from a backup) both report it; the older keeps its port', () => {
  const made = scene();
  for (const name of ['old', 'young'])
    made.bench.put('vips', {
      metadata: { name, finalizers: [FINALIZER] },
      spec: { subnet: 'net', type: 'kube_host_vm_vip', namespace: 'shop', v4ip: '10.50.0.5' },
      status: { v4ip: '10.50.0.5', type: 'kube_host_vm_vip', mac: `02:00:00:00:00:0${name.length}` },
    });
  made.bench.converge();
  assert.match(
    made.bench.condition('vips', 'old', 'AddressConflict')?.message ?? '',
    /is also held by Vip young .*; kubectl describe vips\.kubeovn\.io old$/,
  );
  assert.match(made.bench.condition('vips', 'young', 'AddressConflict')?.message ?? '', /is also held by Vip old/);
  assert.ok(made.bench.row('Logical_Switch_Port', 'old.shop'));
  assert.equal(made.bench.row('Logical_Switch_Port', 'young.shop'), undefined);
});

test('a Vip that nothing used when its lease ends is deleted with an Event; one that a pod declares stays', () => {
  const made = scene();
  vip(made, 'idle', {}, { annotations: { 'kiln.io/lease': '2h' } });
  vip(made, 'used', { namespace: 'shop' }, { annotations: { 'kiln.io/lease': '2h' } });
  made.pod('a', { annotations: { 'ovn.kubernetes.io/aaps': 'used' } });
  made.bench.converge();
  made.bench.passTo(Date.UTC(2026, 0, 3));
  assert.equal(made.bench.object('vips', 'idle'), undefined);
  assert.ok(made.bench.object('vips', 'used'));
  const [outcome] = made.bench.events.filter(({ reason }) => reason === 'LeaseEnded');
  assert.match(outcome?.message ?? '', /the lease of 2h ended at .* and nothing used address 10\.50\.0\.2; the Vip object is deleted/);
});

test('Subnet, Vip, OvnEip and pods of one manifest end the same in every order, converged between or not', () => {
  const parts: Readonly<Record<string, (made: PodScene) => void>> = {
    subnet: (made) => made.subnet('late', { cidrBlock: '10.51.0.0/29' }),
    vip: (made) => made.bench.put('vips', { metadata: { name: 'v1' }, spec: { subnet: 'late', v4ip: '10.51.0.3', namespace: 'shop' } }),
    eip: (made) => made.bench.put('ovn-eips', { metadata: { name: 'e1' }, spec: { externalSubnet: 'late', v4Ip: '10.51.0.4' } }),
    pods: (made) => {
      made.pod('own', { annotations: MINE });
      made.pod('pair', { annotations: { 'ovn.kubernetes.io/logical_switch': 'late', 'ovn.kubernetes.io/aaps': 'v1' } });
    },
  };
  const ends = new Set<string>();
  for (const order of permutations(Object.keys(parts))) {
    for (const between of [true, false]) {
      const made = new PodScene();
      for (const part of order) {
        parts[part]?.(made);
        if (between) made.bench.converge();
      }
      made.bench.converge();
      const { v4usingIPs, v4usingIPrange } = made.bench.object('subnets', 'late')?.status ?? {};
      ends.add(
        [
          made.addressOf('shop/own'),
          made.addressOf('shop/pair'),
          made.bench.object('ovn-eips', 'e1')?.status?.['v4Ip'],
          `${String(v4usingIPs)} ${String(v4usingIPrange)}`,
          JSON.stringify(port(made, 'v1')['options']),
          JSON.stringify(made.externalIds('Logical_Switch_Port', 'pair.shop')['vips']),
        ].join(' | '),
      );
    }
  }
  assert.deepEqual(
    [...ends],
    ['10.51.0.3 | 10.51.0.2 | 10.51.0.4 | 3 10.51.0.2-10.51.0.4 | {"virtual-ip":"10.51.0.3","virtual-parents":"pair.shop"} | "10.51.0.3"'],
  );
});

test('a Vip whose completion a policy rejects reports it in its status, holds nothing, and gets its address when the policy is gone', () => {
  const made = scene();
  const asked: number[] = [];
  let now = 0;
  made.bench.rejects = (write) => {
    if (write.resource !== 'vips' || write.verb !== 'patch' || !('spec' in write.patch)) return undefined;
    asked.push(now);
    return 'admission webhook "policy.example.com" denied the request: no Vips on Fridays';
  };
  const accepted = (): string => {
    const { status, reason, message } = made.bench.condition('vips', 'v1', 'Accepted') ?? {};
    return `${status} ${reason} ${message}`;
  };
  vip(made, 'v1', { v4ip: '10.50.0.5' });
  const pattern =
    /^False WriteRefused Vip v1 cannot get its address, the API server says: admission .* no Vips on Fridays; .*; kubectl get valid/;
  for (now = 1_000; now <= 120_000; now += 1_000) {
    assert.match(accepted(), pattern);
    assert.equal(made.bench.object('vips', 'v1')?.status?.['v4ip'], undefined);
    assert.equal(usingRange(made), '');
    made.bench.passTo(now);
  }
  for (const at of asked) assert.ok(asked.filter((other) => other >= at && other < at + 60_000).length <= 5, asked.join());
  assert.equal(made.bench.events.filter(({ object, reason }) => object === 'vips/v1' && reason === 'WriteRefused').length, 1);
  made.bench.rejects = () => undefined;
  made.bench.passTo(150_000);
  assert.equal(made.bench.object('vips', 'v1')?.status?.['v4ip'], '10.50.0.5');
  assert.equal(made.bench.condition('vips', 'v1', 'Accepted'), undefined);
});

test("the label of a Vip that a pod with a long name has is the port's name, cut to the limit", () => {
  const made = scene();
  vip(made, 'v1', { v4ip: '10.50.0.5' });
  const name = `${'w'.repeat(62)}-0`;
  made.pod(name, { annotations: MINE });
  made.bench.converge();
  assert.equal(made.addressOf(`shop/${name}`), '10.50.0.5');
  assert.equal(made.bench.object('vips', 'v1')?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'], 'w'.repeat(62));
});

test('a Vip recreated while its Subnet was removed by force owns its port', () => {
  const made = scene();
  vip(made, 'v1', { namespace: 'shop' });
  const before = made.bench.object('vips', 'v1') ?? assert.fail();
  made.bench.removeByForce('vips', 'v1');
  const { uid: _uid, ...metadata } = before.metadata;
  const again = made.bench.put('vips', { ...before, metadata });
  made.bench.removeByForce('subnets', 'net');
  made.bench.converge();
  assert.notEqual(again.metadata.uid, before.metadata.uid);
  assert.equal(made.bench.externalIds('Logical_Switch_Port', 'v1')['kiln.io/uid'], again.metadata.uid);
  const fresh = made.bench.restarted();
  fresh.converge();
  assert.equal(fresh.writes, 0);
});

test("edits of a Vip's port are undone when its Subnet was removed by force", () => {
  const made = scene();
  vip(made, 'v1', { namespace: 'shop' });
  made.bench.removeByForce('subnets', 'net');
  made.bench.converge();
  const before = port(made, 'v1');
  const [uuid] = [...made.bench.northbound.table('Logical_Switch_Port')].find(([, { name }]) => name === 'v1') ?? assert.fail();
  const row = { options: { 'virtual-ip': '10.50.0.7' }, type: '' };
  made.bench.world.rows.apply(
    made.bench.northbound,
    made.bench.northbound.apply([{ kind: 'update', table: 'Logical_Switch_Port', uuid, row }]),
  );
  made.bench.converge();
  assert.deepEqual(port(made, 'v1'), before);
});

test('a Vip whose request fails reports field, value and rule', () => {
  const made = scene();
  const outcome = (name: string): string => made.bench.condition('vips', name, 'Accepted')?.message ?? '';
  vip(made, 'v1', { v4ip: '10.50.0.5' });
  vip(made, 'taken', { v4ip: '10.50.0.5' });
  assert.match(outcome('taken'), /^Vip taken: spec\.v4ip "10\.50\.0\.5": the address 10\.50\.0\.5 in Subnet "net" is held by Vip v1/);
  vip(made, 'six', { v6ip: 'fd00::1' });
  assert.match(outcome('six'), /^Vip six: spec\.v6ip "fd00::1": the address fd00::1 is IPv6, and Subnet "net" is IPv4/);
  vip(made, 'lost', { subnet: 'ghost' });
  assert.match(outcome('lost'), /^Vip lost: spec\.subnet "ghost": Subnet "ghost" does not exist/);
});

test('a Vip and an EIP whose Subnet was removed by force and recreated with another network report that their address is outside of it; they keep it', () => {
  const made = scene();
  vip(made, 'v1', { type: 'switch_lb_vip' });
  made.bench.put('ovn-eips', { metadata: { name: 'e1' }, spec: { externalSubnet: 'net', type: 'lsp' } });
  made.bench.converge();
  const outcome = (resource: 'vips' | 'ovn-eips', name: string): readonly unknown[] => {
    const { status, reason, message } = made.bench.condition(resource, name, 'Accepted') ?? {};
    return [status, reason, message];
  };
  made.bench.removeByForce('subnets', 'net');
  made.subnet('net', { cidrBlock: 'fd50::/64', namespaces: ['shop'] });
  made.bench.converge();
  const message = (object: string, address: string, kind: string, next: string): string =>
    `${object}: address ${address} is outside of fd50::/64, the network that Subnet net has now; the ${kind} keeps the address until it is ` +
    `deleted; create another ${kind}, then kubectl delete ${next}`;
  assert.deepEqual(outcome('vips', 'v1'), ['False', 'AddressOutOfRange', message('Vip v1', '10.50.0.2', 'Vip', 'vips.kubeovn.io v1')]);
  assert.deepEqual(outcome('ovn-eips', 'e1'), [
    'False',
    'AddressOutOfRange',
    message('OvnEip e1', '10.50.0.3', 'OvnEip', 'ovn-eips.kubeovn.io e1'),
  ]);
  made.bench.removeByForce('subnets', 'net');
  made.subnet('net', { cidrBlock: '10.50.0.0/24', namespaces: ['shop'] });
  made.bench.converge();
  for (const [resource, name] of [
    ['vips', 'v1'],
    ['ovn-eips', 'e1'],
  ] as const)
    assert.deepEqual(outcome(resource, name), [undefined, undefined, undefined]);
});

test('a Vip whose port has the name of another object reports the conflict, in kiln status too, until the row is free', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.subnet('net', { cidrBlock: '10.4.0.0/24', namespaces: ['shop'] });
  bench.converge();
  scene.pod('web');
  bench.converge();
  bench.put('vips', { metadata: { name: 'web.shop' }, spec: { subnet: 'net', namespace: 'shop' } });
  bench.converge();
  const port = rowId('Logical_Switch_Port', 'web.shop');
  bench.world.rowConflicts.set(port, {
    owners: ['vip//web.shop'],
    message: 'Logical_Switch_Port web.shop belongs to the older pod shop/web',
  });
  bench.converge();
  const pattern = bench.condition('vips', 'web.shop', 'Accepted');
  assert.deepEqual(
    [pattern?.status, pattern?.reason, pattern?.message],
    [
      'False',
      'RowConflict',
      'Vip web.shop has its address, but not its port: Logical_Switch_Port web.shop belongs to the older pod shop/web',
    ],
  );
  assert.deepEqual(
    statusOf(bench.world, true).findings.map(({ what, kind, key }) => `${what} ${kind} ${key}`),
    ['not ready Vip web.shop'],
  );
  bench.world.rowConflicts.delete(port);
  bench.converge();
  assert.equal(bench.condition('vips', 'web.shop', 'Accepted'), undefined);
});
