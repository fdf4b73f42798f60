/**
 * Programs of one node bring nft of several versions, and each reads all tables, whatever it is to do. nft 1.0.6 (Debian 12) ends by a signal beside
 * sets and maps of some forms that a newer one wrote: none of the agent's tables has them.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findNewerNft } from '../../lab/programs/nft.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { NetworkNamespace } from '../../lab/node/namespace.ts';
import { whyNoPackets } from '../../lab/node/requirements.ts';
import { replacement, TABLES } from '../../src/agent/packet-filter/packet-filter-target.ts';
import { hostPrograms, inNamespace } from '../../src/agent/kernel/programs.ts';
import { KUBELET } from '../../src/agent/world/probe.ts';
import { NodeWorld } from '../../src/agent/world/node-world.ts';
import { probeFilter } from '../../src/kinds/pod/agent-rules/probed-pods.ts';
import { outgoingNat } from '../../src/kinds/subnet/agent-rules/outgoing-nat.ts';

const newer = findNewerNft();
const skip = whyNoPackets() ?? (newer === undefined && 'nft 1.1 was not found: run `node scripts/setup.mjs test`');
const VERSIONS = { system: ['nft'], newer: newer ?? ['nft'] } as const;
type Version = keyof typeof VERSIONS;

let node: NetworkNamespace;
before(async () => {
  if (skip === false) node = await NetworkNamespace.create('nft');
});
after(async () => {
  if (skip === false) await runProgram(['ip', 'netns', 'del', node.name]);
});

async function nft(version: Version, args: readonly string[], input?: string): Promise<string> {
  const [program, ...leading] = VERSIONS[version];
  const ran = await hostPrograms.run(inNamespace(node.path, program, ...leading, ...args), input);
  return ran.ok ? ran.output : assert.fail(`${version} nft ${args.join(' ')}: ${ran.message}`);
}

/** Both tables with every form that they can have: sets with and without elements, exceptions, both families. */
function tables(): string {
  const world = new NodeWorld();
  const subnet = {
    ...{
      mtu: 0,
      vpc: '',
      overlay: true,
      checksGateway: true,
      natOutgoing: true,
      gatewayNodes: '',
      gatewaySelectors: [],
      centralized: false,
    },
    natRules: [{ action: 'forward', sources: '', destinations: '192.0.2.0/24, 198.51.100.7, 2001:db8::/32' }],
  } as const;
  world.subnets.set('both', { ...subnet, cidrs: ['10.16.0.0/16', 'fd00:10:16::/112'] });
  world.subnets.set('one', { ...subnet, cidrs: ['10.17.0.0/16'], centralized: true, gatewayNodes: 'node-1:172.18.0.2' });
  for (const [at, address] of ['10.0.0.5', 'fd00::5'].entries())
    for (const open of [true, false])
      world.probeListeners.set(`${address} ${open}`, { address, port: open ? 80 : 81, local: 4001 + at, open });
  world.kubelet.set(KUBELET, { kind: 'class', id: 7 });
  const settings = { node: 'node-1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: 1_400 } as const;
  const outputs = world.glance(() => [...outgoingNat(settings).run(world, ''), ...probeFilter.run(world, '')]);
  return outputs
    .map((output) =>
      output.kind === 'packet-filter' || output.kind === 'probe-filter' ? replacement(TABLES[output.kind], output.script) : assert.fail(),
    )
    .join('');
}

for (const writer of ['system', 'newer'] as const)
  for (const reader of ['system', 'newer'] as const)
    test(`tables of the agent that the ${writer} nft wrote: the ${reader} one reads and replaces them`, { skip }, async () => {
      await nft(writer, ['-f', '-'], `flush ruleset\n${tables()}`);
      const names = await nft(reader, ['list', 'tables']);
      for (const table of Object.values(TABLES)) assert.ok(names.includes(`table ${table}\n`), names);
      const seen = await nft(reader, ['list', 'ruleset']);
      for (const text of ['10.16.0.0/16', '172.18.0.2', '10.0.0.5 . 80 : 127.0.0.1 . 4001', 'fd00::5 . 81'])
        assert.ok(seen.includes(text), text);
      await nft(reader, ['-f', '-'], `${tables()}table ip another {\n}\n`);
      assert.equal((await nft(writer, ['list', 'tables'])).trim().split('\n').length, 3);
      await nft(writer, ['flush', 'ruleset']);
    });

test('beside the table of another program that makes its nft end, the message names the signal and the way out', { skip }, async (t) => {
  if (!(await nft('system', ['--version'])).includes('v1.0.6')) return t.skip('the nft of this machine has no such fault');
  await nft('newer', ['-f', '-'], 'table ip another {\n  set addresses { type ipv4_addr; }\n}\n');
  const ran = await hostPrograms.run(inNamespace(node.path, 'nft', 'list', 'tables'));
  assert.match(ran.ok ? '' : ran.message, /nft was ended by SIGSEGV; nft 1\.0\.6 and older do so .* install nftables 1\.1/);
  await nft('newer', ['flush', 'ruleset']);
});
