import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NODE_FLAGS } from '../../src/runtime/heap.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { installCrds } from '../crd-installation.ts';
import { PortForward } from '../node/port-forward.ts';
import { reachPods, translateUnderlay } from '../node/reach-pods.ts';
import { Underlay } from '../node/underlay.ts';
import { OvnLab } from '../ovn/ovn-lab.ts';
import { Daemon } from '../programs/daemon.ts';
import { runProgram } from '../programs/run-program.ts';
import { RealCluster } from '../real-cluster/real-cluster.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { writeAgentAccount } from './agent-account.ts';
import { ClusterNode } from './cluster-node.ts';
import { corednsObjects } from './coredns.ts';
import { type Families, familyPlan } from './families.ts';
import { busyboxImage, type Image, programImage } from './images.ts';
import type { ProxyMode } from './node-files.ts';
import { findNodePrograms } from './node-programs.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

export interface KubernetesClusterOptions {
  /** The executable of the CNI plugin. */
  readonly plugin: string;
  readonly nodes?: number;
  readonly proxy?: ProxyMode;
  /** Of nodes, pods and Services. Default: IPv4. */
  readonly families?: Families;
  /** Makes further images in a folder, which all nodes get. */
  readonly images?: (folder: string) => Promise<readonly Image[]>;
  /** Says what is being done. */
  readonly progress?: (what: string) => void;
}

/** A program is missing, or a right. */
export class NoKubernetesClusterError extends Error {
  override name = 'NoKubernetesClusterError';
  readonly code = 'NO_KUBERNETES_CLUSTER';
}

/**
 * A whole Kubernetes on one machine: a control plane, OVN, our controller, and nodes where containers run. Everything is a child of this process
 * and lies in one temporary folder.
 */
export class KubernetesCluster implements AsyncDisposable {
  readonly control: RealCluster;
  readonly ovn: OvnLab;
  readonly underlay: Underlay;
  readonly controller: Daemon;
  readonly directory: string;
  readonly #nodes = new Map<string, ClusterNode>();
  readonly #addNode: (index: number) => Promise<ClusterNode>;
  readonly #stops: (() => Promise<unknown>)[];

  private constructor(
    parts: Pick<KubernetesCluster, 'control' | 'ovn' | 'underlay' | 'controller' | 'directory'>,
    addNode: (index: number) => Promise<ClusterNode>,
    stops: (() => Promise<unknown>)[],
  ) {
    this.control = parts.control;
    this.ovn = parts.ovn;
    this.underlay = parts.underlay;
    this.controller = parts.controller;
    this.directory = parts.directory;
    this.#addNode = addNode;
    this.#stops = stops;
  }

  /**
   * Starts all of it and CoreDNS; pods run as soon as their nodes are ready. About 30 s.
   *
   * @throws NoKubernetesClusterError if this machine cannot have one
   */
  static async start(options: KubernetesClusterOptions): Promise<KubernetesCluster> {
    const { plugin, nodes = 2, proxy = 'iptables', families = 'ipv4', progress = () => {} } = options;
    const programs = findNodePrograms();
    if (typeof programs === 'string') throw new NoKubernetesClusterError(programs);
    const stops: (() => Promise<unknown>)[] = [];
    try {
      const directory = await makeTemporaryFolder('kiln-k8s-');
      stops.unshift(() => rm(directory, { recursive: true, force: true }));
      const ovn = new OvnLab();
      stops.unshift(() => ovn.stop());
      progress('starting OVN');
      await ovn.start();
      const underlay = await Underlay.create();
      stops.unshift(() => underlay.delete());
      progress('starting the control plane');
      const { namespace } = underlay;
      const plan = familyPlan(families);
      const control = new RealCluster({
        place: {
          address: plan.controlPlane(underlay),
          serviceRange: plan.serviceRange,
          serviceAddresses: plan.serviceAddresses,
          command: (...program) => namespace.command(...program),
          expose: (port, folder) => PortForward.fromHost(namespace, port, folder),
        },
      });
      stops.unshift(() => control.stop());
      await control.start();
      const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: control.kubeconfig })));
      stops.unshift(() => client.close());
      await installCrds(client);
      const controller = new Daemon({
        name: 'kiln',
        command: controllerCommand(control.kubeconfig, ovn.nbEndpoint, plan.controllerFlags),
        log: join(directory, 'controller.log'),
      });
      controller.start();
      stops.unshift(() => controller.stop());
      const serves = (): Promise<boolean> =>
        control.kubectl(['get', 'subnets.kubeovn.io', 'ovn-default']).then(
          () => true,
          () => false,
        );
      await controller.waitUntil(serves);
      const agentAccount = join(directory, 'agent.kubeconfig');
      await writeAgentAccount(control, agentAccount);
      progress('making images');
      await mkdir(join(directory, 'images'));
      const images = [
        await busyboxImage(programs.busybox, join(directory, 'images')),
        await programImage('coredns', programs.coredns, join(directory, 'images')),
        ...((await options.images?.(join(directory, 'images'))) ?? []),
      ] as const;
      const addNode = async (index: number): Promise<ClusterNode> => {
        const name = `node-${index}`;
        const [address, address6] = plan.nodeAddresses(index);
        const addresses = { address, ...(address6 === undefined ? {} : { address6 }) };
        const place = { name, ...addresses, underlay, installation: ovn.installation, directory: join(directory, name) };
        return await ClusterNode.start({
          ...place,
          cluster: control,
          images,
          programs,
          plugin,
          agentAccount,
          southbound: ovn.sbEndpoint,
          proxy,
          dnsAddresses: plan.dnsAddresses,
        });
      };
      const cluster = new KubernetesCluster({ control, ovn, underlay, controller, directory }, addNode, stops);
      for (let index = 1; index <= nodes; index++) {
        progress(`starting node-${index}`);
        await cluster.addNode(index);
      }
      const list = { apiVersion: 'v1', kind: 'List', items: corednsObjects(images[1].name, plan.dnsAddresses) };
      await control.kubectl(['apply', '-f', '-'], JSON.stringify(list));
      return cluster;
    } catch (error) {
      for (const stop of stops) await stop();
      throw error;
    }
  }

  get nodes(): readonly ClusterNode[] {
    return [...this.#nodes.values()];
  }

  /** @throws TypeError if there is none of this name */
  node(name: string): ClusterNode {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new TypeError(`there is no node ${name}`);
    return node;
  }

  /** Starts one more machine, which joins the cluster. */
  async addNode(index: number): Promise<ClusterNode> {
    const node = await this.#addNode(index);
    this.#nodes.set(node.name, node);
    await translateUnderlay(this.underlay, node.packets);
    await this.#letControlPlaneReachPods();
    this.#stops.unshift(() => this.removeNode(node.name));
    return node;
  }

  /** Ends a machine as a power failure does. The Node object stays. */
  async removeNode(name: string): Promise<void> {
    const node = this.#nodes.get(name);
    this.#nodes.delete(name);
    await this.#letControlPlaneReachPods();
    await node?.delete();
  }

  /** Through the first node that there is. */
  async #letControlPlaneReachPods(): Promise<void> {
    const [first] = this.nodes;
    if (first !== undefined) await reachPods(this.underlay, first.packets);
  }

  /** Runs kubectl as administrator. */
  async kubectl(...args: readonly string[]): Promise<string> {
    return await this.control.kubectl(args);
  }

  /** Runs a command of `kiln` on this cluster: `kiln('status')`. Throws `ProgramError` if its exit code is not 0. */
  async kiln(command: string): Promise<string> {
    const connection = [`--kubeconfig=${this.control.kubeconfig}`, `--ovn-nb=${this.ovn.nbEndpoint}`];
    return await runProgram([process.execPath, MAIN, command, ...connection]);
  }

  async apply(...objects: readonly object[]): Promise<void> {
    await this.control.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) await stop();
  }
}

function controllerCommand(kubeconfig: string, northbound: string, more: readonly string[]): readonly [string, ...string[]] {
  const flags = ['start', '--kubeconfig', kubeconfig, '--ovn-nb', northbound, '--metrics-bind-address=127.0.0.1:0', ...more];
  return [process.execPath, ...NODE_FLAGS, MAIN, ...flags];
}
