/** Two nodes, a pod on each, bound by hand: packets pass through real Open vSwitch, ovn-controller and a tunnel. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { OvnLab } from '../ovn/ovn-lab.ts';
import { findOvn } from '../programs/ovn.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { PacketNode } from './packet-node.ts';
import { whyNoPackets } from './requirements.ts';
import { Sandbox } from './sandbox.ts';
import { Underlay } from './underlay.ts';

const installation = findOvn();
const skip = whyNoPackets() ?? (installation === undefined && 'OVN is not installed');

const folder = await makeTemporaryFolder('kiln-node-');
after(() => rm(folder, { recursive: true }));

test('pods on two nodes reach each other and the router, and no other network', { skip }, async () => {
  assert.ok(installation);
  await using ovn = new OvnLab();
  await ovn.start();
  await using underlay = await Underlay.create();
  const start = (index: number): Promise<PacketNode> =>
    PacketNode.start({
      name: `node-${index}`,
      address: `172.18.0.${index + 1}/16`,
      underlay,
      installation,
      directory: join(folder, String(index)),
    });
  await using one = await start(1);
  await using two = await start(2);
  for (const node of [one, two]) {
    const ids = { 'system-id': node.name, 'ovn-remote': ovn.sbEndpoint, 'ovn-encap-type': 'geneve', 'ovn-encap-ip': node.address };
    await node.vswitch.vsctl(
      ...['set', 'open_vswitch', '.', ...Object.entries(ids).map(([key, value]) => `external_ids:${key}="${value}"`)],
      ...[
        'external_ids:ovn-bridge-datapath-type=netdev',
        '--',
        'add-br',
        'br-int',
        '--',
        'set',
        'bridge',
        'br-int',
        'datapath_type=netdev',
      ],
    );
    await node.vswitch.restart('ovn-controller');
  }
  await ovn.nbctl('ls-add', 'red', '--', 'lr-add', 'vpc', '--', 'lrp-add', 'vpc', 'vpc-red', '00:00:00:00:01:01', '10.92.0.1/24');
  await ovn.nbctl('lsp-add', 'red', 'red-vpc', '--', 'lsp-set-type', 'red-vpc', 'router', '--', 'lsp-set-addresses', 'red-vpc', 'router');
  await ovn.nbctl('lsp-set-options', 'red-vpc', 'router-port=vpc-red');
  const pods = await Promise.all(
    [one, two].map(async (node, index) => {
      const [port, mac, address] = [`web-${index}`, `00:00:00:00:02:0${index}`, `10.92.0.${index + 2}`];
      await ovn.nbctl('lsp-add', 'red', port, '--', 'lsp-set-addresses', port, `${mac} ${address}`);
      const sandbox = await Sandbox.create(port, `c${index}`);
      const device = `h${index}`;
      await node.namespace.run('ip', 'link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', sandbox.namespace.path);
      await node.namespace.run('ip', 'link', 'set', device, 'up');
      await sandbox.namespace.run('ip', 'link', 'set', 'eth0', 'address', mac, 'up');
      await sandbox.namespace.run('ip', 'address', 'add', `${address}/24`, 'dev', 'eth0');
      await sandbox.namespace.run('ip', 'route', 'add', 'default', 'via', '10.92.0.1');
      await node.vswitch.vsctl('add-port', 'br-int', device, '--', 'set', 'interface', device, `external_ids:iface-id=${port}`);
      return { sandbox, address };
    }),
  );
  await ovn.nbctl('--wait=hv', 'sync');
  const [first, second] = pods;
  assert.ok(first && second);
  assert.ok(await first.sandbox.reaches(second.address));
  assert.ok(await first.sandbox.reaches('10.92.0.1'));
  assert.ok(await first.sandbox.reaches(second.address, { size: 1370 }));
  assert.ok(!(await first.sandbox.reaches('10.93.0.1', { seconds: 1 })));
  await Promise.all(pods.map(({ sandbox }) => sandbox.delete()));
});
