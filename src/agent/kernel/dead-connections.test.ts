/** With packets: a client that goes on sending to a hostPort reaches the next pod once the device of the first one is removed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NetworkNamespace } from '../../../lab/node/namespace.ts';
import { whyNoPackets } from '../../../lab/node/requirements.ts';
import { endDeadConnections } from './dead-connections.ts';
import { hostPrograms, inNamespace, type Programs } from './programs.ts';

const skip = whyNoPackets() ?? false;
const FAMILIES = {
  IPv4: { ask: 'ip', client: '192.0.2.2', node: '192.0.2.1', dead: '10.16.0.5', next: '10.16.0.6', pods: '10.16.0.1', length: 24 },
  IPv6: { ask: 'ip6', client: 'fd00:1::2', node: 'fd00:1::1', dead: 'fd00:16::5', next: 'fd00:16::6', pods: 'fd00:16::1', length: 64 },
};
let node: NetworkNamespace;
let client: NetworkNamespace;
let pod: NetworkNamespace;
let programs: Programs;
before(async () => {
  if (skip !== false) return;
  [node, client, pod] = (await Promise.all(['ct-node', 'ct-client', 'ct-pod'].map((name) => NetworkNamespace.create(name)))) as [
    NetworkNamespace,
    NetworkNamespace,
    NetworkNamespace,
  ];
  programs = { ...hostPrograms, run: (command, input) => hostPrograms.run(inNamespace(node.path, ...command), input) };
  await node.run('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
  await wire(client, 'client');
  await wire(pod, 'pod');
  for (const { client: ours, node: its, dead, next, pods, length } of Object.values(FAMILIES)) {
    const add = (at: NetworkNamespace, address: string, device: string) =>
      at.run('ip', 'address', 'add', `${address}/${length}`, 'dev', device, ...(address.includes(':') ? ['nodad'] : []));
    await add(client, ours, 'eth0');
    await add(node, its, 'client');
    await add(node, pods, 'pod');
    for (const address of [dead, next]) await add(pod, address, 'eth0');
    await client.run('ip', 'route', 'add', 'default', 'via', its);
    await pod.run('ip', 'route', 'add', 'default', 'via', pods);
  }
});
after(async () => {
  for (const one of [node, client, pod]) await one?.delete();
});

async function wire(inner: NetworkNamespace, name: string): Promise<void> {
  await node.run('ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', inner.path);
  await node.run('ip', 'link', 'set', name, 'up');
  await inner.run('ip', 'link', 'set', 'lo', 'up');
  await inner.run('ip', 'link', 'set', 'eth0', 'up');
}

async function leadTo(ask: string, address: string): Promise<void> {
  const to = address.includes(':') ? `[${address}]:53` : `${address}:53`;
  const table = `table ${ask} hostport`;
  const ran = await programs.run(
    ['nft', '-f', '-'],
    `add ${table}\ndelete ${table}\n${table} {\n chain pre {\n type nat hook prerouting priority dstnat;\n udp dport 5000 dnat to ${to}\n }\n}\n`,
  );
  assert.ok(ran.ok, JSON.stringify(ran));
}

/** A client that always has the same port. */
async function send(from: string, to: string): Promise<void> {
  const udp = from.includes(':') ? 'UDP6' : 'UDP4';
  const bracketed = from.includes(':') ? `[${to}]` : to;
  const own = from.includes(':') ? `[${from}]` : from;
  await client.run('sh', '-c', `echo x | socat -u - ${udp}-SENDTO:${bracketed}:5000,bind=${own}:4000`);
}

async function answersFrom(address: string): Promise<boolean> {
  const shown = await programs.run(['conntrack', '-L', '-p', 'udp', '-r', address]);
  return shown.ok && shown.output.includes('dport=5000');
}

for (const [family, { ask, client: from, node: to, dead, next }] of Object.entries(FAMILIES))
  test(`a UDP client of a hostPort goes to the next pod when the first one is gone: ${family}`, { skip }, async () => {
    await leadTo(ask, dead);
    await send(from, to);
    assert.ok(await answersFrom(dead));
    await leadTo(ask, next);
    await send(from, to);
    assert.deepEqual([await answersFrom(dead), await answersFrom(next)], [true, false], 'the kernel still leads it to the dead one');
    assert.equal(await endDeadConnections(programs, [`${dead}/24`]), undefined);
    await send(from, to);
    assert.deepEqual([await answersFrom(dead), await answersFrom(next)], [false, true]);
    assert.equal(await endDeadConnections(programs, [dead]), undefined, 'without an entry nothing is wrong');
    assert.ok(await answersFrom(next), 'those of others stay');
  });

test('what is no lack of entries is told: a program that is missing, or fails', async () => {
  const failing = (message: string) => ({ run: () => Promise.resolve({ ok: false, message }) as ReturnType<Programs['run']> });
  assert.equal(await endDeadConnections(failing('spawn conntrack ENOENT'), ['10.0.0.5']), 'spawn conntrack ENOENT');
  assert.match((await endDeadConnections(failing('Operation not permitted'), ['10.0.0.5'])) ?? '', /not permitted/);
  assert.equal(await endDeadConnections(failing('conntrack v1.4.7: 0 flow entries have been deleted.'), ['10.0.0.5']), undefined);
});
