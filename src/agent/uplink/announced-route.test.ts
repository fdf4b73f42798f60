/** On a real network namespace: the default route that a router announced on an interface is on its bridge once the interface is a part of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetworkNamespace } from '../../../lab/node/namespace.ts';
import { whyNoPackets } from '../../../lab/node/requirements.ts';
import { until } from '../../testing/until.ts';
import { HostNetwork } from '../kernel/host-network.ts';
import { advertisedDevices } from '../kernel/ip-observation.ts';
import { hostPrograms, inNamespace, type Programs } from '../kernel/programs.ts';
import { observeHostLinks } from './uplink-target.ts';
import { moveLines } from './uplink-commands.ts';

const ADVERTISE = `
import socket, struct
s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
s.bind(('', 0, 0, socket.if_nametoindex('router')))
s.sendto(struct.pack('!BBHBBHII', 134, 0, 0, 64, 0, 1800, 0, 0), ('ff02::1', 0, 0, socket.if_nametoindex('router')))
`;

test(
  'to the bridge and back, in a node that forwards: the node has the route at every step, once',
  { skip: whyNoPackets() ?? false },
  async () => {
    const [node, outside] = [await NetworkNamespace.create('announced'), await NetworkNamespace.create('router')];
    try {
      const programs: Programs = { ...hostPrograms, run: (command, input) => hostPrograms.run(inNamespace(node.path, ...command), input) };
      await node.run('ip', 'link', 'add', 'eth1', 'type', 'veth', 'peer', 'name', 'router', 'netns', outside.name);
      await node.run('ip', 'link', 'add', 'br-net1', 'type', 'veth', 'peer', 'name', 'br-other');
      await node.run('sysctl', '-qw', 'net.ipv6.conf.eth1.accept_ra=2', 'net.ipv6.conf.all.forwarding=1');
      for (const device of ['eth1', 'br-net1', 'br-other']) await node.run('ip', 'link', 'set', device, 'up');
      await outside.run('ip', 'link', 'set', 'router', 'up');
      const defaults = async (): Promise<readonly string[]> =>
        Array.from(
          (await node.run('ip', '-6', 'route', 'show', 'default')).matchAll(/via fe80\S+ dev (\S+) proto ra/g),
          ([, device = '']) => device,
        );
      await until('the router is heard', async () => {
        await outside.run('python3', '-c', ADVERTISE).catch(() => undefined);
        return (await defaults()).join() === 'eth1';
      });
      const host = new HostNetwork(programs);
      for (const [from, to] of [
        ['eth1', 'br-net1'],
        ['br-net1', 'eth1'],
      ] as const) {
        const { links } = await observeHostLinks(programs, host);
        const [source, target] = [links.get(from), links.get(to)];
        assert.ok(source && target);
        const lines = moveLines(from, to, { addresses: [], routes: [] }, source, target);
        assert.equal(lines.length, 2, lines.join('\n'));
        await host.write(lines);
        assert.deepEqual(await defaults(), [to]);
        // The agent lets it hear the router from then on.
        const expected = to === 'eth1' ? [] : ['br-net1'];
        assert.deepEqual(await advertisedDevices(programs, await host.read()), expected);
      }
    } finally {
      await Promise.all([node.delete(), outside.delete()]);
    }
  },
);
