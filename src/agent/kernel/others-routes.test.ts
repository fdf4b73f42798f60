/** On a real network namespace: whatever routes other programs have, none changes while ours come, change and go. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NetworkNamespace } from '../../../lab/node/namespace.ts';
import { whyNoPackets } from '../../../lab/node/requirements.ts';
import { hostLinks, hostDetails, LINK_DETAILS } from '../uplink/host-links.ts';
import { routeHolders } from '../uplink/route-lines.ts';
import { moveLines } from '../uplink/uplink-commands.ts';
import type { DeviceName } from '../world/attachment.ts';
import type { LinkOutput } from '../world/outputs.ts';
import { HostNetwork } from './host-network.ts';
import { linkChange } from './ip-commands.ts';
import { nodeDevice } from './ip-observation.ts';
import { hostPrograms, inNamespace, type Programs } from './programs.ts';

const skip = whyNoPackets() ?? false;
const OVN0 = 'ovn0' as DeviceName;
const ROUNDS = 6;
const DESTINATIONS = [
  '192.168.7.0/24',
  '10.16.0.0/16',
  '10.17.0.0/16',
  '10.18.3.0/24',
  'fd00:7::/64',
  'fd00:10:16::/112',
  '0.0.0.0/0',
  '::/0',
];
let node: NetworkNamespace;
let programs: Programs;
before(async () => {
  if (skip !== false) return;
  node = await NetworkNamespace.create('routes');
  programs = { ...hostPrograms, run: (command, input) => hostPrograms.run(inNamespace(node.path, ...command), input) };
});
after(async () => await node?.delete());

async function ip(...words: readonly string[]): Promise<string> {
  return await node.run('ip', ...words);
}

/** All routes but those with our mark, and the kernel's of ovn0. */
async function others(): Promise<string> {
  const shown = await Promise.all(['-4', '-6'].map(async (family) => (await ip(family, 'route', 'show', 'table', 'main')).split('\n')));
  return shown
    .flat()
    .map((line) => line.trim())
    .filter((line) => !/proto 111|dev ovn0 proto kernel|^fe80:/.test(line) && line !== '')
    .toSorted()
    .join('\n');
}

async function reset(): Promise<void> {
  for (const family of ['-4', '-6']) await programs.run(['ip', family, 'route', 'flush', 'table', 'main']);
  for (const name of ['eth0', 'eth1', 'ovn0', 'br-net1']) {
    await programs.run(['ip', 'link', 'delete', name]);
    await ip('link', 'add', name, 'type', 'veth', 'peer', 'name', `${name}p`);
    for (const end of [name, `${name}p`]) await ip('link', 'set', end, 'up');
  }
  await ip('address', 'add', '172.18.0.2/16', 'dev', 'eth0');
  await ip('address', 'add', 'fd00:18::2/64', 'dev', 'eth0', 'nodad');
  await ip('address', 'add', '192.0.2.2/24', 'dev', 'eth1');
  await ip('address', 'add', '100.64.0.2/16', 'dev', 'ovn0');
  await ip('address', 'add', 'fd00:64::2/112', 'dev', 'ovn0', 'nodad');
}

/** As the target does: read, write what differs, until nothing does. */
async function settle(output: LinkOutput): Promise<string> {
  for (let round = 0; ; round++) {
    const seen = nodeDevice(await new HostNetwork(programs).read(), output.name, output.routes);
    assert.ok(seen.kind === 'present');
    const { lines } = linkChange(output, { ...seen, forwards: true });
    if (lines.length === 0) return (seen.elsewhere ?? []).join();
    assert.ok(round < 5, lines.join('\n'));
    await new HostNetwork(programs).write(lines);
  }
}

async function ovn0(...destinations: readonly string[]): Promise<LinkOutput> {
  const { links } = await new HostNetwork(programs).read();
  const own = links.find(({ ifname }) => ifname === OVN0);
  const addresses = ['100.64.0.2/16', 'fd00:64::2/112'];
  const routes = destinations.map((destination) => ({ destination, gateway: destination.includes(':') ? 'fd00:64::1' : '100.64.0.1' }));
  return { kind: 'link', name: OVN0, mac: own?.address, mtu: own?.mtu, addresses, routes };
}

const OTHERS: readonly (readonly [what: string, ...words: readonly string[]])[] = [
  ['the network of an interface', 'address', 'add', '192.168.7.102/24', 'dev', 'eth1'],
  ['a static route', 'route', 'add', '192.168.7.0/24', 'via', '172.18.0.9'],
  ['one with another metric', 'route', 'add', '192.168.7.0/24', 'via', '172.18.0.9', 'metric', '100'],
  ['one of several next hops', 'route', 'add', '192.168.7.0/24', 'nexthop', 'via', '172.18.0.8', 'nexthop', 'via', '172.18.0.9'],
  ['one that leads nowhere', 'route', 'add', 'unreachable', '192.168.7.0/24'],
  ['one by our own device', 'route', 'add', '192.168.7.0/24', 'dev', 'ovn0', 'metric', '7'],
];

for (const [what, ...words] of OTHERS)
  test(`a route of another program stays, and ours waits: ${what}`, { skip }, async () => {
    await reset();
    await ip(...words);
    const before = await others();
    assert.equal(await settle(await ovn0('192.168.7.0/24', '10.16.0.0/16')), '192.168.7.0/24');
    assert.match(await ip('route', 'show', 'proto', '111'), /^10\.16\.0\.0\/16 via 100\.64\.0\.1 dev ovn0\s*$/);
    assert.equal(await others(), before);
    await settle(await ovn0());
    assert.equal(await others(), before, 'also once ours is not wanted any more');
    assert.equal(await ip('route', 'show', 'proto', '111'), '');
  });

test('a route of another program that comes later gets its place, and ours is back when it goes', { skip }, async () => {
  await reset();
  assert.equal(await settle(await ovn0('192.168.7.0/24')), '');
  await ip('address', 'add', '192.168.7.102/24', 'dev', 'eth1');
  assert.equal(await settle(await ovn0('192.168.7.0/24')), '192.168.7.0/24');
  assert.match(await ip('route', 'get', '192.168.7.1'), /dev eth1 src 192\.168\.7\.102/);
  await ip('address', 'delete', '192.168.7.102/24', 'dev', 'eth1');
  assert.equal(await settle(await ovn0('192.168.7.0/24')), '');
  assert.match(await ip('route', 'show', 'proto', '111'), /192\.168\.7\.0\/24 via 100\.64\.0\.1/);
});

test('a route that an agent without the mark made gets it; one that is not wanted is left alone', { skip }, async () => {
  await reset();
  await ip('route', 'add', '10.16.0.0/16', 'via', '100.64.0.1', 'dev', 'ovn0');
  await ip('route', 'add', '10.99.0.0/16', 'via', '100.64.0.1', 'dev', 'ovn0');
  assert.equal(await settle(await ovn0('10.16.0.0/16')), '');
  assert.match(await ip('route', 'show', 'proto', '111'), /^10\.16\.0\.0\/16 via 100\.64\.0\.1 dev ovn0\s*$/);
  assert.match(await ip('route', 'show', '10.99.0.0/16'), /via 100\.64\.0\.1/);
});

test('property: random routes of others stay as they are, whatever ours are, and whatever moves to a bridge', { skip }, async (t) => {
  const seed = Date.now() % 1_000_000;
  t.diagnostic(`seed ${seed}`);
  let state = seed;
  const random = (below: number): number => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) % below;
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  for (let round = 0; round < ROUNDS; round++) {
    await reset();
    for (let times = 0; times < 6; times++) {
      const destination = pick(DESTINATIONS);
      const isSix = destination.includes(':');
      const to = pick(['unreachable', 'eth0', 'eth0', 'ovn0', 'eth0']);
      const hop = to === 'eth0' ? ['via', isSix ? 'fd00:18::9' : `172.18.0.${5 + random(3)}`, 'dev', to] : to === 'ovn0' ? ['dev', to] : [];
      const metric = pick([[], [], ['metric', String(5 + random(3))], ['metric', '1024']]);
      const type = to === 'unreachable' ? [to] : [];
      // Some are there already.
      await programs.run([
        'ip',
        isSix ? '-6' : '-4',
        'route',
        pick(['add', 'append']),
        ...type,
        destination,
        ...hop,
        ...metric,
        'proto',
        pick(['static', 'dhcp', 'bird']),
      ]);
    }
    const moving = ['10.30.0.0/16 via 192.0.2.1', pick(['0.0.0.0/0 via 192.0.2.1', '10.31.0.0/16 via 192.0.2.1 metric 5'])];
    for (const route of moving) await programs.run(['ip', 'route', 'append', ...route.split(' '), 'dev', 'eth1']);
    const before = (await others()).replaceAll(/^.*dev eth1.*\n?/gm, '');
    const kept = async (what: string): Promise<void> =>
      assert.equal(
        (await others()).replaceAll(/^.*dev (eth1|br-net1).*\n?/gm, '').trim(),
        before.trim(),
        `${what}, seed ${seed}, round ${round}`,
      );
    await settle(await ovn0(...new Set([pick(DESTINATIONS), pick(DESTINATIONS), '192.168.7.0/24'])));
    await kept('ours came');
    await settle(await ovn0(pick(DESTINATIONS)));
    await kept('ours changed');
    for (let pass = 0; pass < 4; pass++) {
      const host = await new HostNetwork(programs).read();
      const ran = await programs.run(LINK_DETAILS.command, LINK_DETAILS.input);
      const links = hostLinks(host, hostDetails(ran.ok ? ran.output : ''));
      const [from, to] = [links.get('eth1'), links.get('br-net1')];
      assert.ok(from && to);
      const network = { addresses: ['192.0.2.2/24'], routes: moving };
      const lines = moveLines('eth1', 'br-net1', network, from, to, routeHolders(host));
      if (lines.length === 0) break;
      assert.ok(pass < 3, lines.join('\n'));
      const moved = await programs.run(['ip', '-batch', '-'], `${lines.join('\n')}\n`);
      assert.ok(moved.ok, moved.ok ? '' : `${moved.message}\n${lines.join('\n')}`);
    }
    await kept('the interface went to the bridge');
    for (const route of moving)
      assert.match(await ip('route', 'show', 'dev', 'br-net1'), new RegExp(route.split(' ')[0]?.replace('0.0.0.0/0', 'default') ?? ''));
    await settle(await ovn0());
    await kept('ours went');
  }
});

test('another join network: the address and the routes by its gateway follow in one write', { skip }, async () => {
  await reset();
  const at = (network: string): LinkOutput => ({
    ...{ kind: 'link', name: OVN0, mac: undefined, mtu: undefined, addresses: [`${network}.2/16`] },
    routes: [
      { destination: '10.16.0.0/16', gateway: `${network}.1` },
      { destination: '10.17.0.0/16', gateway: `${network}.1` },
    ],
  });
  await ip('address', 'flush', 'dev', 'ovn0');
  for (const network of ['100.64.0', '100.65.0', '172.30.0']) {
    const host = new HostNetwork(programs);
    const change = linkChange(at(network), nodeDevice(await host.read(), OVN0, at(network).routes) as never);
    await host.write(change.lines);
    const shown = `${await ip('-4', 'address', 'show', 'dev', 'ovn0')} ${await ip('-4', 'route', 'show', 'dev', 'ovn0')}`;
    assert.ok(shown.includes(`${network}.2/16`), shown);
    for (const destination of ['10.16.0.0/16', '10.17.0.0/16']) assert.ok(shown.includes(`${destination} via ${network}.1`), shown);
    for (const other of ['100.64.0', '100.65.0'].filter((one) => one !== network)) assert.ok(!shown.includes(other), shown);
  }
});
