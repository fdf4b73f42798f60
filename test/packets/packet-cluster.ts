/** A cluster whose pods send packets: a real OVN, a controller, and two nodes with Open vSwitch and our agent in each. No container runs. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KubeClient } from '../../src/kube/client/client.ts';
import { type KubeObject, PODS, type Resource } from '../../src/kube/resource.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { ControllerProcess } from '../../src/testing/controller-process.ts';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { buildExecutable } from '../../scripts/build/executable.ts';
import { testEnvironment } from '../../src/testing/environment.ts';
import { PROGRAM_UNDER_TEST } from '../../src/testing/program-under-test.ts';
import { until } from '../../src/testing/until.ts';
import { LabApiServer } from '../../lab/apiserver/server.ts';
import { installCrds } from '../../lab/crd-installation.ts';
import { StandInKubelet } from '../../lab/kubelet/stand-in-kubelet.ts';
import { labNodes } from '../../lab/kubelet/lab-node.ts';
import { PortForward } from '../../lab/node/port-forward.ts';
import { PacketNode } from '../../lab/node/packet-node.ts';
import { whyNoPackets } from '../../lab/node/requirements.ts';
import { Sandbox } from '../../lab/node/sandbox.ts';
import { Underlay } from '../../lab/node/underlay.ts';
import { OvnLab } from '../../lab/ovn/ovn-lab.ts';
import { type Called, type CalledSandbox, callPlugin, type PluginCall } from '../../lab/packets/plugin-call.ts';
import { Daemon } from '../../lab/programs/daemon.ts';
import { findOvn, type OvnInstallation } from '../../lab/programs/ovn.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { makeTemporaryFolder } from '../../lab/temporary-folder.ts';

const installation = findOvn();
/** Of Debian's package containernetworking-plugins. */
export const OTHER_PLUGINS = '/usr/lib/cni';
const DUAL_STACK = ['--default-cidr=10.16.0.0/16,fd00:10:16::/112', '--node-switch-cidr=100.64.0.0/16,fd00:100:64::/112'];

/** Why these tests cannot run here; false if they can. */
export const skip: string | false = whyNoPackets() ?? (installation === undefined && 'OVN is not installed');

/** Applies the account of deploy/agent.yaml with its rights. @returns its kubeconfig */
async function agentAccount(client: KubeClient, admin: string): Promise<string> {
  const documents = parseAllDocuments(readFileSync(join(import.meta.dirname, '../../deploy/agent.yaml'), 'utf8')).map(
    (document) => document.toJS() as KubeObject,
  );
  const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false } as const;
  const accounts: Resource = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
  const resources: readonly Resource[] = [
    accounts,
    { ...rbac, plural: 'clusterroles', kind: 'ClusterRole' },
    { ...rbac, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' },
  ];
  for (const resource of resources)
    for (const object of documents.filter(({ kind }) => kind === resource.kind)) await client.create(resource, object);
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { namespace: 'kube-system', name: 'kiln-agent' },
    spec: {},
  };
  const answer = await client.create<KubeObject>({ ...accounts, kind: 'TokenRequest' }, request, { subresource: 'token' });
  const { status } = answer as unknown as { readonly status: { readonly token: string } };
  const file = `${admin}.agent`;
  const own = parse(readFileSync(admin, 'utf8')) as { users: { user: object }[] };
  for (const user of own.users) user.user = { token: status.token };
  await writeFile(file, stringify(own), { mode: 0o600 });
  return file;
}

export interface AgentProgram {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

const SOURCES: AgentProgram = { file: PROGRAM_UNDER_TEST, env: {} };

export interface PacketClusterOptions {
  /** Default: 2. */
  readonly nodes: number;
  readonly dualStack: boolean;
  /** The databases and logs of Open vSwitch of each node are on a disk of so many MiB; default: on the host's. */
  readonly diskMiB: number;
  /** The agent's; default: its sources. */
  readonly program: AgentProgram;
  /** More flags of the controller. */
  readonly controllerFlags: readonly string[];
}

/** A node with its agent, which is a process of its own in the node's namespace. */
export class AgentNode {
  readonly node: PacketNode;
  readonly socket: string;
  readonly log: string;
  /** Of the databases and logs of Open vSwitch. */
  readonly disk: string;
  /** Its dump before the agent came. */
  before = '';
  /** Of `kiln agent`, without its socket. */
  readonly flags: readonly string[];
  readonly #daemon: Daemon;
  readonly #plugin: string;

  constructor(node: PacketNode, directory: string, kubeconfig: string, southbound: string, plugin: string, program: AgentProgram) {
    this.#plugin = plugin;
    this.node = node;
    this.socket = join(directory, 'agent.sock');
    this.log = join(directory, 'agent.log');
    this.disk = join(directory, 'ovs');
    const places = [`--southbound=${southbound}`, `--vswitch=${node.vswitch.endpoint}`, `--gateway-namespace=${node.gatewayNamespace}`];
    this.flags = [`--kubeconfig=${kubeconfig}`, `--node=${node.name}`, ...places, '--datapath=netdev'];
    const command = [process.execPath, program.file, 'agent', ...this.flags, `--socket=${this.socket}`] as const;
    this.#daemon = new Daemon({
      name: 'kiln agent',
      command: node.namespace.command(...command),
      log: this.log,
      env: { ...testEnvironment(), ...program.env },
    });
  }

  /** Of the agent, while it runs. */
  get pid(): number | undefined {
    return this.#daemon.pid;
  }

  /** Runs a command of `kiln agent` on this node. */
  async agentCommand(...args: readonly string[]): Promise<RanKiln> {
    const places = [
      `--vswitch=${this.node.vswitch.endpoint}`,
      `--gateway-namespace=${this.node.gatewayNamespace}`,
      `--socket=${this.socket}`,
    ];
    const flags =
      args[0] === 'cleanup'
        ? [
            ...places,
            `--ovn-run=${dirname(this.node.vswitch.endpoint.slice(5))}`,
            `--binaries=${this.#plugin}-bin`,
            `--configurations=${this.#plugin}-conf`,
          ]
        : args[0] === 'status'
          ? places.slice(2)
          : [];
    const [program, ...command] = this.node.namespace.command(process.execPath, PROGRAM_UNDER_TEST, 'agent', ...args, ...flags);
    return await new Promise((resolve) => {
      execFile(program, command, { env: testEnvironment() }, (error, out, err) => {
        resolve({ exit: error === null ? 0 : Number(error.code), out, err });
      });
    });
  }

  /** All that an agent may change on the node, as text. */
  async dump(): Promise<string> {
    const { namespace, vswitch } = this.node;
    const parts = [
      (await namespace.run('ip', '-brief', 'link', 'show')).replaceAll(/ .*/g, ''),
      (await namespace.run('ip', '-brief', '-4', 'address', 'show')).replaceAll(/\b(UP|DOWN|UNKNOWN) +/g, ''),
      await namespace.run('ip', 'rule', 'show'),
      // Link-local addresses come a while after their link.
      (await namespace.run('ip', 'route', 'show', 'table', 'all')).replaceAll(/^.*\bfe80::.*\n/gm, ''),
      await namespace.run('nft', '--stateless', 'list', 'ruleset'),
      await vswitch.vsctl('--columns=name', 'list', 'bridge'),
      await vswitch.vsctl('--columns=name', 'list', 'interface'),
      await vswitch.vsctl('--columns=external_ids', 'list', 'open_vswitch'),
    ];
    return parts.map((part) => part.split('\n').toSorted().join('\n')).join('\n---\n');
  }

  startAgent(): void {
    this.#daemon.start();
  }

  async stopAgent(): Promise<void> {
    await this.#daemon.stop();
  }

  async killAgent(): Promise<void> {
    await this.#daemon.kill('SIGKILL');
  }

  /** Calls the plugin as a container runtime does. */
  async cni(...call: Parameters<AgentNode['callPlugin']>): Promise<Pick<Called, 'exit' | 'output'>> {
    const { exit, output } = await this.callPlugin(...call);
    return { exit, output };
  }

  /** The same for a further interface, with the plugin of that name, which finds ours by Kube-OVN's name. */
  async attach(
    command: string,
    pod: string,
    sandbox: CalledSandbox,
    interfaceName: string,
    conf: { readonly type: string },
    args?: string,
  ): Promise<Pick<Called, 'exit' | 'output'>> {
    const own = conf.type === 'kube-ovn';
    const program = own ? ([this.#plugin] as const) : this.node.namespace.command(join(OTHER_PLUGINS, conf.type));
    const named = args === undefined ? {} : { args };
    return await this.#call({ program, command, pod, sandbox, more: conf, interfaceName, plugins: dirname(this.#plugin), ...named });
  }

  async #call(call: Omit<PluginCall, 'socket' | 'pod'> & { readonly pod: string }): Promise<Pick<Called, 'exit' | 'output'>> {
    const { exit, output } = await callPlugin({ ...call, socket: this.socket, pod: { namespace: 'default', name: call.pod } });
    return { exit, output };
  }

  /** The same, with what it prints on standard error. */
  async callPlugin(command: string, pod: string, sandbox: CalledSandbox, more: object = {}): Promise<Called> {
    const named = { namespace: 'default', name: pod };
    return await callPlugin({ program: [this.#plugin], command, socket: this.socket, pod: named, sandbox, more });
  }
}

export interface RanKiln {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

export interface RunningPod {
  /** As its annotation has them. */
  readonly address: string;
  readonly sandbox: Sandbox;
}

export class PacketCluster implements AsyncDisposable {
  readonly ovn: OvnLab;
  readonly underlay: Underlay;
  readonly client: KubeClient;
  /** Of the administrator. */
  readonly kubeconfig: string;
  readonly controller: ControllerProcess;
  readonly nodes: readonly AgentNode[];
  readonly #stops: readonly (() => Promise<unknown>)[];
  #containers = 0;

  private constructor(
    parts: Pick<PacketCluster, 'ovn' | 'underlay' | 'client' | 'kubeconfig' | 'controller' | 'nodes'>,
    stops: readonly (() => Promise<unknown>)[],
  ) {
    this.ovn = parts.ovn;
    this.underlay = parts.underlay;
    this.client = parts.client;
    this.kubeconfig = parts.kubeconfig;
    this.controller = parts.controller;
    this.nodes = parts.nodes;
    this.#stops = stops;
  }

  /**
   * Two nodes, `node-1` and `node-2`, or as many as `nodes`. With `dualStack` they, their pods and the join network have both families.
   */
  static async start({
    nodes: count = 2,
    dualStack = false,
    diskMiB,
    program = SOURCES,
    controllerFlags = [],
  }: Partial<PacketClusterOptions> = {}): Promise<PacketCluster> {
    const stops: (() => Promise<unknown>)[] = [];
    const started = async <T>(what: T, start: () => Promise<unknown>, stop: () => Promise<unknown>): Promise<T> => {
      stops.unshift(stop);
      await start();
      return what;
    };
    try {
      const directory = await makeTemporaryFolder('kiln-packets-');
      stops.unshift(() => rm(directory, { recursive: true, force: true }));
      const plugin = join(directory, 'plugins', 'kube-ovn');
      await mkdir(dirname(plugin));
      await buildExecutable('src/cni/main.ts', plugin);
      const ovn = new OvnLab();
      await started(
        ovn,
        () => ovn.start(),
        () => ovn.stop(),
      );
      const api = new LabApiServer();
      await started(
        api,
        () => api.start(),
        () => api.stop(),
      );
      const kubeconfig = join(directory, 'kubeconfig');
      await api.writeKubeconfig(kubeconfig);
      const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: kubeconfig })));
      stops.unshift(() => client.close());
      await installCrds(client);
      const account = await agentAccount(client, kubeconfig);
      const kubelet = new StandInKubelet({ client, nodes: labNodes(count, dualStack) });
      await started(
        kubelet,
        () => kubelet.start(),
        () => kubelet.stop(),
      );
      const flags = [...(dualStack ? DUAL_STACK : []), ...controllerFlags];
      const controller = new ControllerProcess({ kubeconfig, ovnNb: ovn.nbEndpoint, log: join(directory, 'controller.log'), flags });
      controller.start();
      stops.unshift(() => controller.kill9());
      const underlay = await Underlay.create();
      stops.unshift(() => underlay.delete());
      const nodes: AgentNode[] = [];
      for (const { name, addresses } of kubelet.nodes) {
        const options = { name, address: `${addresses[0]}/16`, underlay, installation: installation as OvnInstallation } as const;
        const address6 = addresses[1] === undefined ? {} : { address6: `${addresses[1]}/64` as const };
        if (diskMiB !== undefined) {
          const disk = join(directory, name, 'ovs');
          await mkdir(disk, { recursive: true });
          await runProgram(['mount', '-t', 'tmpfs', '-o', `size=${diskMiB}m`, 'kiln-test', disk]);
          stops.unshift(() => runProgram(['umount', disk]));
        }
        const node = await PacketNode.start({ ...options, ...address6, directory: join(directory, name) });
        // With its disk its folder goes later.
        stops.unshift(() => (diskMiB === undefined ? node.delete() : node.stop()));
        const forward = await PortForward.fromNamespace(node.namespace, Number(new URL(api.url).port), join(directory, name));
        stops.unshift(() => forward.stop());
        const agent = new AgentNode(node, join(directory, name), account, ovn.sbEndpoint, plugin, program);
        agent.before = await agent.dump();
        agent.startAgent();
        stops.unshift(() => agent.stopAgent());
        await until(`the agent of ${name} serves`, () => Promise.resolve(existsSync(agent.socket)));
        // ovn-controller makes the bridge as well, and it would not be the agent's.
        await until('the bridge is there', async () => (await node.vswitch.vsctl('list-br')).includes('br-int'));
        await node.vswitch.restart('ovn-controller');
        nodes.push(agent);
      }
      return new PacketCluster({ ovn, underlay, client, kubeconfig, controller, nodes }, stops);
    } catch (error) {
      for (const stop of stops) await stop();
      throw error;
    }
  }

  /** Creates a pod on a node, and waits until the controller has bound it. */
  async createPod(
    name: string,
    node: AgentNode,
    annotations: Readonly<Record<string, string>> = {},
    containers: readonly object[] = [{ name: 'main', image: 'busybox' }],
  ): Promise<string> {
    const pod = {
      metadata: { name, namespace: 'default', annotations },
      spec: { nodeName: node.node.name, containers, terminationGracePeriodSeconds: 0 },
    };
    await this.client.create<KubeObject>(PODS, pod);
    let found: KubeObject | undefined;
    await until(
      `pod ${name} is routed`,
      async () => {
        found = await this.client.find<KubeObject>(PODS, { namespace: 'default', name });
        return found?.metadata.annotations?.['ovn.kubernetes.io/routed'] === 'true';
      },
      undefined,
      () => JSON.stringify(found),
    );
    return found?.metadata.annotations?.['ovn.kubernetes.io/ip_address'] ?? '';
  }

  /** Creates a pod and its network, which the plugin fills. */
  async runPod(
    name: string,
    node: AgentNode,
    annotations?: Readonly<Record<string, string>>,
    containers?: readonly object[],
  ): Promise<RunningPod> {
    const address = await this.createPod(name, node, annotations, containers);
    this.#containers += 1;
    const sandbox = await Sandbox.create(name, `${this.#containers}`.padStart(3, '0').padEnd(64, 'b'));
    const { exit, output } = await node.cni('ADD', name, sandbox);
    if (exit !== 0) throw new Error(`ADD of pod ${name}: ${output}\n${readFileSync(node.log, 'utf8').slice(-2_000)}`);
    return { address, sandbox };
  }

  /** The stand-in kubelet confirms it. */
  async deletePod(name: string): Promise<void> {
    await this.client.delete(PODS, { namespace: 'default', name });
  }

  async create(kind: string, plural: string, object: object): Promise<void> {
    const resource: Resource = { group: 'kubeovn.io', version: 'v1', plural, kind, namespaced: false };
    await this.client.create<KubeObject>(resource, object as KubeObject);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) await stop();
  }
}

/** A cluster that ends with `stops`, the first of which is called first, and its two nodes. */
export async function startPackets(
  stops: (() => unknown)[],
  options: Partial<Omit<PacketClusterOptions, 'nodes'>> = {},
): Promise<readonly [PacketCluster, AgentNode, AgentNode]> {
  const cluster = await PacketCluster.start(options);
  stops.unshift(() => cluster[Symbol.asyncDispose]());
  const [one, two] = cluster.nodes;
  if (one === undefined || two === undefined) throw new TypeError('a cluster has two nodes');
  return [cluster, one, two];
}
