/** A controller within the test's process, with the laboratory's API server and a real ovsdb-server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RULES } from '../compile/rules.ts';
import type { ControllerOptions } from '../controller/controller-options.ts';
import { Controller } from '../controller/controller.ts';
import { KubeClient } from '../kube/client/client.ts';
import type { Connection } from '../kube/transport/connection.ts';
import { connectionFromKubeconfig } from '../kube/transport/connection.ts';
import { KubeTransport } from '../kube/transport/transport.ts';
import type { LabApiServerOptions } from '../../lab/apiserver/server.ts';
import { LabApiServer } from '../../lab/apiserver/server.ts';
import { installCrds } from '../../lab/crd-installation.ts';
import { freePorts } from '../../lab/programs/free-port.ts';
import { monitoredColumns } from '../nb/tables.ts';
import { OvsdbSession } from '../ovsdb/index.ts';
import type { OvsdbServerOptions } from '../ovsdb/testing/ovsdb-server-process.ts';
import { OvsdbServerProcess } from '../ovsdb/testing/ovsdb-server-process.ts';
import { SILENT } from '../runtime/log.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';

export interface InProcessClusterOptions extends LabApiServerOptions {
  readonly durable?: boolean;
  readonly northbound?: OvsdbServerOptions;
}

export class InProcessCluster {
  readonly ovn: OvsdbServerProcess;
  readonly client: KubeClient;
  readonly connection: Connection;
  readonly kubeconfig: string;
  /** Replaced by `restartApi`, with the same address and the same state. */
  api: LabApiServer;
  readonly #directory: string;
  readonly #options: LabApiServerOptions;

  private constructor(
    directory: string,
    options: LabApiServerOptions,
    api: LabApiServer,
    ovn: OvsdbServerProcess,
    kubeconfig: string,
    connection: Connection,
  ) {
    this.#directory = directory;
    this.#options = options;
    this.api = api;
    this.ovn = ovn;
    this.kubeconfig = kubeconfig;
    this.connection = connection;
    this.client = new KubeClient(new KubeTransport(connection));
  }

  /** Starts both servers and installs the CRDs, without a controller. `durable`: the API server keeps its state on disk. */
  static async start({ durable = false, northbound = {}, ...more }: InProcessClusterOptions = {}): Promise<InProcessCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'kiln-cluster-'));
    // A restarted API server keeps its port: no outgoing connection may take it meanwhile.
    const options = durable ? { port: (await freePorts(1))[0] ?? 0, ...more, stateDir: join(directory, 'state') } : more;
    const api = new LabApiServer(options);
    const [ovn] = await Promise.all([OvsdbServerProcess.start(northbound), api.start()]);
    const path = join(directory, 'kubeconfig');
    await api.writeKubeconfig(path);
    const cluster = new InProcessCluster(directory, options, api, ovn, path, await connectionFromKubeconfig({ path }));
    await installCrds(cluster.client);
    return cluster;
  }

  /** Not started. */
  controller(options: Partial<ControllerOptions> = {}): Controller {
    return new Controller({
      client: this.client,
      session: new OvsdbSession({ endpoints: [this.ovn.unix], database: 'OVN_Northbound', tables: monitoredColumns() }),
      rules: RULES,
      settings: DEFAULT_SETTINGS,
      namespace: 'kube-system',
      log: SILENT,
      ...options,
    });
  }

  /** Starts a controller, and stops it after `use`. */
  async withController(options: Partial<ControllerOptions>, use: (controller: Controller) => Promise<void>): Promise<void> {
    const controller = this.controller(options);
    controller.start();
    try {
      await use(controller);
    } finally {
      await controller.stop();
    }
  }

  /** Restarts a durable API server that was stopped, at its address and with its state. */
  async restartApi(): Promise<void> {
    this.api = new LabApiServer({ ...this.#options, port: Number(new URL(this.api.url).port) });
    await this.api.start();
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.api.stop();
    await this.ovn.stop();
    await rm(this.#directory, { recursive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
