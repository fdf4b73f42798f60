import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const VIPS = { 'ovn.kubernetes.io/port_vips': '10.5.0.200,fd05::c8' };

function scene(vips: readonly string[]): PodScene {
  const made = new PodScene();
  made.subnet('net', { cidrBlock: '10.5.0.0/24,fd05::/64', namespaces: ['shop'], vips });
  made.bench.converge();
  return made;
}

function options({ bench }: PodScene, port: string): unknown {
  return bench.row('Logical_Switch_Port', port)?.['options'];
}

test('each address of spec.vips has a virtual port, whose parents are the ports that may send from it', () => {
  const made = scene(['10.5.0.200', 'fd05:0::C8']);
  const { bench } = made;
  const row = bench.row('Logical_Switch_Port', 'net-vip-10.5.0.200') ?? assert.fail();
  assert.deepEqual([row['type'], row['options'], row['addresses']], ['virtual', { 'virtual-ip': '10.5.0.200' }, []]);
  const keys = bench.externalIds('Logical_Switch_Port', 'net-vip-10.5.0.200');
  assert.deepEqual([keys['ls'], keys['vendor'], keys['kiln.io/owner']], ['net', 'kube-ovn', 'subnet//net']);
  assert.deepEqual(options(made, 'net-vip-fd05::c8'), { 'virtual-ip': 'fd05::c8' });
  assert.equal(bench.condition('subnets', 'net', 'NotCarriedOut'), undefined);
  for (const name of ['b', 'a']) made.pod(name, { annotations: VIPS });
  made.pod('other');
  bench.converge();
  assert.deepEqual(options(made, 'net-vip-10.5.0.200'), { 'virtual-ip': '10.5.0.200', 'virtual-parents': 'a.shop,b.shop' });
  assert.deepEqual(options(made, 'net-vip-fd05::c8'), { 'virtual-ip': 'fd05::c8', 'virtual-parents': 'a.shop,b.shop' });
  assert.equal(bench.writesAfterRestart(), 0);
  // With Kube-OVN the parents are never cleared.
  for (const name of ['a', 'b']) bench.delete('pods', `shop/${name}`);
  bench.converge();
  assert.deepEqual(options(made, 'net-vip-10.5.0.200'), { 'virtual-ip': '10.5.0.200' });
});

test('the port goes with its address or its Subnet; those of Vips stay (Kube-OVN deletes them)', () => {
  const made = scene(['10.5.0.200', '10.5.0.201']);
  const { bench } = made;
  bench.put('vips', { metadata: { name: 'v1' }, spec: { subnet: 'net', namespace: 'shop', v4ip: '10.5.0.77' } });
  bench.converge();
  bench.edit('subnets', 'net', { vips: ['10.5.0.201'] });
  bench.converge();
  assert.deepEqual(
    ['net-vip-10.5.0.200', 'net-vip-10.5.0.201', 'v1'].map((port) => bench.row('Logical_Switch_Port', port) !== undefined),
    [false, true, true],
  );
  bench.delete('vips', 'v1');
  bench.delete('subnets', 'net');
  bench.converge();
  assert.deepEqual([bench.object('subnets', 'net'), bench.row('Logical_Switch_Port', 'net-vip-10.5.0.201')], [undefined, undefined]);
});

test('a port that Kube-OVN made is adopted with its UUID', () => {
  const made = new PodScene();
  const { bench } = made;
  made.subnet('net', { cidrBlock: '10.5.0.0/24', namespaces: ['shop'] });
  bench.converge();
  const uuid = '22222222-2222-4222-8222-222222222222';
  const [parent] = [...bench.northbound.table('Logical_Switch')].find(([, row]) => row['name'] === 'net') ?? assert.fail();
  bench.foreignRow(
    'Logical_Switch_Port',
    uuid,
    {
      ...{
        name: 'net-vip-10.5.0.200',
        type: 'virtual',
        external_ids: new Map([
          ['vendor', 'kube-ovn'],
          ['ls', 'net'],
        ]),
      },
      options: new Map([
        ['virtual-ip', '10.5.0.200'],
        ['virtual-parents', 'gone.shop'],
      ]),
    },
    { table: 'Logical_Switch', uuid: parent, column: 'ports' },
  );
  bench.edit('subnets', 'net', { vips: ['10.5.0.200'] });
  bench.converge();
  assert.deepEqual(options(made, 'net-vip-10.5.0.200'), { 'virtual-ip': '10.5.0.200' });
  assert.ok([...bench.northbound.table('Logical_Switch_Port').keys()].map(String).includes(uuid));
});

test('a pod whose port would have that name makes way', () => {
  const made = scene(['10.5.0.200']);
  made.subnet('of-200', { cidrBlock: '10.6.0.0/24', namespaces: ['200'] });
  made.namespace('200');
  made.pod('net-vip-10.5.0', { namespace: '200' });
  made.bench.converge();
  assert.equal(made.bench.condition('pods', '200/net-vip-10.5.0', 'kiln.io/NetworkBound')?.reason, 'NameTaken');
  assert.equal(made.bench.externalIds('Logical_Switch_Port', 'net-vip-10.5.0.200')['kiln.io/owner'], 'subnet//net');
});
