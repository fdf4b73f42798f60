/**
 * `traffic`: throughput and latency of pods on two nodes, beside ports made by hand in the same OVN and the same Open vSwitch. There is a VIP, as in
 * every cluster with Services, so packets of pods pass connection tracking; those of one switch by hand as well, which has the same load balancers.
 */
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
  const loadBalancers = await service(cluster, to.address);
  await using hand = await byHand(cluster, one, two, { name: 'hand', network: '192.168.77', loadBalancers });
  await using bare = await byHand(cluster, one, two, { name: 'bare', network: '192.168.78', loadBalancers: [] });
  const pairs = [
    pods,
    { name: 'by hand', ...hand, ...structuredClone(results) },
    { name: 'by hand without load balancers', ...bare, ...structuredClone(results) },
  ];
  for (const { name, from: client, address } of pairs)
    if (!(await client.reaches(address, { seconds: 20 }))) throw new Error(`${name}: ${address} does not answer`);
  // In turn, and each first once, so that what the machine does meanwhile meets all.
  for (let round = 0; round < rounds; round++)
    for (const at of pairs.keys()) {
      const pair = pairs[(round + at) % pairs.length] as Pair;
      pair.gbit.push(await throughput(pair, seconds));
      pair.ms.push(await latency(pair, pings));
    }
  for (const { sandbox } of [from, to]) await sandbox.delete();
  const [ours, theirs, without] = pairs as [Pair, Pair, Pair];
  return [
    { name: 'load of the machine before', value: load, unit: 'processes' },
    ...pairs.flatMap(({ name, gbit, ms }) => [
      { name: `${name}: throughput between nodes, one connection, median`, value: median(gbit), unit: 'Gbit/s' },
      { name: `${name}: round trip between nodes, median of means`, value: median(ms), unit: 'ms' },
    ]),
    { name: 'throughput of pods to that by hand, median of rounds', value: ratio(ours.gbit, theirs.gbit) * 100, unit: '%', aim: '≥ 98' },
    { name: 'round trip of pods to that by hand, median of rounds', value: ratio(ours.ms, theirs.ms), unit: '×', aim: '≤ 1.05' },
    { name: 'the same without load balancers: throughput', value: ratio(ours.gbit, without.gbit) * 100, unit: '%' },
    { name: 'the same without load balancers: round trip', value: ratio(ours.ms, without.ms), unit: '×' },
  ];
}

/** Of each round by itself, since the machine's speed changes from one to the next. */
function ratio(ones: readonly number[], others: readonly number[]): number {
  return median(ones.map((one, round) => one / (others[round] ?? NaN)));
}

/** Adds a VIP, as a Service has one. @returns the load balancers of the pods' switch */
async function service({ ovn }: PacketCluster, endpoint: string): Promise<readonly string[]> {
  await ovn.nbctl('--wait=hv', 'lb-add', 'cluster-tcp-loadbalancer', '10.96.0.77:80', `${endpoint}:5201`);
  const rows = await ovn.nbctl('--bare', '--columns=load_balancer', 'find', 'logical_switch', 'name=ovn-default');
  return rows.trim().split(/\s+/);
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

interface ByHand {
  readonly name: string;
  /** Of 24 bits. */
  readonly network: string;
  /** UUIDs. */
  readonly loadBalancers: readonly string[];
}

/** A logical switch with a port on each node, with `ovn-nbctl`, `ip` and `ovs-vsctl` alone. */
async function byHand(
  { ovn }: PacketCluster,
  one: AgentNode,
  two: AgentNode,
  { name, network, loadBalancers }: ByHand,
): Promise<Pick<Pair, 'from' | 'to' | 'address'> & AsyncDisposable> {
  await ovn.nbctl('ls-add', name);
  for (const row of loadBalancers) await ovn.nbctl('ls-lb-add', name, row);
  const ends: NetworkNamespace[] = [];
  for (const [at, { node }] of [one, two].entries()) {
    const [port, mac, address] = [`${name}${at}`, `0a:00:00:00:00:0${at + 1}`, `${network}.${at + 1}`];
    await ovn.nbctl('lsp-add', name, port, '--', 'lsp-set-addresses', port, `${mac} ${address}`);
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
    ...{ from, to, address: `${network}.2` },
    async [Symbol.asyncDispose]() {
      await ovn.nbctl('ls-del', name);
      for (const end of ends) await end.delete();
    },
  };
}
