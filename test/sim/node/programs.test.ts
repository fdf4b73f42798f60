/** The simulated programs beside the real ones: the same commands, and what the agent reads afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostNetwork } from '../../../src/agent/kernel/host-network.ts';
import { nodeDevice, observeInnerEnd, ourLinks, podDevice } from '../../../src/agent/kernel/ip-observation.ts';
import { hostPrograms, inNamespace, type Programs } from '../../../src/agent/kernel/programs.ts';
import { listCommand, listedTexts } from '../../../src/agent/kernel/routing-commands.ts';
import { NetworkNamespace } from '../../../lab/node/namespace.ts';
import { whyNoPackets } from '../../../lab/node/requirements.ts';
import { SimulatedKernel } from './kernel.ts';
import { SimulatedPrograms } from './programs.ts';

const [OUTER, INNER, MAC] = ['c0ffee_h', 'eth0', '00:00:00:aa:bb:cc'];
type Line = readonly [command: readonly [string, ...string[]], input?: string];

/** Each is run by both; those that fail fail in both. */
function lines(pod: string): readonly Line[] {
  const inside = (input: string): Line => [inNamespace(pod, 'ip', '-batch', '-'), input];
  const batch = (input: string, ...options: readonly string[]): Line => [['ip', ...options, '-batch', '-'], input];
  const pair = ['ip', 'link', 'add', 'name', OUTER, 'mtu', '1400', 'type', 'veth', 'peer', 'name', INNER] as const;
  return [
    [[...pair, 'address', MAC, 'mtu', '1400', 'netns', pod]],
    [[...pair, 'address', MAC, 'mtu', '1400', 'netns', pod]],
    [[...pair, 'address', MAC, 'mtu', '1400', 'netns', '/run/netns/kiln-absent']],
    inside(`route replace 0.0.0.0/0 via 10.16.0.1 dev ${INNER}\n`),
    batch(`address add 192.0.2.7/24 dev ${OUTER}\nlink set dev absent up\nlink set dev ${OUTER} mtu 1400\n`, '-json', '-force'),
    [['ip', 'link', 'set', 'dev', OUTER, 'alias', 'kiln:c0ffee/eth0 shop/web ovn /run/netns/a', 'txqueuelen', '1000', 'up']],
    inside(`link set dev ${INNER} up\naddress replace 10.16.0.5/16 dev ${INNER}\naddress replace 10.16.0.5/16 dev ${INNER}\n`),
    inside(`address add 10.16.0.5/16 dev ${INNER}\n`),
    inside(`address replace fd00:10:16::5/112 dev ${INNER} nodad\nlink set dev ${INNER} mtu 1300\n`),
    inside(`route replace 0.0.0.0/0 via 10.16.0.1 dev ${INNER}\nroute replace ::/0 via fd00:10:16::1 dev ${INNER}\n`),
    inside(`route replace 10.99.0.0/16 via 192.0.2.1 dev ${INNER}\nroute replace 10.98.0.0/16 via 10.16.0.1 dev ${INNER}\n`),
    inside(`route replace 10.98.0.0/16 via 10.16.0.2 dev ${INNER}\n`),
    inside(`link set dev ${INNER} down\n`),
    inside(`link set dev ${INNER} up\nroute replace 0.0.0.0/0 via 10.16.0.1 dev ${INNER}\n`),
    inside(`address delete 10.16.0.9/16 dev ${INNER}\n`),
    inside(`address delete 10.16.0.5/16 dev ${INNER}\n`),
    batch(`route add throw 10.16.0.0/16 table 1001 proto 111\nrule add from 10.17.0.0/16 lookup 1001 priority 1001 protocol 111\n`, '-4'),
    batch(`rule add from 10.17.0.0/16 lookup 1001 priority 1001 protocol 111\n`, '-4'),
    batch(
      `rule delete from 10.18.0.0/16 lookup 1001 priority 1001 protocol 111\nroute delete throw 10.16.0.0/16 table 1001 proto 111\n`,
      '-4',
      '-force',
    ),
    [['ip', 'link', 'delete', 'dev', 'absent']],
    [['ip', 'link', 'delete', 'dev', OUTER]],
  ];
}

/** The node's end has one by chance. */
function macless(device: ReturnType<typeof nodeDevice>): object {
  return device.kind === 'present' ? { ...device, mac: '' } : device;
}

/** What the agent reads. */
async function read(programs: Programs, pod: string): Promise<object> {
  const text = async (part: 'rule' | 'route'): Promise<readonly string[]> => {
    const ran = await programs.run(listCommand(4, part));
    return ran.ok ? listedTexts(part, JSON.parse(ran.output.trim() || '[]')) : [ran.message];
  };
  const host = await new HostNetwork(programs).read();
  return {
    pod: podDevice(await observeInnerEnd(programs, pod, INNER), host, OUTER),
    gone: podDevice(await observeInnerEnd(programs, '/run/netns/kiln-absent', INNER), host, OUTER),
    absent: nodeDevice(host, 'absent'),
    node: macless(nodeDevice(host, OUTER)),
    ours: [...ourLinks(host)],
    ...{ rules: await text('rule'), routes: await text('route') },
  };
}

if (whyNoPackets() === undefined)
  test('simulated programs do what the real ones do', async () => {
    const [node, pod] = [await NetworkNamespace.create('node'), await NetworkNamespace.create('pod')];
    try {
      const kernel = new SimulatedKernel(() => {});
      kernel.addNamespace(pod.path);
      const simulated = new SimulatedPrograms(kernel);
      const real: Programs = { ...hostPrograms, run: (command, input) => hostPrograms.run(inNamespace(node.path, ...command), input) };
      const imitated: Programs = { ...hostPrograms, run: (command, input = '') => Promise.resolve(simulated.run(command, input, 'agent')) };
      for (const [command, input] of lines(pod.path)) {
        const [one, other] = [await real.run(command, input), await imitated.run(command, input)];
        const what = `${command.join(' ')} ${input ?? ''}${one.ok ? '' : one.message}`;
        assert.equal(other.ok, one.ok, what);
        assert.deepEqual(await read(imitated, pod.path), await read(real, pod.path), what);
      }
      assert.deepEqual([...simulated.unknown], []);
    } finally {
      await node.delete();
      await pod.delete();
    }
  });
