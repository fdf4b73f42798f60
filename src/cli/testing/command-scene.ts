/**
 * The environment of command tests: the laboratory's API server with a node, a controller and a Northbound database; commands run in the
 * process of the test. No northd runs: `commands/smoke.test.ts` tests with the whole laboratory.
 */
import { after, before } from 'node:test';
import type { Controller } from '../../controller/controller.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { StandInKubelet } from '../../../lab/kubelet/stand-in-kubelet.ts';
import { findOvn } from '../../../lab/programs/ovn.ts';
import { StandInControllers } from '../../../lab/workloads/stand-in-controllers.ts';
import { SILENT } from '../../runtime/log.ts';
import { InProcessCluster } from '../../testing/in-process-cluster.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import { northboundSession } from '../connection/connect.ts';
import { makeController } from '../connection/make-controller.ts';
import type { Ended } from './command-here.ts';
import { runHere } from './command-here.ts';
import { runKiln } from './kiln-process.ts';

export class CommandScene implements AsyncDisposable {
  readonly client: KubeClient;
  readonly controller: Controller;
  readonly kubeconfig: string;
  /** Endpoint of the Northbound database. */
  readonly ovnNb: string;
  readonly #cluster: InProcessCluster;
  readonly #kubelet: StandInKubelet;
  readonly #controllers: StandInControllers;

  private constructor(cluster: InProcessCluster) {
    const { client, kubeconfig, ovn } = cluster;
    this.#cluster = cluster;
    this.client = client;
    this.kubeconfig = kubeconfig;
    this.ovnNb = ovn.unix;
    this.#kubelet = new StandInKubelet({ client, nodes: 1 });
    this.#controllers = new StandInControllers({ client });
    this.controller = makeController(client, northboundSession({ ovnNb: this.ovnNb }, SILENT), SILENT, { collectionLimit: false });
  }

  static async open(): Promise<CommandScene> {
    const scene = new CommandScene(await InProcessCluster.start());
    await scene.#kubelet.start();
    await scene.#controllers.start();
    scene.controller.start();
    await scene.controller.untilQuiet();
    return scene;
  }

  make(resource: ResourceName, object: object): Promise<KubeObject> {
    return this.client.create(traitsOf(resource), object as KubeObject);
  }

  nbctl(...args: readonly string[]): Promise<string> {
    return this.#cluster.ovn.nbctl(...args);
  }

  /** Runs `kiln` on this cluster and its Northbound database. */
  kiln(...args: readonly string[]): Promise<Ended> {
    return runHere([...args, `--kubeconfig=${this.kubeconfig}`], { KILN_OVN_NB: this.ovnNb });
  }

  /** Runs `kiln` in its own process, on Kubernetes alone, and sends Ctrl-C after this output. */
  kilnInterrupted(interruptAt: RegExp, ...args: readonly string[]): Promise<Ended> {
    return runKiln([...args, `--kubeconfig=${this.kubeconfig}`], { interruptAt });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.controller.stop();
    await this.#controllers.stop();
    await this.#kubelet.stop();
    await this.#cluster.stop();
  }
}

/**
 * A scene for the tests of one file: opened before the first of them, closed after the last.
 * @param use is called with the open scene; the tests wait for it
 * @returns why the tests are skipped; false if they run
 */
export function sceneOfThisFile(use: (scene: CommandScene) => void | Promise<void>): string | false {
  if (findOvn('system') === undefined) return 'OVN is not installed';
  let scene: CommandScene | undefined;
  before(async () => {
    scene = await CommandScene.open();
    await use(scene);
  });
  after(async () => {
    await scene?.[Symbol.asyncDispose]();
  });
  return false;
}
