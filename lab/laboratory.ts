/**
 * The laboratory of `npm start`: a real OVN central and the embedded API server with the CRDs in it, in one folder.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeClient } from '../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../src/kube/transport/connection.ts';
import { KubeTransport } from '../src/kube/transport/transport.ts';
import { LabApiServer } from './apiserver/server.ts';
import { installCrds } from './crd-installation.ts';
import { StandInKubelet } from './kubelet/stand-in-kubelet.ts';
import { OvnLab } from './ovn/ovn-lab.ts';
import { StandInControllers } from './workloads/stand-in-controllers.ts';

export interface LaboratoryOptions {
  /** The folder of the kubeconfig and the state. */
  readonly directory: string;
  /** The API server's objects outlive this process, in `state` of the folder; OVN's databases do not, since Kiln fills them again. */
  readonly keep?: boolean;
  readonly nodes?: number;
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

  get url(): string {
    return this.#api.url;
  }

  async start(): Promise<void> {
    const { step, directory } = this.#options;
    await step('OVN: Northbound and Southbound databases, ovn-northd', this.ovn.start());
    await step('Kubernetes API server (embedded)', this.#startApi(directory));
    await step("Kube-OVN's custom resources", installCrds(this.client));
    this.#kubelet = new StandInKubelet({ client: this.client, nodes: this.#options.nodes ?? 2 });
    await step(`${this.#options.nodes ?? 2} nodes with stand-in kubelets`, this.#kubelet.start());
    this.#controllers = new StandInControllers({ client: this.client });
    await this.#controllers.start();
  }

  async stop(): Promise<void> {
    await this.#controllers?.stop();
    await this.#kubelet?.stop();
    await this.#client?.close();
    await this.#api.stop();
    await this.ovn.stop();
  }

  async #startApi(directory: string): Promise<void> {
    await mkdir(directory, { recursive: true });
    await this.#api.start();
    await this.#api.writeKubeconfig(this.kubeconfig);
    await this.#api.writeFrontProxyAuthority(this.frontProxyAuthority);
    this.#client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: this.kubeconfig })));
  }
}
