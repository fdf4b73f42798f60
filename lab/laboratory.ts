/**
 * The laboratory of `npm start`: a real OVN central and the embedded API server with the CRDs in it, in one folder.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeClient } from '../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../src/kube/transport/connection.ts';
import { KubeTransport } from '../src/kube/transport/transport.ts';
import { type Log, SILENT } from '../src/runtime/log.ts';
import { LabApiServer } from './apiserver/server.ts';
import { installCrds } from './crd-installation.ts';
import { type LabNode, labNodes } from './kubelet/lab-node.ts';
import { StandInKubelet } from './kubelet/stand-in-kubelet.ts';
import { deleteAbandonedNamespaces } from './node/namespace.ts';
import { whyNoPackets } from './node/requirements.ts';
import { OvnLab } from './ovn/ovn-lab.ts';
import { PacketNetwork } from './packets/packet-network.ts';
import { SandboxFiles } from './packets/sandbox-files.ts';
import { StandInControllers } from './workloads/stand-in-controllers.ts';

export interface LaboratoryOptions {
  /** The folder of the kubeconfig and the state. */
  readonly directory: string;
  /** The API server's objects outlive this process, in `state` of the folder; OVN's databases do not, since Kiln fills them again. */
  readonly keep?: boolean;
  readonly nodes?: number;
  /** Nodes and pods are network namespaces which carry packets, with a node agent each. Only where `whyNoPackets` is undefined. */
  readonly packets?: boolean;
  /** Of the node agents. Default: none. */
  readonly log?: Log;
  /** Port of the API server; any free one when absent. */
  readonly port?: number;
  /** Called with each step; `done` resolves at its end. */
  readonly step: (what: string, done: Promise<unknown>) => Promise<void>;
}

export class Laboratory {
  readonly ovn = new OvnLab();
  readonly kubeconfig: string;
  /** Authority of the API server's client certificate for webhooks. */
  readonly frontProxyAuthority: string;
  readonly #options: LaboratoryOptions;
  readonly #api: LabApiServer;
  #client: KubeClient | undefined;
  #packets: PacketNetwork | undefined;
  #packetsStart: Promise<void> | undefined;
  #isStopped = false;
  #kubelet: StandInKubelet | undefined;
  #controllers: StandInControllers | undefined;

  constructor(options: LaboratoryOptions) {
    this.#options = options;
    this.#api = new LabApiServer({
      ...(options.port === undefined ? {} : { port: options.port }),
      ...(options.keep === true ? { stateDir: join(options.directory, 'state') } : {}),
    });
    this.kubeconfig = join(options.directory, 'kubeconfig');
    this.frontProxyAuthority = join(options.directory, 'front-proxy-ca.crt');
  }

  get client(): KubeClient {
    if (this.#client === undefined) throw new Error('the laboratory is not started');
    return this.#client;
  }

  /** The nodes with packets; undefined in a laboratory without. */
  get packets(): PacketNetwork | undefined {
    return this.#packets;
  }

  get url(): string {
    return this.#api.url;
  }

  async start(): Promise<void> {
    const { step, directory } = this.#options;
    await step('OVN: Northbound and Southbound databases, ovn-northd', this.ovn.start());
    await step('Kubernetes API server (embedded)', this.#startApi(directory));
    await step("Kube-OVN's custom resources", installCrds(this.client));
    const nodes = labNodes(this.#options.nodes ?? 2);
    await this.#removeAbandoned();
    if (this.#options.packets === true) {
      this.#packetsStart = this.#startPackets(nodes);
      await step(`${nodes.length} nodes with Open vSwitch and node agent`, this.#packetsStart);
    }
    if (this.#isStopped) throw new Error('the laboratory was stopped before it had started');
    const sandboxes = this.#packets?.sandboxes;
    this.#kubelet = new StandInKubelet({ client: this.client, nodes, ...(sandboxes === undefined ? {} : { sandboxes }) });
    await step(`${nodes.length} nodes with stand-in kubelets`, this.#kubelet.start());
    this.#controllers = new StandInControllers({ client: this.client });
    await this.#controllers.start();
  }

  /** Also while it starts. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#controllers?.stop();
    await this.#kubelet?.stop();
    await this.#packetsStart?.catch(() => undefined);
    await this.#packets?.delete();
    await this.#client?.close();
    await this.#api.stop();
    await this.ovn.stop();
  }

  /** Of a laboratory that was killed. */
  async #removeAbandoned(): Promise<void> {
    await new SandboxFiles(this.#options.directory).delete();
    if (whyNoPackets() === undefined) await deleteAbandonedNamespaces();
  }

  async #startPackets(nodes: readonly LabNode[]): Promise<void> {
    const { directory, log = SILENT } = this.#options;
    const { client, ovn } = this;
    this.#packets = await PacketNetwork.start({
      nodes,
      client,
      southbound: ovn.sbEndpoint,
      installation: ovn.installation,
      directory,
      log,
    });
  }

  async #startApi(directory: string): Promise<void> {
    await mkdir(directory, { recursive: true });
    await this.#api.start();
    await this.#api.writeKubeconfig(this.kubeconfig);
    await this.#api.writeFrontProxyAuthority(this.frontProxyAuthority);
    this.#client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: this.kubeconfig })));
  }
}
