/** Part of `cni`: pods that become ready per second on one real node (kubelet, containerd), by our plugin and agent and by the reference plugins in turn. */
import { existsSync } from 'node:fs';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesCluster } from '../lab/cluster/kubernetes-cluster.ts';
import { findNodePrograms } from '../lab/cluster/node-programs.ts';
import { startCluster } from '../test/cluster/start-cluster.ts';
import { deployment, gone, podsOf, rolledOut } from '../test/cluster/workloads.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

/** containerd reads the folder again after each change of it. */
const SETTLE_MS = 3_000;

/** A network that pods get, with the beginning of their addresses. */
interface Network {
  readonly name: string;
  readonly prefix: string;
  readonly begin: () => Promise<void>;
}

/** Says on standard error why there are none, where this machine has no containers. */
export async function podsPerSecond({ scaled, rounds }: Sizes['cni']): Promise<readonly BenchRow[]> {
  const programs = findNodePrograms();
  if (typeof programs === 'string' || !existsSync(join(programs.plugins, 'bridge'))) {
    process.stderr.write(`pods per second are not measured: ${typeof programs === 'string' ? programs : 'there is no plugin bridge'}\n`);
    return [];
  }
  const { cluster, end } = await startCluster({ nodes: 1 });
  try {
    await cluster.kubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=300s');
    await rolledOut(cluster, 'deployment/coredns', 'kube-system');
    const networks = await networksOf(cluster, programs.plugins);
    // Once without being measured: images are unpacked, and both plugins were read.
    for (const network of networks) await scale(cluster, network, Math.min(scaled, 4));
    const load = loadavg()[0] ?? 0;
    const rates = networks.map((): number[] => []);
    for (let round = 0; round < rounds; round += 1)
      // In turn, so that what the machine does meanwhile meets both.
      for (const [at, network] of networks.entries()) rates[at]?.push(scaled / (await scale(cluster, network, scaled)));
    const how = `pods ready per second on one node, from 0 to ${scaled}, median of ${rounds}`;
    const ratios = (rates[0] ?? []).map((rate, round) => (rate / (rates[1]?.[round] ?? Number.NaN)) * 100);
    return [
      { name: 'load of the machine before the pods', value: load, unit: 'processes' },
      ...networks.map(({ name }, at) => ({ name: `${name}: ${how}`, value: median(rates[at] ?? []), unit: 'pods/s' })),
      { name: `${how}: share of the reference, round by round`, value: median(ratios), unit: '%' },
    ];
  } finally {
    await end();
  }
}

async function networksOf(cluster: KubernetesCluster, plugins: string): Promise<readonly [Network, Network]> {
  const [{ directory } = { directory: '' }] = cluster.nodes;
  for (const name of ['bridge', 'host-local']) await symlink(join(plugins, name), join(directory, 'cni-bin', name));
  // The first by name is in effect.
  const file = join(directory, 'cni-conf', '00-reference.conflist');
  const ipam = {
    type: 'host-local',
    dataDir: join(directory, 'host-local'),
    ranges: [[{ subnet: '10.244.0.0/16' }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: true, ipam };
  const portmap = { type: 'portmap', capabilities: { portMappings: true } };
  const reference = { cniVersion: '1.0.0', name: 'reference', plugins: [bridge, portmap] };
  return [
    { name: 'kiln', prefix: '10.16.', begin: () => rm(file, { force: true }) },
    { name: 'bridge and host-local', prefix: '10.244.', begin: () => writeFile(file, JSON.stringify(reference)) },
  ];
}

/** @returns seconds until all are ready */
async function scale(cluster: KubernetesCluster, { name, prefix, begin }: Network, pods: number): Promise<number> {
  await begin();
  await sleep(SETTLE_MS);
  await cluster.apply(deployment('many', 0));
  const since = performance.now();
  await cluster.kubectl('scale', 'deployment/many', `--replicas=${pods}`);
  await rolledOut(cluster, 'deployment/many');
  const seconds = (performance.now() - since) / 1_000;
  const others = (await podsOf(cluster, 'many')).flatMap(({ addresses }) => addresses).filter((address) => !address.startsWith(prefix));
  if (others.length > 0) throw new Error(`pods of ${name} have addresses of another network: ${others.join()}`);
  await cluster.kubectl('scale', 'deployment/many', '--replicas=0');
  await gone(cluster, 'many');
  return seconds;
}
