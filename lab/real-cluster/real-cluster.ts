import { mkdir, readFile, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { Daemon, DaemonError } from '../programs/daemon.ts';
import { freePorts } from '../programs/free-port.ts';
import { assetVariable, findKubernetesProgram, type KubernetesProgram } from '../programs/kubernetes.ts';
import { runProgram, SHORT_GO_PROGRAM } from '../programs/run-program.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import type { CertificateName } from '../../src/certificates/authority.ts';
import { apiServerCommand, type CommandLine, controllerManagerCommand, etcdCommand, schedulerCommand } from './command-lines.ts';
import { certificateUser, createCredentials, type Credentials, writeKubeconfig, writeUserKubeconfig } from './credentials.ts';

/** The daemons of a control plane without nodes, in the order of their start. */
export const CLUSTER_DAEMONS = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const;
/** Those with nodes. */
const WITH_NODES = [...CLUSTER_DAEMONS, 'kube-scheduler'] as const;
export type ClusterDaemon = (typeof WITH_NODES)[number];

/** The optional parts. */
export interface RealClusterOptions {
  /** False: without kube-controller-manager. Then namespaces never terminate, and dependents are never collected. */
  readonly controllerManager?: boolean;
  /** For nodes with kubelets, which reach the control plane there. */
  readonly place?: ControlPlanePlace;
  /** True: with kube-scheduler also without a place. The stand-in kubelet then leaves binding to it. */
  readonly scheduler?: boolean;
}

/** The machine of a control plane, which has a loopback interface of its own. */
export interface ControlPlanePlace {
  /** Where nodes and pods reach it. */
  readonly address: string;
  readonly serviceRange: string;
  /** The first addresses of that range. */
  readonly serviceAddresses: readonly string[];
  /** The command that runs a program there. */
  command(...program: CommandLine): CommandLine;
  /** Makes a port of its loopback interface reachable at the same one of this host's. @param directory for a socket and a log */
  expose(port: number, directory: string): Promise<AsyncDisposable>;
}

/** The names of the API server within a cluster. */
const HOSTS = ['localhost', '127.0.0.1', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'] as const;

/** A program is missing: the message names it, and how to install it. */
export class ClusterProgramMissingError extends Error {
  override name = 'ClusterProgramMissingError';
  readonly code = 'CLUSTER_PROGRAM_MISSING';
}

/** Why a real cluster cannot be started here, as a test's reason to skip; undefined when it can. */
export function missingClusterPrograms(): string | undefined {
  const missing = CLUSTER_DAEMONS.filter((program) => findKubernetesProgram(program) === undefined);
  if (missing.length === 0) return undefined;
  return `${missing.join(', ')} not found: run \`node scripts/setup.mjs test\`, or name them in ${missing.map(assetVariable).join(', ')}`;
}

const TRIES = 3;

interface Running {
  readonly directory: string;
  readonly credentials: Credentials;
  readonly server: string;
  readonly etcdUrl: string;
  readonly daemons: Readonly<Record<ClusterDaemon, Daemon>>;
  readonly exposed: readonly AsyncDisposable[];
}

/**
 * A test machine has little processor time and enough memory: with Go's default, kube-apiserver spends more than a quarter of its time on
 * garbage collection. The caller's environment has precedence.
 */
const FEWER_COLLECTIONS = { GOGC: '400', GOMEMLIMIT: '6GiB' } as const;

/**
 * A real Kubernetes control plane in a temporary folder: etcd, kube-apiserver, kube-controller-manager, on free ports of 127.0.0.1, with an
 * administrator's kubeconfig. It has no scheduler, unless asked for, and no node: the stand-in kubelet replaces both.
 */
export class RealCluster implements AsyncDisposable {
  readonly #withControllerManager: boolean;
  readonly #place: ControlPlanePlace | undefined;
  readonly #withScheduler: boolean;
  #running: Running | undefined;
  #starting: Promise<void> | undefined;

  constructor(options: RealClusterOptions = {}) {
    const missing = missingClusterPrograms();
    if (missing !== undefined) throw new ClusterProgramMissingError(missing);
    this.#withControllerManager = options.controllerManager ?? true;
    this.#place = options.place;
    this.#withScheduler = options.scheduler ?? options.place !== undefined;
  }

  /** Starts the daemons that do not run; resolves when the API server is ready and the controllers work. */
  async start(): Promise<void> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    await this.#starting;
  }

  /** Path of the administrator's kubeconfig. */
  get kubeconfig(): string {
    return this.#state.credentials.kubeconfig;
  }

  /** Authority of the API server's client certificate for webhooks. */
  get frontProxyAuthority(): string {
    return this.#state.credentials.frontProxyAuthority;
  }

  /** `https://127.0.0.1:<port>`; the port stays the same across restarts. */
  get server(): string {
    return this.#state.server;
  }

  /** Where etcd serves its clients. */
  get etcdUrl(): string {
    return this.#state.etcdUrl;
  }

  /** Bearer token of a user in `system:masters`. */
  get adminToken(): string {
    return this.#state.credentials.adminToken;
  }

  /** PEM of the certificate that clients trust. */
  async caCertificate(): Promise<string> {
    return await readFile(this.#state.credentials.certificate, 'utf8');
  }

  /** Folder of data, credentials and logs (`<daemon>.log`). */
  get directory(): string {
    return this.#state.directory;
  }

  /**
   * The kubeconfig of a user by certificate, as `system:node:NAME` of `system:nodes`; only in a cluster with nodes.
   */
  async writeKubeconfig(file: string, name: CertificateName): Promise<void> {
    const { credentials, server } = this.#state;
    if (credentials.forNodes === undefined || this.#place === undefined) throw new TypeError('this cluster is not for nodes');
    const { authority } = credentials.forNodes;
    const user = certificateUser(authority.issue({ name, purpose: 'client' }));
    await writeUserKubeconfig(file, { server: serverAt(this.#place.address, server), ca: authority.certificate, user });
  }

  /** The kubeconfig of a bearer token, for a program on a node. */
  async writeTokenKubeconfig(file: string, token: string): Promise<void> {
    const { credentials, server } = this.#state;
    const ca = await readFile(credentials.certificate, 'utf8');
    await writeUserKubeconfig(file, { server: serverAt(this.#place?.address ?? '127.0.0.1', server), ca, user: { token } });
  }

  /** The file of the authority that signs clients' certificates; only in a cluster with nodes. */
  get clientAuthority(): string {
    const { forNodes } = this.#state.credentials;
    if (forNodes === undefined) throw new TypeError('this cluster is not for nodes');
    return forNodes.authorityFile;
  }

  /** Process id of a daemon while it runs. */
  pid(which: ClusterDaemon): number | undefined {
    return this.#state.daemons[which].pid;
  }

  /** Sends a signal, SIGKILL by default; if the signal ends the daemon, waits for its end. */
  async kill(which: ClusterDaemon, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#state.daemons[which].kill(signal);
  }

  /** Restarts a daemon, running or not; resolves when it serves. */
  async restart(which: ClusterDaemon): Promise<void> {
    await this.#state.daemons[which].stop();
    await this.#bringUp(which);
  }

  /** Ends every daemon and removes the folder. The cluster can be started again, empty. */
  async stop(): Promise<void> {
    await this.#starting?.catch(() => {});
    await this.#discard();
  }

  async #discard(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    for (const which of WITH_NODES.toReversed()) await running.daemons[which].stop();
    for (const exposed of running.exposed) await exposed[Symbol.asyncDispose]();
    this.#running = undefined;
    await rm(running.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Runs kubectl as administrator and returns what it prints. */
  async kubectl(args: readonly string[], input?: string): Promise<string> {
    const program = programPath('kubectl');
    const cache = join(this.directory, 'kubectl-cache');
    const command: CommandLine = [program, `--kubeconfig=${this.kubeconfig}`, `--cache-dir=${cache}`, ...args];
    return await runProgram(command, { env: { ...process.env, ...SHORT_GO_PROGRAM }, ...(input !== undefined && { input }) });
  }

  async #start(): Promise<void> {
    const isFirst = this.#running === undefined;
    for (let tries = 1; ; tries++) {
      this.#running ??= await this.#prepare();
      try {
        const parts = this.#withScheduler ? WITH_NODES : CLUSTER_DAEMONS;
        for (const which of parts) if (which !== 'kube-controller-manager' || this.#withControllerManager) await this.#bringUp(which);
        return;
      } catch (error) {
        // Another cluster may have taken a port between the choice and the start.
        if (!isFirst || tries === TRIES || !(error instanceof DaemonError)) throw error;
        await this.#discard();
      }
    }
  }

  async #prepare(): Promise<Running> {
    const directory = await makeTemporaryFolder('kiln-cluster-');
    await mkdir(join(directory, 'certificates'));
    const place = this.#place;
    const credentials = await createCredentials(directory, place && [...HOSTS, place.address, ...place.serviceAddresses]);
    const [clientPort = 0, peerPort = 0, port = 0] = await freePorts(3);
    const etcdUrl = `http://127.0.0.1:${clientPort}`;
    const manager = programPath('kube-controller-manager');
    const exposed = place === undefined ? [] : await exposeAll([clientPort, port], place, directory);
    const commands: Readonly<Record<ClusterDaemon, CommandLine>> = {
      etcd: etcdCommand(programPath('etcd'), directory, etcdUrl, `http://127.0.0.1:${peerPort}`),
      'kube-apiserver': apiServerCommand(programPath('kube-apiserver'), credentials, port, etcdUrl, place, await apiServerMinor()),
      'kube-controller-manager': controllerManagerCommand(manager, credentials, await minorVersion(manager)),
      'kube-scheduler': schedulerCommand(this.#withScheduler ? programPath('kube-scheduler') : 'kube-scheduler', credentials),
    };
    const daemon = (name: ClusterDaemon): Daemon =>
      new Daemon({
        name,
        command: place?.command(...commands[name]) ?? commands[name],
        log: join(directory, `${name}.log`),
        cwd: directory,
        env: { ...FEWER_COLLECTIONS, ...process.env },
      });
    const daemons = {
      etcd: daemon('etcd'),
      'kube-apiserver': daemon('kube-apiserver'),
      'kube-controller-manager': daemon('kube-controller-manager'),
      'kube-scheduler': daemon('kube-scheduler'),
    };
    return { directory, credentials, server: `https://127.0.0.1:${port}`, etcdUrl, daemons, exposed };
  }

  async #bringUp(which: ClusterDaemon): Promise<void> {
    const { daemons, etcdUrl, credentials, server } = this.#state;
    daemons[which].start();
    switch (which) {
      case 'etcd':
        await daemons.etcd.waitUntil(() => isEtcdHealthy(etcdUrl));
        return;
      case 'kube-apiserver':
        // The namespace appears shortly after the server is ready.
        await daemons['kube-apiserver'].waitUntil(
          async () => (await this.#get('/readyz')) && (await this.#get('/api/v1/namespaces/default')),
        );
        await writeKubeconfig(credentials, server);
        return;
      case 'kube-controller-manager':
        // The controller that creates the service account is among the last to start.
        await daemons[which].waitUntil(() => this.#get('/api/v1/namespaces/default/serviceaccounts/default'));
        return;
      case 'kube-scheduler':
        return;
    }
  }

  async #get(path: string): Promise<boolean> {
    const ca = await this.caCertificate().catch(() => undefined);
    if (ca === undefined) return false;
    const headers = { authorization: `Bearer ${this.adminToken}` };
    return await new Promise((resolve) => {
      const sent = request(new URL(path, this.server), { ca, headers, agent: false, timeout: 5_000 }, (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode === 200));
      });
      sent.once('timeout', () => sent.destroy());
      sent.once('error', () => resolve(false));
      sent.end();
    });
  }

  get #state(): Running {
    if (this.#running === undefined) throw new TypeError('this cluster does not run: call start() first');
    return this.#running;
  }
}

/** At another address, with the same port. */
function serverAt(address: string, server: string): string {
  return `https://${address.includes(':') ? `[${address}]` : address}:${new URL(server).port}`;
}

async function exposeAll(ports: readonly number[], place: ControlPlanePlace, directory: string): Promise<readonly AsyncDisposable[]> {
  const exposed: AsyncDisposable[] = [];
  for (const port of ports) exposed.push(await place.expose(port, directory));
  return exposed;
}

function programPath(program: KubernetesProgram): string {
  const path = findKubernetesProgram(program);
  if (path === undefined) throw new ClusterProgramMissingError(`${program} was not found: run \`node scripts/setup.mjs test\``);
  return path;
}

/** The minor version of the kube-apiserver that would be started: 20 for v1.20. */
export async function apiServerMinor(): Promise<number> {
  return await minorVersion(programPath('kube-apiserver'));
}

async function minorVersion(program: string): Promise<number> {
  const printed = await runProgram([program, '--version']);
  return Number(/v\d+\.(\d+)/.exec(printed)?.[1] ?? Number.NaN);
}

async function isEtcdHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
