/** Ports in a real Open_vSwitch database: ours are made, repaired and collected, and rows of other programs stay. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { insertNamed, mapSet, mutateDelete, mutateInsert, type Operation, OvsdbSession, type Row, update } from '../../ovsdb/index.ts';
import { OvsdbServerProcess } from '../../ovsdb/testing/ovsdb-server-process.ts';
import { SILENT } from '../../runtime/log.ts';
import { until } from '../../testing/until.ts';
import { systemClock } from '../../timing/clock.ts';
import { Retries } from '../retries.ts';
import type { DeviceName } from '../world/attachment.ts';
import { NodeWorld } from '../world/node-world.ts';
import type { PortOutput } from '../world/outputs.ts';
import { VSWITCH_TABLES, VswitchTarget } from './vswitch-target.ts';

const SCHEMA = '/usr/share/openvswitch/vswitch.ovsschema';
const skip = !existsSync(SCHEMA) && 'Open vSwitch is not installed';
const BRIDGE = { kind: 'bridge', name: 'br-int', datapathType: 'netdev' } as const;

let server: OvsdbServerProcess;
before(async () => {
  if (skip === false) server = await OvsdbServerProcess.start({ schemaFile: SCHEMA });
});
after(async () => {
  if (skip === false) await server.stop();
});

function session(): OvsdbSession {
  return new OvsdbSession({ endpoints: [server.unix], database: 'Open_vSwitch', tables: VSWITCH_TABLES });
}

/** A target without rules: outputs are added by hand. */
class Scene {
  readonly world = new NodeWorld();
  readonly session = session();
  readonly target: VswitchTarget;

  constructor() {
    const wake = (): void => {};
    const retries = new Retries(systemClock, this.world, wake);
    this.target = new VswitchTarget({ session: this.session, world: this.world, retries, log: SILENT, wake });
  }

  async start(): Promise<void> {
    this.target.start();
    await this.session.untilSynced();
  }

  async converge(): Promise<void> {
    await until('it is quiet', () => {
      this.target.flush();
      return Promise.resolve(this.target.quiet);
    });
  }

  names(): readonly string[] {
    return Array.from(this.session.replica.table('Interface').values(), (row) => String(row['name'])).toSorted();
  }
}

function port(name: string, container: string, logicalPort = 'web.default'): PortOutput {
  const externalIds = {
    'iface-id': logicalPort,
    vendor: 'kube-ovn',
    'kiln.io/container': container,
    'kiln.io/interface': 'eth0',
    pod_netns: '/run/netns/a',
    'kiln.io/routes': '[{"dst":"10.9.0.0/16","gw":"10.16.0.254"},{"dst":7}]',
  };
  return { kind: 'port', name: name as DeviceName, bridge: 'br-int', externalIds };
}

test('ports are made, repaired, found again after a restart, and collected; rows of others stay', { skip }, async () => {
  const other = session();
  other.start();
  await other.untilSynced();
  const change = async (operations: readonly Operation[]): Promise<void> => assert.ok((await other.transact(operations)).ok);
  await change([{ op: 'insert', table: 'Open_vSwitch', row: {} }]);

  const first = new Scene();
  await first.start();
  const web = port('aaa_h', 'aaa');
  first.target.desired.add(BRIDGE);
  first.target.desired.add(web);
  first.target.desired.add({ kind: 'settings', externalIds: { 'ovn-encap-type': 'geneve' } });
  await first.converge();
  assert.deepEqual(first.names(), ['aaa_h', 'br-int']);
  assert.equal(first.world.settings.peek('ovn-encap-type'), 'geneve');
  assert.equal(first.world.ports.peek('aaa_h')?.externalIds['iface-id'], 'web.default');

  // Another program adds a port of its own, takes a key of ours, and adds one.
  const named = (table: string, name: string): Row | undefined =>
    Array.from(other.replica.table(table).values()).find((row) => row['name'] === name);
  await until('the other program sees them', () => Promise.resolve(named('Interface', 'aaa_h') !== undefined));
  const [bridge, ours] = [named('Bridge', 'br-int'), named('Interface', 'aaa_h')];
  assert.ok(bridge && ours);
  await change([
    insertNamed('Interface', { name: 'theirs', external_ids: { vendor: 'neutron' } }, 'i'),
    insertNamed('Port', { name: 'theirs', interfaces: ['i'] }, 'p'),
    mutateInsert('Bridge', bridge._uuid, 'ports', ['p']),
    mutateDelete('Interface', ours._uuid, 'external_ids', ['iface-id']),
    mutateInsert('Interface', ours._uuid, 'external_ids', { 'ovn-installed': 'true' }),
  ]);
  await until('the key is back', async () => {
    await first.converge();
    const ids = first.world.ports.peek('aaa_h')?.externalIds;
    return ids?.['ovn-installed'] === 'true' && ids['iface-id'] === 'web.default';
  });

  // A name that another program has.
  const taken = port('theirs', 'ccc', 'other.default');
  first.target.desired.add(taken);
  first.target.flush();
  assert.match(first.world.failures.peek('port theirs') ?? '', /another program is named theirs/);
  assert.equal(first.world.ports.peek('theirs')?.externalIds['vendor'], 'neutron');
  first.target.desired.remove(taken);
  await first.converge();
  await first.target.stop();

  // The next process knows the attachment, and writes nothing for it. A later sandbox of the pod takes the logical port over.
  const second = new Scene();
  await second.start();
  assert.deepEqual(
    Array.from(second.world.attachments.entries(), ([key, { namespacePath, routes }]) => [key, namespacePath, routes]),
    [['aaa/eth0', '/run/netns/a', [{ dst: '10.9.0.0/16', gw: '10.16.0.254' }]]],
  );
  second.target.desired.add(BRIDGE);
  second.target.desired.add({ kind: 'retained-port', name: 'aaa_h' as DeviceName });
  assert.deepEqual(second.target.plan(), []);
  second.target.desired.add(port('bbb_h', 'bbb'));
  await second.converge();
  assert.equal(second.world.ports.peek('bbb_h')?.externalIds['iface-id'], 'web.default');
  assert.equal(second.world.ports.peek('aaa_h')?.externalIds['iface-id'], undefined);

  // What no rule emits is collected, but for the bridge and rows of others.
  second.target.desired.remove({ kind: 'retained-port', name: 'aaa_h' as DeviceName });
  const [retained] = second.target.desired.of('port aaa_h');
  if (retained !== undefined) second.target.desired.remove(retained);
  for (const output of second.target.desired.of('port bbb_h')) second.target.desired.remove(output);
  await second.converge();
  await until('they are gone', async () => {
    await second.converge();
    return second.names().join() === 'br-int,theirs';
  });
  await second.target.stop();
  await other.close();
});

test(
  'T40: limits and the mirror of a port: made, changed in place, taken away, and collected with the port; rows of others stay',
  { skip },
  async (t) => {
    const scene = new Scene();
    t.after(() => scene.target.stop());
    await scene.start();
    const { replica } = scene.session;
    const other = await scene.session.transact([
      { op: 'insert', table: 'QoS', row: { type: 'linux-htb', external_ids: { 'iface-id': 'theirs' } } },
    ]);
    assert.ok(other.ok);
    const rows = (table: string): readonly Row[] => Array.from(replica.table(table).values());
    const qos = (): readonly unknown[] =>
      rows('QoS')
        .filter(({ type }) => type !== '')
        .map(({ type, other_config }) => [type, Object.fromEntries(other_config as ReadonlyMap<string, string>)]);
    const queues = (): readonly unknown[] =>
      rows('Queue').map(({ other_config }) => Object.fromEntries(other_config as ReadonlyMap<string, string>));
    const theirs = ['linux-htb', {}];
    const has = (row: readonly unknown[]): void => {
      for (const one of [theirs, row]) assert.ok(qos().some((present) => isDeepStrictEqual(present, one)));
      assert.equal(qos().length, 2);
    };

    const web = port('qqq_h', 'qqq', 'limits.default');
    let present: PortOutput | undefined;
    const want = async (output: PortOutput | undefined): Promise<void> => {
      if (present !== undefined) scene.target.desired.remove(present);
      if (output !== undefined) scene.target.desired.add(output);
      present = output;
      await scene.converge();
      await until('it is written', async () => {
        await scene.converge();
        return scene.target.plan().length === 0;
      });
    };
    scene.target.desired.add(BRIDGE);
    const mirror0 = { ...port('mirror0', ''), type: 'internal', externalIds: { vendor: 'kube-ovn', 'kiln.io/node': 'node-1' } } as const;
    scene.target.desired.add(mirror0);
    scene.target.desired.add({ kind: 'mirror', name: 'm0', bridge: 'br-int', port: 'mirror0' as DeviceName });
    await want(web);
    assert.deepEqual(qos(), [theirs]);
    const selected = (): readonly unknown[] =>
      rows('Mirror').map((row) => [
        row['name'],
        (row['select_src_port'] as Set<string>).size,
        (row['select_dst_port'] as Set<string>).size,
      ]);
    assert.deepEqual(selected(), [['m0', 0, 0]]);

    await want({ ...web, policing: { rate: 1000, burst: 800 }, queue: { kind: 'rate', rate: 2_000_000, burst: 200_000 }, mirrored: true });
    has(['linux-htb', { 'max-rate': '2000000' }]);
    assert.deepEqual(queues(), [{ 'max-rate': '2000000', burst: '200000' }]);
    assert.deepEqual(selected(), [['m0', 1, 1]]);
    const policed = rows('Interface').find((row) => row['name'] === 'qqq_h');
    assert.deepEqual([policed?.['ingress_policing_rate'], policed?.['ingress_policing_burst']], [1000, 800]);

    await want({ ...web, queue: { kind: 'impairment', latency: 600_000, jitter: 0, limit: 0, loss: 1.5 } });
    has(['linux-netem', { latency: '600000', loss: '1.5' }]);
    assert.deepEqual([queues(), selected()], [[], [['m0', 0, 0]]]);
    assert.equal(rows('Interface').find((row) => row['name'] === 'qqq_h')?.['ingress_policing_rate'], 0);

    await want(web);
    assert.deepEqual(qos(), [theirs]);

    for (const rate of [2_000_000, 5_000_000]) {
      await want({ ...web, queue: { kind: 'rate', rate, burst: 0 } });
      assert.deepEqual(queues(), [{ 'max-rate': String(rate) }]);
    }
    await want(web);
    assert.deepEqual([qos(), queues()], [[theirs], []]);

    // A port that goes takes its rows with it.
    await want({ ...web, queue: { kind: 'rate', rate: 2_000_000, burst: 0 } });
    assert.deepEqual(queues(), [{ 'max-rate': '2000000' }]);
    await want(undefined);
    await until('they are gone', () => Promise.resolve(queues().length === 0));
    assert.deepEqual(qos(), [theirs]);
  },
);

test('networks of the node: entries of other programs stay, ours follow and go, with the MAC addresses of routers', { skip }, async () => {
  const scene = new Scene();
  await scene.start();
  const [row] = scene.session.replica.table('Open_vSwitch').values();
  assert.ok(row);
  const of = (key: string): unknown => {
    const [now] = scene.session.replica.table('Open_vSwitch').values();
    return now?.['external_ids'] instanceof Map ? now['external_ids'].get(key) : undefined;
  };
  const keys = { 'ovn-bridge-mappings': 'theirs:br-theirs', 'ovn-chassis-mac-mappings': 'theirs:02:00:00:00:00:99' };
  await scene.session.transact([mapSet('Open_vSwitch', row._uuid, 'external_ids', keys)]);
  const first = { kind: 'bridge-mappings', bridges: { net1: 'br-net1' }, macs: { net1: '06:00:00:00:00:01' }, taken: {} } as const;
  scene.target.desired.add(first);
  await scene.converge();
  assert.equal(of('ovn-bridge-mappings'), 'theirs:br-theirs,net1:br-net1');
  assert.equal(of('ovn-chassis-mac-mappings'), 'theirs:02:00:00:00:00:99,net1:06:00:00:00:00:01');
  // Its interface is not seen now: it keeps its address.
  scene.target.desired.remove(first);
  const second = {
    ...first,
    macs: {},
    taken: { net1: { original: 'eth1', name: 'eth1', vlans: [], addresses: ['10.0.0.2/24'], routes: [] } },
  };
  scene.target.desired.add(second);
  await scene.converge();
  assert.equal(of('ovn-chassis-mac-mappings'), 'theirs:02:00:00:00:00:99,net1:06:00:00:00:00:01');
  assert.match(String(of('kiln.io/taken-interfaces')), /"addresses":\["10\.0\.0\.2\/24"\]/);
  scene.target.desired.remove(second);
  scene.target.desired.add({ ...first, bridges: {}, macs: {} });
  await scene.converge();
  assert.deepEqual([of('ovn-bridge-mappings'), of('ovn-chassis-mac-mappings')], Object.values(keys));
  assert.equal(of('kiln.io/taken-interfaces'), undefined);
  await scene.target.stop();
});

test(
  'a bridge of another program is observed as such, gets no interface, and stays; a mark that was cleared comes back',
  { skip },
  async () => {
    const scene = new Scene();
    await scene.start();
    const { session: client, target, world } = scene;
    const [row] = client.replica.table('Open_vSwitch').values();
    assert.ok(row);
    await client.transact([
      insertNamed('Interface', { name: 'br-net7', type: 'internal' }, 'i'),
      insertNamed('Port', { name: 'br-net7', interfaces: ['i'] }, 'p'),
      insertNamed('Bridge', { name: 'br-net7', ports: ['p'], external_ids: { owner: 'neutron' } }, 'b'),
      mutateInsert('Open_vSwitch', row._uuid, 'bridges', ['b']),
    ]);
    await until('it is seen', () => Promise.resolve(world.bridges.peek('br-net7')?.foreign === true));
    const bridge = { kind: 'provider-bridge', datapathType: 'netdev', mac: '02:00:00:00:00:01', externalIds: {} } as const;
    const theirs = { ...bridge, name: 'br-net7', network: 'net7' };
    const uplink = { kind: 'uplink-port', name: 'eth7' as DeviceName, bridge: 'br-net7', network: 'net7', trunks: [] } as const;
    target.desired.add(theirs);
    target.desired.add(uplink);
    target.flush();
    assert.match(world.failures.peek('bridge br-net7') ?? '', /another program is named br-net7/);
    assert.ok(!scene.names().includes('eth7'));
    target.desired.remove(theirs);
    target.desired.remove(uplink);
    await scene.converge();

    const ours = { ...bridge, name: 'br-net8', network: 'net8' };
    target.desired.add(ours);
    await scene.converge();
    const uuid = (name: string): Row['_uuid'] => {
      const found = client.replica.index('Bridge', 'name').first(name);
      assert.ok(found);
      return found._uuid;
    };
    await until('it is there', () => Promise.resolve(world.bridges.peek('br-net8') !== undefined));
    assert.equal(world.bridges.peek('br-net8')?.foreign, undefined);
    await client.transact([mutateDelete('Bridge', uuid('br-net8'), 'external_ids', ['vendor', 'kiln.io/provider-network'])]);
    await until('the marks are back', async () => {
      await scene.converge();
      return world.bridges.peek('br-net8')?.externalIds['kiln.io/provider-network'] === 'net8';
    });
    target.desired.remove(ours);
    await until('ours is gone, theirs is there', async () => {
      await scene.converge();
      return world.bridges.peek('br-net8') === undefined;
    });
    assert.deepEqual(world.bridges.peek('br-net7')?.externalIds, { owner: 'neutron' });
    await target.stop();
  },
);

test('a port whose device was lost comes again once ovs-vswitchd has seen that it went', { skip }, async (t) => {
  const scene = new Scene();
  t.after(() => scene.target.stop());
  await scene.start();
  const { session: client, target, world } = scene;
  const [row] = client.replica.table('Open_vSwitch').values();
  assert.ok(row);
  const asked = (): number => Number(client.replica.table('Open_vSwitch').get(row._uuid)?.['next_cfg']);
  const before = asked();
  const lost = port('lost_h', 'lost');
  target.desired.add(BRIDGE);
  target.desired.add(lost);
  await scene.converge();
  assert.equal(asked(), before, 'a port that comes asks nothing');
  world.devices.set('lost_h', { kind: 'absent' });
  target.desired.remove(lost);
  await scene.converge();
  assert.ok(!scene.names().includes('lost_h'));
  assert.equal(asked(), before + 1);
  target.desired.add(lost);
  for (let round = 0; round < 5; round++) {
    target.flush();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.ok(!scene.names().includes('lost_h'));
  assert.ok(!target.quiet);
  await client.transact([update('Open_vSwitch', row._uuid, { cur_cfg: asked() })]);
  await scene.converge();
  assert.ok(scene.names().includes('lost_h'));
  // The database is replaced before ovs-vswitchd said anything: the other one never had the port.
  target.desired.remove(lost);
  await scene.converge();
  assert.equal(asked(), before + 2);
  target.desired.add(lost);
  target.flush();
  assert.ok(!target.quiet);
  await client.transact([update('Open_vSwitch', row._uuid, { next_cfg: 0, cur_cfg: 0 })]);
  await scene.converge();
  assert.ok(scene.names().includes('lost_h'));
});
