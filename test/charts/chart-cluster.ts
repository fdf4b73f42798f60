/**
 * A real control plane for Helm, an OVN, and stand-ins for kubelets: pods of the chart are said to run, and no container does. The controller is
 * a process with the account that the chart made, and the settings of its Deployment.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { labNodes } from '../../lab/kubelet/lab-node.ts';
import { StandInKubelet } from '../../lab/kubelet/stand-in-kubelet.ts';
import { OvnLab } from '../../lab/ovn/ovn-lab.ts';
import { ProgramError, runProgram } from '../../lab/programs/run-program.ts';
import { RealCluster } from '../../lab/real-cluster/real-cluster.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { ControllerProcess } from '../../src/testing/controller-process.ts';
import { testEnvironment } from '../../src/testing/environment.ts';
import { PROGRAM_UNDER_TEST } from '../../src/testing/program-under-test.ts';
import { Helm, type Rendered } from './helm.ts';

export class ChartCluster implements AsyncDisposable {
  readonly folder: string;
  readonly real: RealCluster;
  readonly ovn: OvnLab;
  readonly helm: Helm;
  readonly #client: KubeClient;
  #kubelet: StandInKubelet | undefined;
  #controllers: ControllerProcess[] = [];

  private constructor(parts: { folder: string; real: RealCluster; ovn: OvnLab; client: KubeClient }) {
    this.folder = parts.folder;
    this.real = parts.real;
    this.ovn = parts.ovn;
    this.#client = parts.client;
    this.helm = new Helm(parts.folder, parts.real.kubeconfig);
  }

  static async start(): Promise<ChartCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'kiln-charts-'));
    const real = new RealCluster();
    const ovn = new OvnLab();
    await Promise.all([real.start(), ovn.start()]);
    const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: real.kubeconfig })));
    return new ChartCluster({ folder, real, ovn, client });
  }

  /** From now on there are nodes, and pods are said to run. Those of the control plane have its label. */
  async startNodes(): Promise<void> {
    const nodes = labNodes(2).map((node, at) =>
      at === 0 ? { ...node, labels: { ...node.labels, 'node-role.kubernetes.io/control-plane': '' } } : node,
    );
    this.#kubelet = new StandInKubelet({ client: this.#client, nodes });
    await this.#kubelet.start();
  }

  async kubectl(args: readonly string[], input?: string): Promise<string> {
    return await this.real.kubectl(args, input);
  }

  async apply(yaml: string): Promise<void> {
    await this.kubectl(['apply', '-f', '-'], yaml);
  }

  /** The objects of some kinds in every namespace. */
  async list(kinds: string): Promise<readonly Rendered[]> {
    return (
      JSON.parse((await this.kubectl(['get', kinds, '-A', '-o', 'json', '--ignore-not-found'])) || '{"items":[]}') as {
        readonly items: readonly Rendered[];
      }
    ).items;
  }

  /** A kubeconfig of an account in kube-system. */
  async account(name: string): Promise<string> {
    const token = (await this.kubectl(['create', 'token', name, '-n', 'kube-system'])).trim();
    const file = join(this.folder, `${name}.kubeconfig`);
    await this.real.writeTokenKubeconfig(file, token);
    return file;
  }

  /** The controller with what its Deployment sets, but for places that only a container has. */
  async startController(): Promise<ControllerProcess> {
    const deployment = JSON.parse(await this.kubectl(['get', 'deployment', 'kiln-controller', '-n', 'kube-system', '-o', 'json'])) as {
      readonly spec: {
        readonly template: {
          readonly spec: { readonly containers: readonly { readonly env: readonly { name: string; value?: string }[] }[] };
        };
      };
    };
    const elsewhere = /^KILN_(OVN_|METRICS_|WEBHOOK_|JOURNAL$)/;
    const flags = (deployment.spec.template.spec.containers[0]?.env ?? []).flatMap(({ name, value }) =>
      elsewhere.test(name) ? [] : [`--${name.replace('KILN_', '').toLowerCase().replaceAll('_', '-')}=${value ?? ''}`],
    );
    const at = this.#controllers.length;
    const controller = new ControllerProcess({
      kubeconfig: await this.account('kiln-controller'),
      ovnNb: this.ovn.nbEndpoint,
      log: join(this.folder, `controller-${at}.log`),
      flags: [...flags, `--journal=${join(this.folder, 'journal')}`],
    });
    controller.start();
    this.#controllers.push(controller);
    await controller.untilLogged('writing');
    return controller;
  }

  /** What the API server did not let a controller do. */
  async forbidden(controller: ControllerProcess): Promise<readonly string[]> {
    const lines = (await controller.log()).map((line) => JSON.stringify(line));
    return lines.filter((line) => /forbidden|KUBE_DENIED/i.test(line));
  }

  async kiln(kubeconfig: string, ...args: readonly string[]): Promise<{ readonly exit: number; readonly text: string }> {
    const command = [process.execPath, PROGRAM_UNDER_TEST, ...args, `--kubeconfig=${kubeconfig}`] as const;
    const env = { ...testEnvironment(), KILN_OVN_NB: this.ovn.nbEndpoint };
    try {
      return { exit: 0, text: await runProgram([...command], { env }) };
    } catch (error) {
      if (!(error instanceof ProgramError) || error.exitCode === undefined) throw error;
      return { exit: error.exitCode, text: `${error.stdout}${error.stderr}` };
    }
  }

  /** Addresses by pod of a namespace, as their annotations have them. */
  async addresses(namespace: string): Promise<Readonly<Record<string, string>>> {
    const pods = await this.list('pods');
    return Object.fromEntries(
      pods
        .filter(({ metadata }) => metadata.namespace === namespace)
        .map(({ metadata }) => [metadata.name, metadata.annotations?.['ovn.kubernetes.io/ip_address'] ?? '']),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const controller of this.#controllers) await controller.stop();
    await this.#kubelet?.stop();
    await this.#client.close();
    await this.real.stop();
    await this.ovn.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The names of objects, to compare. */
export function names(objects: readonly Rendered[]): readonly string[] {
  return objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted();
}
