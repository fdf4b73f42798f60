/** The node's interface in the join network, in a real kernel: what one line meets keeps no other from its effect, and is told by that line. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { runProgram } from '../../lab/programs/run-program.ts';
import { NetworkNamespace } from '../../lab/node/namespace.ts';
import { whyNoPackets } from '../../lab/node/requirements.ts';
import { HostNetwork } from '../../src/agent/kernel/host-network.ts';
import { KernelTarget } from '../../src/agent/kernel/kernel-target.ts';
import { hostPrograms, inNamespace, type Programs } from '../../src/agent/kernel/programs.ts';
import { Changes } from '../../src/agent/listing/changes.ts';
import { Retries } from '../../src/agent/retries.ts';
import type { DeviceName } from '../../src/agent/world/attachment.ts';
import { NodeWorld } from '../../src/agent/world/node-world.ts';
import type { LinkOutput } from '../../src/agent/world/outputs.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { until } from '../../src/testing/until.ts';
import { systemClock } from '../../src/timing/clock.ts';

const skip = whyNoPackets() ?? false;
const LINK: LinkOutput = {
  kind: 'link',
  name: 'ovn0' as DeviceName,
  mac: '00:00:00:00:64:02',
  mtu: 1_400,
  addresses: ['100.64.0.2/16', 'fd00:64::2/112'],
  // Those that fail come first.
  routes: [
    { destination: 'fd00:16::/112', gateway: 'fd00:64::1' },
    { destination: '10.16.0.0/16', gateway: '100.64.0.1' },
    { destination: '10.17.0.0/16', gateway: '100.64.0.1' },
  ],
};

let node: NetworkNamespace;
beforeEach(async () => {
  if (skip !== false) return;
  node = await NetworkNamespace.create('link');
  await node.run('ip', 'link', 'add', 'ovn0', 'type', 'veth', 'peer', 'name', 'other');
  await node.run('ip', 'link', 'set', 'other', 'up');
});
afterEach(async () => {
  if (skip === false) await runProgram(['ip', 'netns', 'del', node.name]);
});

/** The agent's kernel target with this device alone. @returns why it is not as it should be, once it was written */
async function made(output: LinkOutput): Promise<string | undefined> {
  const programs: Programs = {
    ...hostPrograms,
    run: (command, input) => hostPrograms.run(inNamespace(node.path, ...command), input),
    watch: (command, watching) => hostPrograms.watch(inNamespace(node.path, ...command), watching),
  };
  const [world, host] = [new NodeWorld(), new HostNetwork(programs)];
  const changes = new Changes({ programs, clock: systemClock, log: SILENT });
  let isOver = false;
  const wake = (): void => void setImmediate(() => isOver || target.flush());
  const retries = new Retries(systemClock, world, wake);
  const target = new KernelTarget({ programs, retries, changes, clock: systemClock, log: SILENT, wake, world, host, removals: host });
  target.desired.add(output);
  changes.start();
  target.start();
  wake();
  const failure = (): string | undefined => world.failures.peek(`device ${output.name}`);
  await until('it was written', () => Promise.resolve(failure() !== undefined || target.quiet));
  isOver = true;
  await target.stop();
  changes.stop();
  return failure();
}

const routes = async (family: 4 | 6): Promise<string> => await node.run('ip', `-${family}`, 'route', 'show', 'dev', 'ovn0');

for (const [what, key] of [
  ['for the device', 'net.ipv6.conf.ovn0.disable_ipv6'],
  ['for all devices', 'net.ipv6.conf.all.disable_ipv6'],
] as const)
  test(`a node with IPv6 off ${what} in a dual-stack cluster gets its IPv4 routes, and is told of IPv6 alone`, { skip }, async () => {
    await node.run('sysctl', '-qw', `${key}=1`);
    const failure = (await made(LINK)) ?? assert.fail('it is said to be complete');
    const v4 = await routes(4);
    for (const network of ['10.16.0.0/16', '10.17.0.0/16']) assert.ok(v4.includes(`${network} via 100.64.0.1`), `${v4}${failure}`);
    assert.match(failure, /ip address add fd00:64::2\/112 dev ovn0: .*(Permission denied|disabled)/);
    assert.match(failure, /if this node has IPv6 switched off, .*sysctl net\.ipv6\.conf\.ovn0\.disable_ipv6/);
    assert.doesNotMatch(failure, /100\.64|10\.1[67]/);
  });

test('a route that the kernel refuses is named, and those after it are there', { skip }, async () => {
  const wrong = { destination: '10.15.0.0/16', gateway: '192.0.2.1' };
  const failure = await made({ ...LINK, routes: [wrong, ...LINK.routes] });
  assert.match(
    failure ?? '',
    /^device ovn0: ip route add 10\.15\.0\.0\/16 via 192\.0\.2\.1 dev ovn0 proto 111: Error: Nexthop has invalid gateway\.$/,
  );
  assert.match(await routes(4), /10\.16\.0\.0\/16 via 100\.64\.0\.1[^]*10\.17\.0\.0\/16 via 100\.64\.0\.1/);
  assert.match(await routes(6), /fd00:16::\/112 via fd00:64::1/);
});

test('a kernel that takes all of it: nothing is told', { skip }, async () => {
  assert.equal(await made(LINK), undefined);
  assert.match(await routes(6), /fd00:16::\/112 via fd00:64::1/);
});
