import { access, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NODE_FLAGS } from '../../src/runtime/heap.ts';
import { PacketNode, type PacketNodeOptions } from '../node/packet-node.ts';
import { Daemon } from '../programs/daemon.ts';
import { runProgram } from '../programs/run-program.ts';
import type { RealCluster } from '../real-cluster/real-cluster.ts';
import type { Image } from './images.ts';
import { Machine } from './machine.ts';
import {
  CONTAINERD_SOCKET,
  type ProxyMode,
  writeContainerdConfiguration,
  writeKubeletConfiguration,
  writeProxyConfiguration,
} from './node-files.ts';
import { type NodePrograms, REFERENCE_PLUGINS } from './node-programs.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

/** The programs on a node that run for ever, in the order of their start. Those of Open vSwitch are in `packets.vswitch`. */
export const NODE_DAEMONS = ['kiln-agent', 'containerd', 'kubelet', 'kube-proxy'] as const;
export type NodeDaemonName = (typeof NODE_DAEMONS)[number];

export interface ClusterNodeOptions extends PacketNodeOptions {
  readonly cluster: RealCluster;
  /** The first is the sandbox of pods. */
  readonly images: readonly [Image, ...Image[]];
  readonly programs: NodePrograms;
  /** The executable of the CNI plugin. */
  readonly plugin: string;
  /** Kubeconfig of the agent. */
  readonly agentAccount: string;
  /** Endpoint of the Southbound database. */
  readonly southbound: string;
  readonly proxy: ProxyMode;
  /** Of CoreDNS. */
  readonly dnsAddresses: readonly string[];
}

/** A node with all that a user's node has: containerd, kubelet, kube-proxy, Open vSwitch, ovn-controller, our agent and our plugin. */
export class ClusterNode implements AsyncDisposable {
  readonly packets: PacketNode;
  readonly machine: Machine;
  readonly directory: string;
  readonly #daemons: Readonly<Record<NodeDaemonName, Daemon>>;

  private constructor(packets: PacketNode, machine: Machine, options: ClusterNodeOptions) {
    this.packets = packets;
    this.machine = machine;
    this.directory = options.directory;
    const commands = commandsOf(packets, options);
    const daemon = (name: NodeDaemonName): Daemon =>
      new Daemon({
        name: `${name} of ${packets.name}`,
        command: machine.command(...commands[name]),
        log: join(this.directory, `${name}.log`),
      });
    this.#daemons = {
      'kiln-agent': daemon('kiln-agent'),
      containerd: daemon('containerd'),
      kubelet: daemon('kubelet'),
      'kube-proxy': daemon('kube-proxy'),
    };
  }

  get name(): string {
    return this.packets.name;
  }

  /** Starts all of it; kubelet makes the Node object. */
  static async start(options: ClusterNodeOptions): Promise<ClusterNode> {
    const { name, directory, images } = options;
    const packets = await PacketNode.start(options);
    let machine: Machine | undefined;
    try {
      machine = await Machine.start(packets.namespace, name, join(directory, 'machine'));
      const node = new ClusterNode(packets, machine, options);
      await writeFiles(options);
      for (const daemon of NODE_DAEMONS) await node.start(daemon);
      for (const { archive } of images) await node.ctr('image', 'import', '--snapshotter', 'native', archive);
      await packets.vswitch.restart('ovn-controller');
      return node;
    } catch (error) {
      await machine?.delete();
      await packets.delete();
      throw error;
    }
  }

  /** Starts a program; resolves when it serves, as far as others on the node wait for it. */
  async start(name: NodeDaemonName): Promise<void> {
    const daemon = this.#daemons[name];
    daemon.start();
    const ready: Partial<Record<NodeDaemonName, () => Promise<unknown>>> = {
      'kiln-agent': () => access(join(this.directory, 'agent.sock')),
      containerd: () => this.ctr('version'),
    };
    const probe = ready[name];
    if (probe !== undefined)
      await daemon.waitUntil(() =>
        probe().then(
          () => true,
          () => false,
        ),
      );
  }

  /** Kills a program with SIGKILL. */
  async kill(name: NodeDaemonName): Promise<void> {
    await this.#daemons[name].kill('SIGKILL');
  }

  /** Runs `ctr` in the namespace of kubelet's containers. */
  async ctr(...args: readonly string[]): Promise<string> {
    return await this.machine.run('ctr', '--address', CONTAINERD_SOCKET, '--namespace', 'k8s.io', ...args);
  }

  /** Ends it as a power failure does, and deletes all that it had. The Node object stays. */
  async delete(): Promise<void> {
    for (const daemon of Object.values(this.#daemons)) await daemon.kill('SIGKILL');
    await this.machine.delete();
    await this.packets.delete();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete();
  }
}

function commandsOf(
  { name, address, address6, vswitch }: PacketNode,
  { directory, programs, agentAccount, southbound }: ClusterNodeOptions,
): Readonly<Record<NodeDaemonName, readonly [string, ...string[]]>> {
  const path = (file: string): string => join(directory, file);
  return {
    'kiln-agent': [
      process.execPath,
      ...NODE_FLAGS,
      MAIN,
      'agent',
      `--kubeconfig=${agentAccount}`,
      `--node=${name}`,
      `--southbound=${southbound}`,
      `--vswitch=${vswitch.endpoint}`,
      `--socket=${path('agent.sock')}`,
      '--datapath=netdev',
    ],
    containerd: [programs.containerd, `--config=${path('containerd.toml')}`],
    kubelet: [
      programs.kubelet,
      `--config=${path('kubelet.json')}`,
      `--kubeconfig=${path('kubelet.kubeconfig')}`,
      `--hostname-override=${name}`,
      `--node-ip=${[address, address6].filter((one) => one !== undefined).join(',')}`,
    ],
    'kube-proxy': [programs.kubeProxy, `--config=${path('kube-proxy.json')}`],
  };
}

async function writeFiles(options: ClusterNodeOptions): Promise<void> {
  const { name, directory, cluster, programs, images, proxy, plugin, dnsAddresses } = options;
  const path = (file: string): string => join(directory, file);
  const [binaries, configurations] = [path('cni-bin'), path('cni-conf')];
  for (const folder of [binaries, configurations]) await mkdir(folder, { recursive: true });
  for (const reference of REFERENCE_PLUGINS) await symlink(join(programs.plugins, reference), join(binaries, reference));
  const install = ['install-cni', '--plugin', plugin, '--binaries', binaries, '--configurations', configurations];
  await runProgram([process.execPath, MAIN, ...install, '--socket', path('agent.sock')]);
  await writeContainerdConfiguration(path('containerd.toml'), { sandboxImage: images[0].name, binaries, configurations });
  await writeFile(path('resolv.conf'), '');
  const { clientAuthority } = cluster;
  await writeKubeletConfiguration(path('kubelet.json'), { clientAuthority, resolvConf: path('resolv.conf'), dnsAddresses });
  await cluster.writeKubeconfig(path('kubelet.kubeconfig'), { organization: 'system:nodes', commonName: `system:node:${name}` });
  await cluster.writeKubeconfig(path('kube-proxy.kubeconfig'), { commonName: 'system:kube-proxy' });
  await writeProxyConfiguration(path('kube-proxy.json'), { kubeconfig: path('kube-proxy.kubeconfig'), node: name, mode: proxy });
}
