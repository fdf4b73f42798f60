/** A pod's device in the kernel, with another host on its network: addresses in use, announcements and gateways. Without Open vSwitch. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Findings, makeDevice, NOTHING_FOUND } from '../../src/agent/kernel/pod-device.ts';
import { HostNetwork } from '../../src/agent/kernel/host-network.ts';
import { observeInnerEnd, podDevice } from '../../src/agent/kernel/ip-observation.ts';
import { hostPrograms, inNamespace, type Programs } from '../../src/agent/kernel/programs.ts';
import { attachmentKey, type DeviceName, hostDevice } from '../../src/agent/world/attachment.ts';
import { NodeWorld, type ObservedDevice } from '../../src/agent/world/node-world.ts';
import type { DeviceOutput } from '../../src/agent/world/outputs.ts';
import { KernelTarget } from '../../src/agent/kernel/kernel-target.ts';
import { Changes } from '../../src/agent/listing/changes.ts';
import { Retries } from '../../src/agent/retries.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { systemClock } from '../../src/timing/clock.ts';
import { NetworkNamespace } from '../../lab/node/namespace.ts';
import { whyNoPackets } from '../../lab/node/requirements.ts';
import { Underlay } from '../../lab/node/underlay.ts';
import { until } from '../../src/testing/until.ts';

const skip = whyNoPackets() ?? false;
const MAC = '00:00:00:aa:bb:01';
const ADDRESSES = ['172.18.0.50/16', 'fd18::50/64'];
const GATEWAYS = ['172.18.0.1', 'fd18::1'];

let underlay: Underlay;
/** The pod's devices have their outer end here, in a bridge with the other hosts. */
let node: NetworkNamespace;
let programs: Programs;
before(async () => {
  if (skip !== false) return;
  underlay = await Underlay.create();
  node = underlay.namespace;
  programs = {
    ...hostPrograms,
    run: (command, input) => hostPrograms.run(inNamespace(node.path, ...command), input),
    watch: (command, watching) => hostPrograms.watch(inNamespace(node.path, ...command), watching),
  };
});
after(async () => {
  if (skip === false) await underlay.delete();
});

let pods = 0;
class Pod {
  readonly namespace: NetworkNamespace;
  readonly name: DeviceName;
  readonly output: DeviceOutput;
  found: Findings = NOTHING_FOUND;

  private constructor(namespace: NetworkNamespace, output: DeviceOutput) {
    this.namespace = namespace;
    this.name = output.name;
    this.output = output;
  }

  static async create(more: Partial<DeviceOutput> = {}): Promise<Pod> {
    const namespace = await NetworkNamespace.create('pod');
    const container = `${(pods += 1)}`.padEnd(12, 'c');
    const pod = new Pod(namespace, {
      kind: 'device',
      name: hostDevice(container, 'eth0'),
      attachment: attachmentKey(container, 'eth0'),
      alias: `kiln:${container}/eth0`,
      namespacePath: namespace.path,
      innerName: 'eth0',
      mac: MAC,
      mtu: 1400,
      addresses: ADDRESSES,
      routes: [],
      checksumOffload: true,
      connected: true,
      detectsDuplicates: true,
      probeMs: 200,
      gateways: [],
      needsGateways: true,
      ...more,
    });
    // As before its port passes packets; then it does.
    await pod.make({ connected: false });
    assert.partialDeepStrictEqual(await pod.observe(), { kind: 'present', mac: MAC, mtu: 1400, up: false, addresses: [] });
    await node.run('ip', 'link', 'set', pod.name, 'master', 'underlay');
    return pod;
  }

  async observe(): Promise<ObservedDevice> {
    return podDevice(await observeInnerEnd(programs, this.namespace.path, 'eth0'), await new HostNetwork(programs).read(), this.name);
  }

  async make(more: Partial<DeviceOutput> = {}): Promise<Findings> {
    const observed = await this.observe();
    assert.ok(observed.kind !== 'no-namespace');
    const hands = { programs, host: new HostNetwork(programs) };
    const made = await makeDevice(hands, { ...this.output, ...more }, observed, { findings: this.found, prepared: false });
    this.found = made.findings;
    return this.found;
  }
}

test(
  'N38, N40: an address that another host has is not set, and its MAC address is known; once it is free, the network learns it at once',
  { skip },
  async () => {
    const other = await underlay.addOutsideHost(...(ADDRESSES as ['172.18.0.50/16', 'fd18::50/64']));
    const peer = await underlay.addOutsideHost('172.18.0.60/16', 'fd18::60/64');
    const holder = (JSON.parse(await other.run('ip', '-json', 'link', 'show', 'eth0')) as [{ address: string }])[0].address;
    const pod = await Pod.create();
    for (const address of ADDRESSES) {
      const plain = address.slice(0, address.indexOf('/'));
      assert.ok(await peer.reaches(plain));
      assert.deepEqual(await pod.make({ addresses: [address] }), { duplicates: [{ address: plain, holder }], reached: [] });
      assert.partialDeepStrictEqual(await pod.observe(), { addresses: [], tentative: [] });
    }
    await other.delete();
    assert.deepEqual(await pod.make(), NOTHING_FOUND);
    assert.partialDeepStrictEqual(await pod.observe(), { addresses: ADDRESSES, tentative: [] });
    // The peer knew the address with the other MAC address.
    await until('the peer knows the new MAC address', async () => {
      const known = await peer.run('ip', 'neighbour', 'show');
      return ['172.18.0.50', 'fd18::50'].every((address) => known.includes(`${address} dev eth0 lladdr ${MAC}`));
    });
    await Promise.all([peer.delete(), pod.namespace.delete()]);
  },
);

test('N39: an earlier sandbox of the same pod is no other host, and a live migration does not ask', { skip }, async () => {
  const earlier = await Pod.create();
  assert.deepEqual(await earlier.make(), NOTHING_FOUND);
  const later = await Pod.create();
  assert.deepEqual(await later.make(), NOTHING_FOUND);
  assert.partialDeepStrictEqual(await later.observe(), { addresses: ADDRESSES, tentative: [] });
  const migrated = await Pod.create({ mac: '00:00:00:aa:bb:01', detectsDuplicates: false });
  assert.deepEqual(await migrated.make(), NOTHING_FOUND);
  assert.partialDeepStrictEqual(await migrated.observe(), { addresses: ADDRESSES, tentative: [] });
  for (const { namespace } of [earlier, later, migrated]) await namespace.delete();
});

test('gateways of both families are asked until they answer; a second reading writes nothing', { skip }, async () => {
  const pod = await Pod.create();
  await assert.rejects(
    pod.make({ gateways: ['172.18.9.9'] }),
    /gateway 172\.18\.9\.9 does not answer on eth0; disableGatewayCheck of the Subnet starts/,
  );
  assert.deepEqual((await pod.make({ gateways: ['172.18.9.9'], needsGateways: false })).reached, []);
  // On a loaded machine one may answer too late.
  await until('both answer', async () => {
    const found = await pod.make({ gateways: GATEWAYS }).catch(() => undefined);
    return found?.reached.length === 2;
  });
  // A program in the pod sets one of its own.
  await pod.namespace.run('ip', 'address', 'add', '172.18.0.51/16', 'dev', 'eth0');
  let written = 0;
  const observed = await pod.observe();
  assert.ok(observed.kind === 'present');
  const counting: Programs = {
    ...programs,
    run: (...call) => ((written += 1), programs.run(...call)),
    converse: (...call) => ((written += 1), programs.converse(...call)),
  };
  const hands = { programs: counting, host: new HostNetwork(counting) };
  await makeDevice(hands, { ...pod.output, gateways: GATEWAYS }, observed, { findings: pod.found, prepared: false });
  assert.equal(written, 0);
  await pod.namespace.delete();
});

test('N41: no address and no route comes from the advertisement of a router', { skip }, async () => {
  const pod = await Pod.create();
  await pod.make();
  for (const [key, value] of [
    ['accept_ra', '0'],
    ['autoconf', '0'],
    ['disable_ipv6', '0'],
  ])
    assert.equal((await pod.namespace.run('sysctl', '-n', `net.ipv6.conf.eth0.${key}`)).trim(), value);
  await pod.namespace.delete();
});

test('a pair whose name another program has is not made, and both cases are told apart from one that is gone', { skip }, async () => {
  const namespace = await NetworkNamespace.create('pod');
  const seen = async (name: string): Promise<ObservedDevice> =>
    podDevice(await observeInnerEnd(programs, namespace.path, 'eth0'), await new HostNetwork(programs).read(), name);
  assert.deepEqual(await seen('taken0_h'), { kind: 'absent' });
  await node.run('ip', 'link', 'add', 'taken0_h', 'type', 'veth', 'peer', 'name', 'taken1_h');
  assert.deepEqual(await seen('taken0_h'), { kind: 'absent', taken: 'on-node' });
  await namespace.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'other');
  assert.deepEqual(await seen('free_h'), { kind: 'absent', taken: 'in-pod' });
  await node.run('ip', 'link', 'delete', 'taken0_h');
  await namespace.delete();
});

test('what another program takes from a pod that runs is noticed and mended', { skip }, async () => {
  const routes = [
    { destination: '0.0.0.0/0', gateway: '172.18.0.1' },
    { destination: '::/0', gateway: 'fd18::1' },
  ];
  // The id of a container need be no number.
  const pod = await Pod.create({ routes, name: hostDevice('Web-0.shop_1', 'eth0') });
  const peer = await underlay.addOutsideHost('172.18.0.61/16', 'fd18::61/64');
  const [world, host] = [new NodeWorld(), new HostNetwork(programs)];
  const changes = new Changes({ programs, clock: systemClock, log: SILENT });
  let isOver = false;
  const wake = (): void => void setImmediate(() => isOver || target.flush());
  const retries = new Retries(systemClock, world, wake);
  const shared = { programs, retries, changes, clock: systemClock, log: SILENT, wake };
  const target = new KernelTarget({ ...shared, world, host, removals: host });
  target.desired.add(pod.output);
  changes.start();
  target.start();
  wake();
  const isSound = async (): Promise<boolean> => {
    const shown = world.devices.peek(pod.name);
    const isSeen = shown?.kind === 'present' && shown.up && shown.routes.length === 2 && shown.mac === MAC && shown.mtu === 1_400;
    return isSeen && (await peer.reaches('172.18.0.50')) && (await peer.reaches('fd18::50'));
  };
  await until('the pod is reached', isSound);
  // The monitor listens by then.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  for (const [what, ...commands] of [
    ['its addresses', 'address delete fd18::50/64 dev eth0', 'address flush dev eth0 scope global'],
    ['its routes', 'route delete default', '-6 route replace default via fd18::61'],
    ['its link', 'link set eth0 down'],
    ['its MAC address and MTU', 'link set eth0 address 02:00:00:00:00:77', 'link set eth0 mtu 1300'],
  ] as const) {
    for (const command of commands) await pod.namespace.run('ip', ...command.split(' '));
    await until(`${what} came back`, async () => {
      const shown = await pod.observe();
      assert.ok(shown.kind === 'present');
      const isBack = shown.up && shown.mac === MAC && shown.mtu === 1_400 && ADDRESSES.every((one) => shown.addresses.includes(one));
      return isBack && ['0.0.0.0/0 172.18.0.1', '::/0 fd18::1'].every((route) => shown.routes.includes(route));
    });
    await until(`the pod is reached with ${what}`, isSound);
  }
  isOver = true;
  await target.stop();
  changes.stop();
  await Promise.all([pod.namespace.delete(), peer.delete()]);
});
