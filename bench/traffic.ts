/** `traffic`: throughput and latency of pods on two nodes, beside ports made by hand in the same OVN and the same Open vSwitch. */
import { spawn } from 'node:child_process';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { NetworkNamespace } from '../lab/node/namespace.ts';
import { onPath } from '../lab/programs/executable.ts';
import { type AgentNode, PacketCluster, skip } from '../test/packets/packet-cluster.ts';
import { measuredProgram } from './measured-program.ts';
import { NotMeasured } from './progress-watch.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

/** Two ends of a network, one on each node. */
interface Pair {
  readonly name: string;
  readonly from: NetworkNamespace;
  readonly to: NetworkNamespace;
  readonly address: string;
  readonly gbit: number[];
  readonly ms: number[];
}

const SWITCH = 'by-hand';
const MTU = '1400';

export async function traffic({ rounds, seconds, pings }: Sizes['traffic']): Promise<BenchRow[]> {
  if (skip !== false) throw new NotMeasured(skip);
  if (onPath('iperf3') === undefined) throw new NotMeasured('iperf3 is not installed');
  const load = loadavg()[0] ?? 0;
  await using cluster = await PacketCluster.start({ program: await measuredProgram('kiln') });
  const [one, two] = cluster.nodes as readonly [AgentNode, AgentNode];
  const [from, to] = [await cluster.runPod('client', one), await cluster.runPod('server', two)];
  const results = { gbit: [], ms: [] };
  const pods: Pair = {
    name: 'pods',
    from: from.sandbox.namespace,
    to: to.sandbox.namespace,
    address: to.address,
    ...structuredClone(results),
  };
  await using hand = await byHand(cluster, one, two);
  const pairs = [pods, { name: 'by hand', ...hand, ...structuredClone(results) }];
  for (const { name, from: client, address } of pairs)
    if (!(await client.reaches(address, { seconds: 20 }))) throw new Error(`${name}: ${address} does not answer`);
  // In turn, and each first once, so that what the machine does meanwhile meets both.
  for (let round = 0; round < rounds; round++)
    for (const pair of round % 2 === 0 ? pairs : pairs.toReversed()) {
      pair.gbit.push(await throughput(pair, seconds));
      pair.ms.push(await latency(pair, pings));
    }
  for (const { sandbox } of [from, to]) await sandbox.delete();
  const [ours, theirs] = pairs as [Pair, Pair];
  return [
    { name: 'load of the machine before', value: load, unit: 'processes' },
    ...pairs.flatMap(({ name, gbit, ms }) => [
      { name: `${name}: throughput between nodes, one connection, median`, value: median(gbit), unit: 'Gbit/s' },
      { name: `${name}: round trip between nodes, median of means`, value: median(ms), unit: 'ms' },
    ]),
    { name: 'throughput of pods to that by hand', value: (median(ours.gbit) / median(theirs.gbit)) * 100, unit: '%', aim: '≥ 98' },
    { name: 'round trip of pods to that by hand', value: median(ours.ms) / median(theirs.ms), unit: '×', aim: '≤ 1.05' },
  ];
}

async function throughput({ from, to, address }: Pair, seconds: number): Promise<number> {
  const [file, ...args] = to.command('iperf3', '--server', '--one-off');
  const server = spawn(file, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => server.once('close', resolve));
  await sleep(500);
  try {
    const report = JSON.parse(await from.run('iperf3', '--client', address, '--time', String(seconds), '--omit', '1', '--json')) as {
      readonly end: { readonly sum_received: { readonly bits_per_second: number } };
    };
    await ended;
    return report.end.sum_received.bits_per_second / 1e9;
  } finally {
    server.kill();
  }
}

/** Milliseconds, the mean of so many. */
async function latency({ from, address }: Pair, count: number): Promise<number> {
  const output = await from.run('ping', '-n', '-q', '-c', String(count), '-i', '0.01', address);
  const mean = / = [\d.]+\/([\d.]+)\//.exec(output)?.[1];
  if (mean === undefined) throw new Error(`ping printed ${output}`);
  return Number(mean);
}

/** A logical switch with a port on each node, with `ovn-nbctl`, `ip` and `ovs-vsctl` alone. */
async function byHand(
  { ovn }: PacketCluster,
  one: AgentNode,
  two: AgentNode,
): Promise<Pick<Pair, 'from' | 'to' | 'address'> & AsyncDisposable> {
  await ovn.nbctl('ls-add', SWITCH);
  const ends: NetworkNamespace[] = [];
  for (const [at, { node }] of [one, two].entries()) {
    const [port, mac, address] = [`hand${at}`, `0a:00:00:00:00:0${at + 1}`, `192.168.77.${at + 1}`];
    await ovn.nbctl('lsp-add', SWITCH, port, '--', 'lsp-set-addresses', port, `${mac} ${address}`);
    const namespace = await NetworkNamespace.create(port);
    ends.push(namespace);
    const peer = ['peer', 'name', 'eth0', 'address', mac, 'mtu', MTU, 'netns', namespace.path];
    await node.namespace.run('ip', 'link', 'add', 'name', port, 'mtu', MTU, 'type', 'veth', ...peer);
    await node.namespace.run('ip', 'link', 'set', 'dev', port, 'txqueuelen', '1000', 'up');
    await namespace.run('ip', 'address', 'add', `${address}/24`, 'dev', 'eth0');
    await namespace.run('ip', 'link', 'set', 'dev', 'eth0', 'up');
    // As for pods of the userspace datapath.
    await namespace.run('ethtool', '-K', 'eth0', 'tx', 'off');
    await node.vswitch.vsctl('add-port', 'br-int', port, '--', 'set', 'interface', port, `external_ids:iface-id=${port}`);
  }
  await ovn.nbctl('--wait=hv', 'sync');
  const [from, to] = ends as [NetworkNamespace, NetworkNamespace];
  return {
    ...{ from, to, address: '192.168.77.2' },
    async [Symbol.asyncDispose]() {
      await ovn.nbctl('ls-del', SWITCH);
      for (const end of ends) await end.delete();
    },
  };
}
