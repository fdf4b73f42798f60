/** Names of the node's interface and of the bridge, and VLAN interfaces of the node: wherever the agent dies, the next one ends at the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostLink } from '../../../agent/world/device-network.ts';
import { BARE, networkOf, NONE, OWN, UnderlayScene } from './testing/underlay-scene.ts';

const PREFIX = 'net1.provider-network.kubernetes.io/';
const ERROR = `${PREFIX}err_mesg`;
const EXCHANGED = { exchangeLinkName: true };
const VLAN: HostLink = {
  ...BARE,
  type: 'vlan',
  mac: '02:00:00:00:00:aa',
  mtu: 1400,
  vlan: { parent: 'eth1', tag: 30 },
  addresses: ['10.30.0.2/24', 'fd30::2/64'],
  routes: ['10.31.0.0/16 via 10.30.0.1'],
};

function scene(spec: object, more: Readonly<Record<string, HostLink>> = {}): UnderlayScene {
  const made = new UnderlayScene(spec);
  made.world.hostLinks.set('eth1', { ...BARE, ...OWN });
  for (const [name, link] of Object.entries(more)) made.world.hostLinks.set(name, link);
  return made;
}

/** Every device of the node. */
function links({ world }: UnderlayScene): Readonly<Record<string, HostLink>> {
  return Object.fromEntries([...world.hostLinks.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Runs `body` with an agent that dies after each number of lines, and with one that does not die. */
function forEachDeath(lines: number, body: (linesToDeath: number) => void): void {
  for (const at of [Infinity, ...Array.from({ length: lines + 1 }, (_, i) => i)]) body(at);
}

test('exchangeLinkName: the bridge has the name of the interface, with its addresses, and each gets its own back; the agent may die anywhere', () => {
  for (const renamesLive of [true, false]) {
    forEachDeath(16, (linesToDeath) => {
      const made = scene(EXCHANGED);
      const before = links(made);
      Object.assign(made, { renamesLive, linesToDeath });
      made.settle();
      const why = `${renamesLive ? 'live' : 'down'}, dead after ${linesToDeath}`;
      assert.equal(made.world.hostLinks.get('eth1')?.type, 'openvswitch', why);
      assert.deepEqual([networkOf(made.link('eth1')), networkOf(made.link('br-net1')), made.link('br-net1').up], [OWN, NONE, true], why);
      assert.equal(made.world.settings.get('ovn-bridge-mappings'), 'net1:eth1', why);
      assert.deepEqual([...made.world.ports.keys()], ['br-net1']);
      const labels = { [`${PREFIX}ready`]: 'true', [`${PREFIX}interface`]: 'eth1', [`${PREFIX}mtu`]: '1500' };
      assert.deepEqual(made.state().labels, labels, why);

      made.linesToDeath = linesToDeath;
      made.world.providerNetworks.delete('net1');
      made.settle();
      assert.deepEqual(links(made), before, `back: ${why}`);
      assert.equal(made.world.settings.get('kiln.io/taken-interfaces'), undefined, 'no record is left');
    });
  }
});

/** The first of a network is the primary one. */
const ORDERED = {
  addresses: [
    '172.18.0.9/16 brd 172.18.255.255 label :7',
    '10.9.0.1/24',
    '172.18.0.2/16',
    '172.18.0.5/16 label :1',
    'fd00::9/64',
    'fd00::2/64',
  ],
  routes: OWN.routes,
};

test('the order of addresses and their labels are the same on the bridge, and on the interface again; the agent may die anywhere', () => {
  for (const spec of [{}, EXCHANGED])
    for (const renamesLive of [true, false])
      forEachDeath(26, (linesToDeath) => {
        const made = scene(spec, { eth1: { ...BARE, ...ORDERED } });
        const before = links(made);
        Object.assign(made, { renamesLive, linesToDeath });
        made.settle();
        const why = `${JSON.stringify(spec)} ${renamesLive ? 'live' : 'down'}, dead after ${linesToDeath}`;
        assert.deepEqual(networkOf(made.link(made.of('provider-bridge')[0]?.name ?? '')), ORDERED, why);
        assert.equal(made.state().labels?.[`${PREFIX}ready`], 'true', why);
        made.linesToDeath = linesToDeath;
        made.world.providerNetworks.delete('net1');
        made.settle();
        assert.deepEqual(links(made), before, `back: ${why}`);
      });
});

test('an address that another program took from the bridge is in its place again: a primary one, before those that were promoted', () => {
  const made = scene({}, { eth1: { ...BARE, ...ORDERED } });
  made.settle();
  for (const left of [ORDERED.addresses.slice(1), ORDERED.addresses.slice(2), ORDERED.addresses.toSpliced(3, 1), []]) {
    made.world.hostLinks.set('br-net1', { ...made.link('br-net1'), addresses: left });
    made.settle();
    const { addresses, routes } = made.link('br-net1');
    const four = (texts: readonly string[]): readonly string[] => texts.filter((one) => !one.startsWith('fd'));
    assert.deepEqual(
      four(addresses).filter((one) => one !== '10.9.0.1/24'),
      four(ORDERED.addresses).filter((one) => one !== '10.9.0.1/24'),
    );
    assert.deepEqual([addresses.toSorted(), routes], [ORDERED.addresses.toSorted(), ORDERED.routes], left.join());
  }
});

test('a label that would be too long on the bridge is told before anything is moved', () => {
  const made = scene({}, { eth1: { ...BARE, addresses: ['172.18.0.2/16 label :12345678'] } });
  assert.deepEqual(made.settle(), []);
  assert.match(
    made.state().annotations[ERROR] ?? '',
    /has address 172\.18\.0\.2\/16 with a label that would be br-net1:12345678 there, which a move/,
  );
  const exchanged = scene(EXCHANGED, { eth1: { ...BARE, addresses: ['172.18.0.2/16 label :12345678'] } });
  exchanged.settle();
  assert.deepEqual(exchanged.link('eth1').addresses, ['172.18.0.2/16 label :12345678']);
});

test('exchangeLinkName: a device that stays with the name, as ovs-vswitchd is dead, does not keep the interface from it', () => {
  for (const deviceType of ['tun', 'openvswitch'])
    for (const isGone of [false, true])
      forEachDeath(16, (linesToDeath) => {
        const made = scene(EXCHANGED);
        made.deviceType = deviceType;
        const before = links(made);
        made.settle();
        made.switchIsDead = true;
        if (isGone) made.world.hostLinks.delete('eth1');
        made.linesToDeath = linesToDeath;
        made.world.providerNetworks.delete('net1');
        made.settle();
        // The kernel's own goes when ovs-vswitchd comes back.
        made.world.hostLinks.delete('kiln-old0');
        const why = `${deviceType} ${isGone ? 'gone' : 'stays'}, dead after ${linesToDeath}`;
        assert.deepEqual([links(made), made.world.bridges.has('eth1')], [before, false], why);
        assert.equal(made.world.settings.get('kiln.io/taken-interfaces'), undefined, why);
      });
  // A device of another program that has the name is not the bridge's.
  const made = scene(EXCHANGED);
  made.settle();
  made.world.providerNetworks.delete('net1');
  made.world.bridges.delete('eth1');
  made.world.hostLinks.set('eth1', { ...BARE, type: 'tun', mac: '02:00:00:00:00:77' });
  made.settle();
  assert.equal(made.link('eth1').mac, '02:00:00:00:00:77');
});

test('exchangeLinkName: the bridge is deleted by hand as the network goes: its device gives back what it has before it goes', () => {
  const made = scene(EXCHANGED);
  made.deviceType = 'tun';
  const before = links(made);
  made.settle();
  made.switchIsDead = true;
  made.world.bridges.delete('eth1');
  made.world.ports.delete('br-net1');
  made.world.providerNetworks.delete('net1');
  made.run(made.lines());
  assert.deepEqual(networkOf(made.link('br-net1')), OWN);
  made.settle();
  assert.deepEqual(links(made), before);
});

test('a name that could not be given for another reason than "busy" takes no interface down', () => {
  const made = scene(EXCHANGED);
  for (let round = 0; round < 2; round++) made.carryOut();
  made.world.failures.set('rename br-net1', 'ip: Cannot find device "br-net1"');
  assert.deepEqual(made.lines(), ['link set dev eth1 name br-net1']);
  made.world.failures.set('rename br-net1', 'ip: RTNETLINK answers: Device or resource busy');
  assert.equal(made.lines()[0], 'link set dev eth1 down');
});

test('a bridge, a device or a mapping of another program with the names of the network: told, and nothing is changed', () => {
  const foreign = { datapathType: 'system', externalIds: { owner: 'neutron' }, foreign: true } as const;
  const its = { ...BARE, mac: '02:00:00:00:00:77', addresses: ['10.0.0.1/24'] };
  for (const [spec, name, prepare, message] of [
    [
      {},
      'br-net1',
      (made: UnderlayScene) => made.world.bridges.set('br-net1', foreign),
      /^node node-1 has a bridge br-net1 of another program; ovs-vsctl list bridge br-net1$/,
    ],
    [
      EXCHANGED,
      'eth1',
      (made: UnderlayScene) => made.world.bridges.set('eth1', foreign),
      /^node node-1 has a bridge eth1 of another program/,
    ],
    [
      {},
      'br-net1',
      (): void => {},
      /^node node-1 has a device br-net1 of another program, and the bridge would get that name; ip link show br-net1$/,
    ],
    [
      {},
      'dummy0',
      (made: UnderlayScene) => made.world.settings.set('ovn-bridge-mappings', 'other:br-o,net1:br-theirs'),
      /^another program mapped network net1 of node node-1 to bridge br-theirs; ovs-vsctl get open_vswitch/,
    ],
  ] as const) {
    const made = scene(spec, name === 'eth1' ? {} : { [name]: its });
    prepare(made);
    const before = [links(made), [...made.world.bridges.entries()]];
    assert.deepEqual([made.settle(), made.kinds()], [[], ''], String(message));
    assert.deepEqual([links(made), [...made.world.bridges.entries()]], before);
    assert.match(made.state().annotations[ERROR] ?? '', message);
    assert.equal(made.state().labels?.[`${PREFIX}ready`], undefined);
  }
  // It comes after the bridge was deleted by hand: the interface has its addresses again.
  const made = scene({});
  const before = links(made);
  made.settle();
  made.world.ports.delete('eth1');
  made.world.bridges.set('br-net1', foreign);
  made.world.hostLinks.set('br-net1', its);
  made.settle();
  assert.deepEqual(links(made), { ...before, 'br-net1': its });
});

test('a ProviderNetwork named int would take the bridge of OVN: the node says so', () => {
  const made = scene({});
  made.world.providerNetworks.delete('net1');
  made.network('int');
  made.world.bridges.set('br-int', { datapathType: 'system', externalIds: { vendor: 'kube-ovn' } });
  const [patch] = made.of('object-metadata');
  assert.match(
    Object.values(patch?.annotations ?? {}).join(),
    /^bridge br-int of ProviderNetwork int would be the bridge of OVN; create a ProviderNetwork/,
  );
  assert.equal(made.kinds(), '');
});

test('a device that Open vSwitch cannot open is not its own: nothing is moved there', () => {
  const made = scene({});
  for (let round = 0; round < 3; round++) made.carryOut();
  made.world.ports.set('br-net1', { externalIds: {}, error: 'could not open network device br-net1 (Device or resource busy)' });
  assert.deepEqual(made.lines(), []);
  assert.match(made.state().annotations[ERROR] ?? '', /^Open vSwitch cannot make device br-net1: could not open/);
});

test('exchangeLinkName: after a start of the node the interface has its own name again, beside the bridge in the database', () => {
  const made = scene(EXCHANGED);
  made.settle();
  made.world.hostLinks.delete('br-net1');
  made.world.hostLinks.set('eth1', { ...BARE, ...OWN });
  made.settle();
  assert.deepEqual([networkOf(made.link('eth1')), networkOf(made.link('br-net1')), made.link('eth1').type], [OWN, NONE, 'openvswitch']);
});

test('a network that is turned off or on again while lines for it run ends with all that the interface had', () => {
  const preserved = { preserveVlanInterfaces: true };
  for (const spec of [{}, EXCHANGED, preserved, { ...EXCHANGED, ...preserved }])
    for (const turned of ['off', 'off and on', 'on'])
      for (let steps = 0; steps < 6; steps++) {
        const made = scene(spec, { 'eth1.30': VLAN });
        const before = links(made);
        const why = `${JSON.stringify(spec)} ${turned} after ${steps}`;
        if (turned === 'on') {
          made.settle();
          made.world.providerNetworks.delete('net1');
        }
        const rounds = (most: number): void => {
          for (let round = 0; round < most; round++) made.carryOut();
        };
        for (let step = 0; step < steps; step++) made.overlap(() => rounds(1));
        made.overlap(() => {
          if (turned === 'on') made.network('net1', spec);
          else made.world.providerNetworks.delete('net1');
          rounds(6);
          if (turned === 'off and on') made.network('net1', spec);
        });
        made.settle();
        if (turned === 'on') assert.match(made.kinds(), /net1:/, why);
        made.world.providerNetworks.delete('net1');
        made.settle();
        assert.deepEqual(links(made), before, why);
        assert.equal(made.world.settings.get('kiln.io/taken-interfaces'), undefined, why);
      }
});

test('names, the interface of a node and its exclusion can be changed: what there is is given back first', () => {
  const made = scene({}, { eth2: { ...BARE, mac: '02:00:00:00:00:02', addresses: ['172.19.0.2/16'] } });
  const before = links(made);
  made.settle();
  for (const [spec, bridge] of [
    [EXCHANGED, 'eth1'],
    [{}, 'br-net1'],
    [EXCHANGED, 'eth1'],
    [{ customInterfaces: [{ interface: 'eth2', nodes: ['node-1'] }] }, 'br-net1'],
    [{ customInterfaces: [{ interface: 'eth2', nodes: ['node-1'] }], ...EXCHANGED }, 'eth2'],
    [{}, 'br-net1'],
  ] as const) {
    made.network('net1', spec);
    made.settle();
    const why = JSON.stringify(spec);
    const isSecond = 'customInterfaces' in spec;
    assert.equal(made.world.settings.get('ovn-bridge-mappings'), `net1:${bridge}`, why);
    assert.deepEqual(networkOf(made.link(bridge)), isSecond ? { addresses: ['172.19.0.2/16'], routes: [] } : OWN, why);
    assert.equal(made.state().labels?.[`${PREFIX}interface`], isSecond ? 'eth2' : 'eth1', why);
    const other = isSecond ? 'eth1' : 'eth2';
    assert.deepEqual(made.link(other), before[other], `${why}: the other interface is as it was`);
  }
  made.network('net1', { ...EXCHANGED, excludeNodes: ['node-1'] });
  made.settle();
  assert.deepEqual(links(made), before);
  assert.equal(made.state().labels?.[`${PREFIX}exclude`], 'true');
});

test('exchangeLinkName: a device that has the name already is left alone, and the node says so', () => {
  const made = scene(EXCHANGED, { 'br-net1': BARE });
  const before = links(made);
  made.settle();
  assert.deepEqual(links(made), before);
  assert.match(
    made.state().annotations[ERROR] ?? '',
    /^node node-1 has an interface br-net1 already, and eth1 would get that name; ip link show/,
  );
});

test('N48 a VLAN interface of the node goes to the bridge by its name, and back; another one stays; the agent may die anywhere', () => {
  const name = 'eth1.30';
  for (const exchanged of [{}, EXCHANGED])
    forEachDeath(30, (linesToDeath) => {
      const foreign: HostLink = { ...VLAN, vlan: { parent: 'eth0', tag: 30 }, routes: [] };
      const spec = { preserveVlanInterfaces: true, vlanInterfaces: ['storage', 'gone'], ...exchanged };
      const storage: HostLink = { ...VLAN, vlan: { parent: 'eth1', tag: 40 }, addresses: ['10.40.0.2/24'], routes: [] };
      const other: HostLink = { ...VLAN, vlan: { parent: 'eth1', tag: 50 }, ...NONE };
      const made = scene(spec, { 'eth0.30': foreign, [name]: VLAN, storage, unnamed: other });
      const before = links(made);
      made.linesToDeath = linesToDeath;
      made.settle();
      const why = `dead after ${linesToDeath}`;
      const bridge = made.of('provider-bridge')[0]?.name ?? '';
      assert.deepEqual(made.link(name), { ...VLAN, vlan: { parent: bridge, tag: 30 } }, why);
      assert.deepEqual(made.link('storage'), { ...storage, vlan: { parent: bridge, tag: 40 } }, why);
      assert.deepEqual(made.link('unnamed').vlan?.tag, 50);
      assert.deepEqual(made.of('uplink-port')[0]?.trunks, [0, 10, 30, 40], why);
      assert.equal(made.state().labels?.[`${PREFIX}vlan_interfaces`], 'true', why);

      made.linesToDeath = linesToDeath;
      made.network('net1', { ...spec, excludeNodes: ['node-1'] });
      made.settle();
      assert.deepEqual(links(made), before, `back: ${why}`);
    });
});

test('N47, N48 a bridge that is deleted by hand takes VLAN interfaces with it: they are made again, on the bridge or on the interface', () => {
  for (const deleted of [false, true]) {
    const made = scene({ preserveVlanInterfaces: true }, { 'eth1.30': VLAN });
    const before = links(made);
    made.settle();
    made.world.bridges.delete('br-net1');
    made.world.ports.delete('eth1');
    made.world.hostLinks.delete('br-net1');
    made.world.hostLinks.delete('eth1.30');
    if (deleted) made.world.providerNetworks.delete('net1');
    made.settle();
    if (deleted) assert.deepEqual(links(made), before);
    else assert.deepEqual(made.link('eth1.30'), { ...VLAN, vlan: { parent: 'br-net1', tag: 30 } });
  }
});

test('a network that no longer preserves VLAN interfaces, while one goes to its bridge, gives it back', () => {
  for (let steps = 0; steps < 8; steps++) {
    const made = scene({ preserveVlanInterfaces: true }, { 'eth1.30': VLAN });
    const rounds = (most: number): void => {
      for (let round = 0; round < most; round++) made.carryOut();
    };
    for (let step = 0; step < steps; step++) made.overlap(() => rounds(1));
    made.overlap(() => {
      made.network('net1', {});
      rounds(3);
    });
    made.settle();
    assert.deepEqual(made.link('eth1.30'), VLAN, `after ${steps}`);
  }
});

test('VLAN interfaces stay where they are unless the network preserves them, and are there again when it no longer does', () => {
  const made = scene({}, { 'eth1.30': VLAN });
  made.settle();
  assert.deepEqual(made.link('eth1.30'), VLAN);
  assert.equal(made.state().labels?.[`${PREFIX}vlan_interfaces`], undefined);
  made.network('net1', { preserveVlanInterfaces: true });
  made.settle();
  assert.equal(made.link('eth1.30').vlan?.parent, 'br-net1');
  made.network('net1', {});
  made.settle();
  assert.deepEqual(made.link('eth1.30'), VLAN);
  assert.deepEqual(made.of('uplink-port')[0]?.trunks, [0, 10]);
  assert.equal(made.of('provider-bridge')[0]?.externalIds['kiln.io/vlan-interfaces'] ?? '[]', '[]');
});

test('a VLAN interface of the network is made if it is missing, again after a start of the node, and goes with the network', () => {
  for (const exchanged of [{}, EXCHANGED]) {
    const made = scene({ defaultInterface: 'eth1.100', autoCreateVlanSubinterfaces: true, ...exchanged });
    const before = links(made);
    made.settle();
    const port = made.of('uplink-port')[0]?.name ?? '';
    assert.deepEqual(made.link(port).vlan, { parent: 'eth1', tag: 100 });
    assert.equal(made.state().labels?.[`${PREFIX}interface`], 'eth1.100');
    assert.deepEqual(made.link('eth1'), before['eth1'], 'the interface below keeps all it has');

    made.world.hostLinks.delete(port);
    made.settle();
    assert.deepEqual(made.link(port).vlan, { parent: 'eth1', tag: 100 });
    made.world.providerNetworks.delete('net1');
    made.settle();
    assert.deepEqual(links(made), before);
  }
});

test('a VLAN interface that exists is used as it is, and stays; one that cannot be made is reported', () => {
  const made = scene({ defaultInterface: 'eth1.30', autoCreateVlanSubinterfaces: true }, { 'eth1.30': VLAN });
  const before = links(made);
  made.settle();
  assert.deepEqual([...made.world.ports.keys()], ['eth1.30']);
  made.world.providerNetworks.delete('net1');
  made.settle();
  assert.deepEqual(links(made), before);

  for (const [uplink, auto, message] of [
    ['eth9.30', true, /has no interface eth9, on which eth9\.30 would be made/],
    ['eth1.5000', true, /eth1\.5000, and it is not made: it is not named <interface>\.<1 to 4094>/],
    ['eth9', true, /has no interface eth9, and it is not made/],
    ['eth1.31', false, /^node node-1 has no interface eth1\.31; kubectl edit/],
  ] as const) {
    const one = scene({ defaultInterface: uplink, autoCreateVlanSubinterfaces: auto });
    assert.match(one.state().annotations[ERROR] ?? '', message);
    assert.deepEqual(one.settle(), []);
  }
  const failing = scene({ defaultInterface: 'eth1.31', autoCreateVlanSubinterfaces: true });
  failing.world.failures.set('vlan eth1.31', 'ip: Error: Unknown device type.');
  assert.equal(failing.state().annotations[ERROR], 'ip: Error: Unknown device type.');
});
