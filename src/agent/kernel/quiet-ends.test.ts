/** On a real network namespace: a router's advertisement of a pod gives the node no route by a device of the agent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetworkNamespace } from '../../../lab/node/namespace.ts';
import { whyNoPackets } from '../../../lab/node/requirements.ts';
import { HostNetwork } from './host-network.ts';
import { hostPrograms, inNamespace, type Programs } from './programs.ts';
import { loudEnds, quietKey, quietLine } from './quiet-ends.ts';

const ADVERTISE = `
import socket, struct
s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
s.bind(('', 0, 0, socket.if_nametoindex('eth0')))
s.sendto(struct.pack('!BBHBBHII', 134, 0, 0, 64, 0, 1800, 0, 0), ('ff02::1', 0, 0, socket.if_nametoindex('eth0')))
`;

test(
  'the end of a pod: loud as the kernel makes it, then it hears no router and answers nobody',
  { skip: whyNoPackets() ?? false },
  async () => {
    const [node, pod] = [await NetworkNamespace.create('quiet'), await NetworkNamespace.create('quiet-pod')];
    try {
      const programs: Programs = { ...hostPrograms, run: (command, input) => hostPrograms.run(inNamespace(node.path, ...command), input) };
      const host = new HostNetwork(programs);
      await node.run('ip', 'link', 'add', 'c0ffee_h', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pod.name);
      await node.run('ip', 'link', 'set', 'c0ffee_h', 'up');
      await pod.run('ip', 'link', 'set', 'eth0', 'up');
      const names = new Set(['c0ffee_h']);
      const advertised = async (): Promise<boolean> => {
        for (let tries = 0; tries < 20; tries++) {
          await pod.run('python3', '-c', ADVERTISE).catch(() => undefined);
          if ((await node.run('ip', '-6', 'route', 'show', 'default')).includes('proto ra')) return true;
          await new Promise((resolve) => setTimeout(resolve, 150));
        }
        return false;
      };
      assert.equal(await advertised(), true, 'without it the node takes the route');
      assert.deepEqual(loudEnds((await host.read()).links, names), ['c0ffee_h']);
      await programs.run(['sysctl', '-eqw', quietKey('c0ffee_h')]);
      await host.write([quietLine('c0ffee_h')]);
      assert.deepEqual(loudEnds((await host.read()).links, names), []);
      assert.equal(await node.run('ip', '-6', 'route', 'show', 'default'), '', 'what was heard before is gone too');
      assert.equal(await advertised(), false);
    } finally {
      await Promise.all([node.delete(), pod.delete()]);
    }
  },
);

test('other devices are left as they are', () => {
  const quiet = { ifname: 'a_h', flags: ['UP', 'NOARP'] };
  const address = { local: 'fe80::1', prefixlen: 64, scope: 'link' };
  const links = [
    quiet,
    { ...quiet, ifname: 'b_h', addr_info: [address] },
    { ifname: 'eth0', flags: ['UP'] },
    { ifname: 'mirror0', flags: ['UP'] },
  ];
  assert.deepEqual(loudEnds(links, new Set(['a_h', 'b_h', 'mirror0'])), ['b_h', 'mirror0']);
});
