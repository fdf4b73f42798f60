/**
 * A real cluster for a scenario: an API server with the CRDs, an OVN central, nodes, controllers as processes of their own, and the tools
 * of an operator (kubectl, ovn-nbctl, ovn-trace, ovsdb-client) to read the result. Long, because it is the one place where all of them are
 * connected.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FreshController } from '../controller/fresh-controller.ts';
import type { ForeignSnapshot } from '../invariants/foreign-rows.ts';
import { foreignSnapshot } from '../invariants/foreign-rows.ts';
import { checkInvariants } from '../invariants/check-invariants.ts';
import type { LoggedTransaction } from '../invariants/writers.ts';
import { KubeClient } from '../kube/client/client.ts';
import { connectionFromKubeconfig } from '../kube/transport/connection.ts';
import { KubeTransport } from '../kube/transport/transport.ts';
import { installCrds } from '../../lab/crd-installation.ts';
import { labNodes } from '../../lab/kubelet/lab-node.ts';
import { StandInKubelet } from '../../lab/kubelet/stand-in-kubelet.ts';
import { StandInControllers } from '../../lab/workloads/stand-in-controllers.ts';
import { OvnLab } from '../../lab/ovn/ovn-lab.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import type { OvnRelease } from '../../lab/programs/ovn.ts';
import { ProgramError, runProgram, SHORT_GO_PROGRAM } from '../../lab/programs/run-program.ts';
import type { ClusterApi } from './cluster-api.ts';
import { startApi } from './cluster-api.ts';
import { controllerAccount } from './controller-account.ts';
import { ControllerProcess } from './controller-process.ts';
import { freshLook } from './fresh-look.ts';
import type { Settings } from '../world/settings.ts';
import { assertNothingLeft, CONVERGENCE_MS, untilStable, untilNothingIsLeft } from './left-to-do.ts';
import type { BindingObject } from './manifest-turns.ts';
import { hasPods, isSeen, manifestTurns } from './manifest-turns.ts';
import type { DumpedRow, NorthboundDump } from './northbound-dump.ts';
import { parseDump } from './northbound-dump.ts';
import { PATIENCE_MS, pauseAfter } from './patience.ts';
import type { PrintedEvent, PrintedObject } from './printed-objects.ts';
import { PrintedObjects } from './printed-objects.ts';
import { eventually } from './until.ts';

export type { PrintedObject } from './printed-objects.ts';

/** Longer than a leading controller takes; a standby would never respond. */
const SEEN_MS = 30_000;

export interface ScenarioClusterOptions {
  readonly api: 'lab' | 'real';
  readonly ovn?: OvnRelease;
  readonly nodes?: number;
}

/**
 * kubectl times out after ten seconds, and the laboratory's API server is in this process. If the process is busy, these verbs are
 * repeated: they have the same result after a partial first attempt.
 */
const REPEATABLE: ReadonlySet<string> = new Set(['get', 'apply', 'delete', 'patch', 'annotate', 'label', 'describe', 'wait', 'scale']);
/** Messages of a real API server that is overloaded, or has a slow etcd. */
const NO_ANSWER = /TLS handshake timeout|etcdserver: (?:request timed out|leader changed)|unable to return a response in the time allotted/;
/** Less than the time limit of a program. */
const REMOVAL_SECONDS = 240;

/** In every message of deploy/admission-policy.yaml. */
const ACCOUNT_LIMIT = 'the controller of Kiln may only';

export class ScenarioCluster implements AsyncDisposable {
  readonly api: ClusterApi;
  readonly ovn: OvnLab;
  readonly client: KubeClient;
  /** Its own nodes, which have addresses and run pods; concurrent scenarios add nodes without. */
  readonly nodes: readonly string[];
  readonly #release: OvnRelease;
  readonly #directory: string;
  readonly #kubelet: StandInKubelet;
  /** Undefined with the real control plane, which has its own. */
  readonly #standIns: StandInControllers | undefined;
  readonly #controllers: ControllerProcess[] = [];
  readonly #foreign: ForeignSnapshot;
  readonly #printed: PrintedObjects;
  /** Applied objects that bind pods, and that the controller may not have observed yet. */
  #unseen: readonly BindingObject[] = [];
  #started = 0;
  /** The controller's kubeconfig: on a real control plane that of its ServiceAccount, so that every write is allowed by `deploy`. */
  #kubeconfig: string;

  private constructor(parts: {
    api: ClusterApi;
    ovn: OvnLab;
    client: KubeClient;
    nodes: readonly string[];
    release: OvnRelease;
    directory: string;
    kubelet: StandInKubelet;
    controllers: StandInControllers | undefined;
    foreign: ForeignSnapshot;
  }) {
    this.api = parts.api;
    this.ovn = parts.ovn;
    this.client = parts.client;
    this.nodes = parts.nodes;
    this.#release = parts.release;
    this.#directory = parts.directory;
    this.#kubelet = parts.kubelet;
    this.#standIns = parts.controllers;
    this.#foreign = parts.foreign;
    this.#kubeconfig = parts.api.kubeconfig;
    this.#printed = new PrintedObjects(this.client, (args) => this.kubectl(args));
  }

  /** What a fresh controller is started with beside the defaults: the settings of the flags that a scenario gives its controller. */
  settings: Partial<Settings> = {};

  /** Starts without a controller: the scenario or the suite calls `startController`. */
  static async start({ api: kind, ovn: release = 'system', nodes = 2 }: ScenarioClusterOptions): Promise<ScenarioCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'kiln-e2e-'));
    const ovn = new OvnLab({ release });
    const [api] = await Promise.all([startApi(kind, directory), ovn.start()]);
    const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: api.kubeconfig })));
    await installCrds(client, api.cel);
    const kubelet = new StandInKubelet({ client, nodes });
    await kubelet.start();
    const controllers = kind === 'lab' ? new StandInControllers({ client }) : undefined;
    await controllers?.start();
    const foreign = foreignSnapshot(await dumpOf(release, ovn));
    const cluster = new ScenarioCluster({
      api,
      ovn,
      client,
      nodes: labNodes(nodes).map(({ name }) => name),
      release,
      directory,
      kubelet,
      controllers,
      foreign,
    });
    if (kind === 'real') cluster.#kubeconfig = await controllerAccount(cluster);
    return cluster;
  }

  /** The kubeconfig of the controller. */
  get controllerKubeconfig(): string {
    return this.#kubeconfig;
  }

  /** The directory of the journal that all its controllers write. */
  get journal(): string {
    return join(this.#directory, 'journal');
  }

  /** Stops every process and removes every file. */
  async stop(): Promise<void> {
    for (const controller of this.#controllers) {
      await controller.resume();
      await controller.stop();
    }
    await this.#standIns?.stop();
    await this.#kubelet.stop();
    await this.client.close();
    await this.api.stop();
    await this.ovn.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  // The controller.

  /** Starts one more controller. */
  startController(flags: readonly string[] = [], kubeconfig = this.#kubeconfig, ovnNb: string = this.ovn.nbEndpoint): ControllerProcess {
    this.#started++;
    const log = join(this.#directory, `controller-${this.#started}.log`);
    const controller = new ControllerProcess({ kubeconfig, ovnNb, log, flags: [`--journal=${this.journal}`, ...flags] });
    controller.start();
    this.#controllers.push(controller);
    return controller;
  }

  /** The running controller that was started last. */
  get controller(): ControllerProcess {
    const running = this.#controllers.findLast(({ pid }) => pid !== undefined);
    if (running === undefined) throw new Error('no controller runs in this scenario');
    return running;
  }

  /** Running controllers, including suspended ones. */
  get controllers(): readonly ControllerProcess[] {
    return this.#controllers.filter(({ pid }) => pid !== undefined);
  }

  /** The same, or a new one if none runs: for the suite, between scenarios. */
  async ensureController(): Promise<ControllerProcess> {
    const running = this.controllers;
    for (const one of running) await one.resume();
    for (const extra of running.slice(0, -1)) await extra.stop();
    return running.at(-1) ?? this.startController();
  }

  // Commands of an operator.

  /** @returns its standard output @throws ProgramError with its error output */
  async kubectl(args: readonly string[], input?: string): Promise<string> {
    const program = findKubernetesProgram('kubectl');
    if (program === undefined) throw new Error('kubectl was not found');
    const server = [`--kubeconfig=${this.api.kubeconfig}`, `--cache-dir=${join(this.#directory, 'kubectl-cache')}`];
    const [verb = ''] = args;
    let more: readonly string[] = [];
    for (const end = performance.now() + PATIENCE_MS; ;) {
      try {
        return await runProgram([program, ...server, ...args, ...more], {
          env: { ...process.env, ...SHORT_GO_PROGRAM },
          ...(input !== undefined && { input }),
        });
      } catch (error) {
        const unanswered = error instanceof ProgramError && NO_ANSWER.test(error.stderr);
        if (!unanswered || !(REPEATABLE.has(verb) || args.includes('--dry-run=server')) || performance.now() > end) throw error;
        // The first attempt may have deleted some.
        if (verb === 'delete') more = ['--ignore-not-found'];
      }
    }
  }

  /** @returns the error output of a kubectl that fails @throws if it succeeds */
  async kubectlFails(args: readonly string[], input?: string): Promise<string> {
    try {
      const printed = await this.kubectl(args, input);
      throw new Error(`kubectl ${args.join(' ')} was expected to fail, and printed: ${printed}`);
    } catch (error) {
      if (error instanceof ProgramError) return error.stderr;
      throw error;
    }
  }

  /** `kubectl apply`. Applies pods after the leader has observed the objects that bind them, of this and of earlier manifests. */
  async apply(yaml: string): Promise<void> {
    const { turns, binding } = manifestTurns(yaml);
    for (const turn of turns) {
      if (hasPods(turn)) await this.#seenByController();
      await this.applyAtOnce(turn);
      if (!hasPods(turn)) this.#unseen = [...this.#unseen, ...binding];
    }
  }

  /** Plain `kubectl apply`: a pod may arrive at the controller before its Subnet. */
  async applyAtOnce(yaml: string): Promise<void> {
    await this.kubectl(['apply', '--validate=false', '-f', '-'], yaml);
  }

  /** Without a leader this returns at once: the next leader lists everything. */
  async #seenByController(): Promise<void> {
    // Includes objects of concurrent scenarios.
    const unseen = this.#unseen;
    const begun = performance.now();
    for (let waited = 0; waited < SEEN_MS && this.controllers.length > 0; waited = performance.now() - begun) {
      const objects = await Promise.all(unseen.map(async (one) => [one, await this.find(one.kind, one.name)] as const));
      if (objects.every(([one, object]) => object === undefined || isSeen(one, object))) break;
      await sleep(pauseAfter(waited));
    }
    this.#unseen = this.#unseen.filter((one) => !unseen.includes(one));
  }

  /** `kubectl delete` of everything in a manifest, without waiting for its end. */
  async deleteAll(yaml: string): Promise<void> {
    await this.kubectl(['delete', '--wait=false', '--ignore-not-found', '-f', '-'], yaml);
  }

  /** `kubectl delete` of everything in a manifest; returns when all of it is gone, except for its namespaces, which end a little later. */
  async removeAll(yaml: string): Promise<void> {
    const documents = yaml.split(/^---\n/m).filter((document) => document.trim() !== '');
    const isNamespace = (document: string): boolean => /^kind: Namespace$/m.test(document);
    const spaces = documents.filter(isNamespace);
    const others = documents.filter((document) => !isNamespace(document));
    // The namespace controller takes seconds to delete the pods, and their blockers would wait for it.
    for (const space of spaces) {
      const [, name = ''] = /^ {2}name: (\S+)$/m.exec(space) ?? [];
      await this.kubectl(['delete', 'pods', '--all', '--wait=false', '-n', name]);
    }
    if (spaces.length > 0) await this.deleteAll(spaces.join('---\n'));
    if (others.length > 0)
      await this.kubectl(['delete', '--ignore-not-found', `--timeout=${REMOVAL_SECONDS}s`, '-f', '-'], others.join('---\n'));
  }

  /** `kubectl delete <kind> <name>…` without waiting for its end. */
  async delete(kind: string, name: string, namespace?: string): Promise<void> {
    await this.kubectl(['delete', kind, name, '--wait=false', ...inNamespace(namespace)]);
  }

  /** As `kubectl get -o json` prints it. @throws if there is no such object */
  async get(kind: string, name: string, namespace?: string): Promise<PrintedObject> {
    const found = await this.find(kind, name, namespace);
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
    return found;
  }

  /** Undefined: there is no such object. */
  async find(kind: string, name: string, namespace?: string): Promise<PrintedObject | undefined> {
    return await this.#printed.find(kind, name, namespace);
  }

  /** Names of the objects of a kind. The default namespace is `default`. */
  async names(kind: string, namespace?: string): Promise<readonly string[]> {
    return (await this.#printed.list(kind, namespace)).map(({ metadata }) => metadata.name);
  }

  /** `kubectl patch --type=merge`. */
  async patch(kind: string, name: string, patch: object, namespace?: string): Promise<void> {
    await this.kubectl(['patch', kind, name, '--type=merge', '-p', JSON.stringify(patch), ...inNamespace(namespace)]);
  }

  /** Events of one object, by its name. */
  async events(kind: string, name: string, namespace?: string): Promise<readonly PrintedEvent[]> {
    return await this.#printed.events(kind, name, namespace);
  }

  // The state of OVN.

  /** Every table of the Northbound database, by `ovsdb-client dump`. */
  async dump(): Promise<NorthboundDump> {
    return await dumpOf(this.#release, this.ovn);
  }

  /** Rows of a table. */
  async rows(table: string): Promise<readonly DumpedRow[]> {
    return (await this.dump()).get(table) ?? [];
  }

  /** The database's log of transactions, by `ovsdb-tool show-log`. */
  async northboundLog(): Promise<readonly LoggedTransaction[]> {
    const printed = await this.#ovsdbTool('show-log', join(this.ovn.directory, 'nb.db'));
    return [...printed.matchAll(/^record (\d+): [^"\n]*(?:"((?:[^"\\]|\\.)*)")?/gm)].map(([, record = '', comment = '']) => ({
      record: Number(record),
      comment,
    }));
  }

  async #ovsdbTool(...args: readonly string[]): Promise<string> {
    const command = findOvn(this.#release)?.command('ovsdb-tool');
    if (command === undefined) throw new Error('ovsdb-tool was not found');
    return await runProgram([...command, ...args]);
  }

  /** Names of the ports that `ovn-trace` delivers a packet to. */
  async tracedTo(logicalSwitch: string, flow: string): Promise<readonly string[]> {
    const trace = await this.ovn.trace('--minimal', logicalSwitch, flow);
    return [...trace.matchAll(/output\("([^"]+)"\)/g)].map(([, port = '']) => port);
  }

  // Waits and assertions.

  /** Waits until the probe returns a value, and returns it; a failing assertion counts as not yet. */
  async eventually<T>(what: string, probe: () => Promise<T | undefined | false>, timeoutMs = PATIENCE_MS): Promise<T> {
    return eventually(what, probe, timeoutMs);
  }

  /** Waits until a fresh controller plans nothing. */
  async converged(patienceMs = CONVERGENCE_MS): Promise<void> {
    await using look = await freshLook(this.client, this.ovn.nbEndpoint, this.settings);
    await untilNothingIsLeft(look, patienceMs);
  }

  /**
   * Waits until a fresh controller plans only evictions, or the same for ten seconds: a part of the plan may wait for the scenario. For
   * assertions about conditions, which may be transient before.
   */
  async stable(): Promise<void> {
    await using look = await freshLook(this.client, this.ovn.nbEndpoint, this.settings);
    await untilStable(look);
  }

  /** Waits until no namespace is being deleted: the API server still removes objects there. @returns whether none was */
  async namespacesEnded(): Promise<boolean> {
    let looks = 0;
    await this.eventually('namespaces that terminate are gone', async () => {
      looks++;
      const spaces = await this.#printed.list('namespace');
      assert.deepEqual(
        spaces.filter(({ status }) => status?.['phase'] === 'Terminating').map(({ metadata }) => metadata.name),
        [],
      );
      return true;
    });
    return looks === 1;
  }

  async freshPlanIsEmpty(): Promise<void> {
    await using look = await freshLook(this.client, this.ovn.nbEndpoint, this.settings);
    assertNothingLeft(look);
  }

  /** Foreign rows as they are now. */
  async foreignRows(): Promise<ForeignSnapshot> {
    return foreignSnapshot(await this.dump());
  }

  /** @throws with every violation @param before foreign rows that must be unchanged; default: those of an empty OVN */
  async invariantsHold(before: ForeignSnapshot = this.#foreign): Promise<void> {
    await using look = await freshLook(this.client, this.ovn.nbEndpoint, this.settings);
    await this.#check(look, before);
  }

  /** How every scenario ends: converged, then a fresh controller plans nothing and the invariants hold. */
  async endsWell(before: ForeignSnapshot): Promise<void> {
    if (await this.#agreesAtOnce(before)) return;
    await using look = await freshLook(this.client, this.ovn.nbEndpoint, this.settings);
    assertNothingLeft(look);
    await this.#check(look, before);
  }

  /** @returns false if the look had to wait until the plan was empty: then it is no longer the view of a fresh controller */
  async #agreesAtOnce(before: ForeignSnapshot): Promise<boolean> {
    await using look = await freshLook(this.client, this.ovn.nbEndpoint, this.settings);
    const atOnce = await untilNothingIsLeft(look);
    if (atOnce) await this.#check(look, before);
    return atOnce;
  }

  async #check(look: FreshController, before: ForeignSnapshot): Promise<void> {
    const after = await this.foreignRows();
    const violations = checkInvariants({
      world: look.world,
      plan: look.plan(),
      foreign: { before, after },
      log: await this.northboundLog(),
    });
    const denied = (await Promise.all(this.#controllers.map((one) => one.linesWith(ACCOUNT_LIMIT)))).flat();
    if (denied.length > 0) throw new Error(`the policies of deploy denied writes of the controller:\n${denied.slice(0, 5).join('\n')}`);
    if (violations.length > 0)
      throw new Error(
        `${violations.length} violations:\n${violations.map(({ invariant, message }) => `${invariant}: ${message}`).join('\n')}`,
      );
  }
}

async function dumpOf(release: OvnRelease, ovn: OvnLab): Promise<NorthboundDump> {
  const command = findOvn(release)?.command('ovsdb-client');
  if (command === undefined) throw new Error('ovsdb-client was not found');
  return parseDump(await runProgram([...command, '--format=json', 'dump', ovn.nbEndpoint, 'OVN_Northbound']));
}

function inNamespace(namespace: string | undefined): readonly string[] {
  return namespace === undefined ? [] : ['-n', namespace];
}
