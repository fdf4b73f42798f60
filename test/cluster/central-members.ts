/** Members of OVN's central part as deploy/ovn-central.yaml runs them: its arguments, its account and its objects, each member in a network namespace. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { LabApiServer } from '../../lab/apiserver/server.ts';
import { PortForward } from '../../lab/node/port-forward.ts';
import { NetworkNamespace } from '../../lab/node/namespace.ts';
import type { Underlay } from '../../lab/node/underlay.ts';
import { Daemon } from '../../lab/programs/daemon.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { type ClusterStatus, parseClusterStatus } from '../../src/central/cluster-status.ts';
import { control } from '../../src/central/control-socket.ts';
import { DATABASES, type DatabaseName } from '../../src/central/databases.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { deployed } from '../../src/testing/controller-account.ts';
import { testEnvironment } from '../../src/testing/environment.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
const core = { group: '', version: 'v1' } as const;
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;
const ACCOUNTS: Resource = { ...core, plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
export const CONFIG_MAPS: Resource = { ...core, plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
export const SECRETS: Resource = { ...core, plural: 'secrets', kind: 'Secret', namespaced: true };
export const NODES: Resource = { ...core, plural: 'nodes', kind: 'Node', namespaced: false };
const RESOURCES: readonly Resource[] = [
  ACCOUNTS,
  CONFIG_MAPS,
  SECRETS,
  { ...rbac, plural: 'roles', kind: 'Role', namespaced: true },
  { ...rbac, plural: 'rolebindings', kind: 'RoleBinding', namespaced: true },
  { ...rbac, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false },
  { ...rbac, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false },
];

interface Manifest extends KubeObject {
  readonly spec?: { readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } } };
}

const MANIFEST = parseAllDocuments(deployed('ovn-central.yaml')).map((document) => document.toJS() as Manifest);

/** Creates what the manifest creates for its members. @returns kubeconfig of their account */
export async function memberAccount(client: KubeClient, admin: string): Promise<string> {
  for (const object of MANIFEST) {
    const resource = RESOURCES.find(({ kind }) => kind === object.kind);
    if (resource !== undefined) await client.create(resource, object);
  }
  const name = { namespace: 'kube-system', name: 'kiln-ovn-central' };
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: name, spec: {} };
  const answer = await client.create<KubeObject>({ ...ACCOUNTS, kind: 'TokenRequest' }, request, { subresource: 'token' });
  const { status } = answer as unknown as { readonly status: { readonly token: string } };
  const own = parse(readFileSync(admin, 'utf8')) as { users: { user: object }[] };
  for (const user of own.users) user.user = { token: status.token };
  await writeFile(`${admin}.central`, stringify(own), { mode: 0o600 });
  return `${admin}.central`;
}

export interface CentralMemberOptions {
  readonly api: LabApiServer;
  readonly client: KubeClient;
  readonly kubeconfig: string;
  readonly underlay: Underlay;
  readonly directory: string;
}

/** A node of the control plane. Its member's processes end with it, as in a container. */
export class CentralMember {
  readonly name: string;
  readonly address: string;
  readonly namespace: NetworkNamespace;
  readonly #directory: string;
  readonly #daemon: Daemon;
  readonly #forward: PortForward;

  private constructor(namespace: NetworkNamespace, name: string, address: string, forward: PortForward, options: CentralMemberOptions) {
    this.name = name;
    this.address = address;
    this.namespace = namespace;
    this.#forward = forward;
    this.#directory = join(options.directory, name);
    const args = MANIFEST.flatMap(({ spec }) => spec?.template?.spec.containers.flatMap((container) => container.args) ?? []).map((arg) =>
      arg.replace('--in-cluster', `--kubeconfig=${options.kubeconfig}`).replace('$(NODE_NAME)', name).replace('$(HOST_IP)', address),
    );
    const places = [`--directory=${this.#directory}/data`, `--run-directory=${this.#directory}/run`];
    const isolated = ['unshare', '--pid', '--fork', '--kill-child', '--'] as const;
    this.#daemon = new Daemon({
      name: `kiln ovn-central of ${name}`,
      command: namespace.command(...isolated, process.execPath, MAIN, ...args, ...places),
      log: join(options.directory, `${name}.log`),
      env: testEnvironment(),
    });
  }

  /** Makes the machine and its Node object; the member does not run yet. @param index 1 to 9 */
  static async create(index: number, options: CentralMemberOptions): Promise<CentralMember> {
    const { api, client, underlay, directory } = options;
    const [name, address] = [`cp-${index}`, `172.18.0.1${index}`];
    const labels = { 'node-role.kubernetes.io/control-plane': '' };
    const node = { metadata: { name, labels } };
    await client.create(NODES, node);
    const addresses = [{ type: 'InternalIP', address }];
    await client.mergePatch(NODES, { name }, { status: { addresses } }, { subresource: 'status' });
    const namespace = await NetworkNamespace.create(name);
    await underlay.connect(namespace, 'eth0');
    await namespace.run('ip', 'address', 'add', `${address}/16`, 'dev', 'eth0');
    // For nodes whose datapath is in userspace.
    await namespace.run('ethtool', '-K', 'eth0', 'tx', 'off');
    await mkdir(join(directory, name, 'api'), { recursive: true });
    const forward = await PortForward.fromNamespace(namespace, Number(new URL(api.url).port), join(directory, name, 'api'));
    return new CentralMember(namespace, name, address, forward, options);
  }

  start(): void {
    this.#daemon.start();
  }

  /** As a power failure does. */
  async kill(): Promise<void> {
    await this.#daemon.kill('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#daemon.stop();
  }

  /** Deletes all that it had on its disk. */
  async wipe(): Promise<void> {
    await rm(join(this.#directory, 'data'), { recursive: true });
  }

  /** Undefined while its server does not answer. */
  async status(name: DatabaseName): Promise<ClusterStatus | undefined> {
    const { control: socket, schema } = DATABASES[name];
    const text = await control(join(this.#directory, 'run', socket), 'cluster/status', schema).catch(() => undefined);
    return text === undefined ? undefined : parseClusterStatus(text);
  }

  /** Whether its kubelet would call it ready. */
  async isReady(): Promise<boolean> {
    const probe = `fetch('http://127.0.0.1:10672/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))`;
    return await this.namespace.run(process.execPath, '--eval', probe).then(
      () => true,
      () => false,
    );
  }

  /** Runs a tool of OVN on its own server, which need not lead. */
  async tool(tool: 'ovn-nbctl' | 'ovn-sbctl', ...args: readonly string[]): Promise<string> {
    const { socket } = DATABASES[tool === 'ovn-nbctl' ? 'nb' : 'sb'];
    return await runProgram([tool, `--db=unix:${this.#directory}/run/${socket}`, '--no-leader-only', '--timeout=60', ...args]);
  }

  async delete(): Promise<void> {
    await this.#daemon.kill('SIGKILL');
    await this.#forward.stop();
    await this.namespace.delete();
  }
}
