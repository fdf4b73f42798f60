/**
 * What commands are tested on: the laboratory's API server with a node, a controller and a Northbound database, and the commands in the process
 * of the test. Nothing translates the database's rows: what the whole laboratory says is for `commands/smoke.test.ts`.
 */
import { after, before } from 'node:test';
import type { Controller } from '../../controller/controller.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { StandInKubelet } from '../../../lab/kubelet/stand-in-kubelet.ts';
import { findOvn } from '../../../lab/programs/ovn.ts';
import { StandInControllers } from '../../../lab/workloads/stand-in-controllers.ts';
import { SILENT } from '../../runtime/log.ts';
import { InProcessCluster } from '../../testing/in-process-cluster.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import { makeController, northboundSession } from '../connect.ts';
import type { Ended } from './command-here.ts';
import { runHere } from './command-here.ts';
import { runKiln } from './kiln-process.ts';

export class CommandScene implements AsyncDisposable {
  readonly client: KubeClient;
  readonly controller: Controller;
  readonly kubeconfig: string;
  /** Of the Northbound database. */
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

  /** Runs `kiln` on this cluster and its Northbound database. */
  kiln(...args: readonly string[]): Promise<Ended> {
    return runHere([...args, `--kubeconfig=${this.kubeconfig}`], { KILN_OVN_NB: this.ovnNb });
  }

  /** The same in a process of its own, with Ctrl-C once this has been said; Kubernetes alone. */
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
 * A scene for the tests of one file: open before the first of them, gone after the last.
 * @param use told of it once it is open; what it prepares is there before the first test
 * @returns why those tests are skipped here; false where they are not
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
