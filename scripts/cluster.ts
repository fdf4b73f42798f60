/**
 * `npm run cluster`: a whole Kubernetes on this machine until Ctrl-C, as root on Linux: two nodes with containerd, kubelet, kube-proxy, Open
 * vSwitch, the node agent and the CNI plugin.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FAMILIES, type Families } from '../lab/cluster/families.ts';
import { KubernetesCluster, NoKubernetesClusterError } from '../lab/cluster/kubernetes-cluster.ts';
import { PROXY_MODES, type ProxyMode } from '../lab/cluster/node-files.ts';
import { makeTemporaryFolder } from '../lab/temporary-folder.ts';
import { buildExecutable } from './build/executable.ts';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '2' },
    proxy: { type: 'string', default: 'iptables' },
    families: { type: 'string', default: 'ipv4' },
  },
});
const nodes = Number(values.nodes);
const proxy = PROXY_MODES.find((mode) => mode === values.proxy);
const families = FAMILIES.find((one) => one === values.families);
const isValid = Number.isInteger(nodes) && nodes >= 1 && nodes <= 9;
process.exitCode = isValid && proxy !== undefined && families !== undefined ? await run(nodes, proxy, families) : usage();

function usage(): number {
  process.stderr.write(`npm run cluster -- [--nodes 1 to 9] [--proxy ${PROXY_MODES.join('|')}] [--families ${FAMILIES.join('|')}]\n`);
  return 2;
}

async function run(count: number, mode: ProxyMode, addresses: Families): Promise<number> {
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
  const folder = await makeTemporaryFolder('kiln-plugin-');
  try {
    const plugin = join(folder, 'kiln-cni');
    say('building the CNI plugin');
    await buildExecutable('src/cni/main.ts', plugin);
    await using cluster = await KubernetesCluster.start({ plugin, nodes: count, proxy: mode, families: addresses, progress: say });
    say('waiting for the nodes');
    await cluster.kubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=300s');
    await cluster.kubectl('rollout', 'status', 'deployment/coredns', '--namespace=kube-system', '--timeout=300s');
    const [first] = cluster.nodes;
    process.stdout.write(
      `\nexport KUBECONFIG=${cluster.control.kubeconfig}\n\n` +
        `kubectl create deployment web --image=kiln.local/busybox:1 --replicas=4\n` +
        `logs: ${cluster.directory}/*/*.log, ${cluster.control.directory}/*.log\n` +
        `a node's view: ${first?.machine.command('sh').join(' ')}\nCtrl-C ends all of it.\n`,
    );
    await ended;
    say('ending the cluster');
    return 0;
  } catch (error) {
    if (!(error instanceof NoKubernetesClusterError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function say(what: string): void {
  process.stderr.write(`[cluster] ${what}\n`);
}
