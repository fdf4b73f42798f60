/** Thousands of pods are created, deleted and created again under the same names, while controllers are killed. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeErrorCode } from '../../src/kube/errors.ts';
import { isKubeError, KubeError } from '../../src/kube/errors.ts';
import { PODS } from '../../src/kube/resource.ts';
import type { KubeObject, ObjectName } from '../../src/kube/resource.ts';
import type { ControllerProcess } from '../../src/testing/controller-process.ts';
import { PATIENCE_MS } from '../../src/testing/patience.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { traces } from '../scenarios/northbound.ts';
import { namespaceYaml, subnetYaml, vpcYaml } from '../scenarios/pods.ts';
import { disagreements } from './agreement.ts';

const NAMESPACES = ['churn-a', 'churn-b', 'churn-c'] as const;
/** One Subnet is dual-stack, one is in the default Vpc, and two have the same network. */
const NETWORKS =
  vpcYaml('churn-one') +
  vpcYaml('churn-two') +
  subnetYaml('churn-a-net', { vpc: 'churn-one', cidrBlock: '10.240.0.0/21', namespaces: ['churn-a'] }) +
  subnetYaml('churn-b-net', { vpc: 'churn-two', cidrBlock: '10.240.0.0/21,fd00:240::/64', namespaces: ['churn-b'] }) +
  subnetYaml('churn-c-net', { cidrBlock: '10.241.0.0/21', namespaces: ['churn-c'], excludeIps: ['10.241.0.10..10.241.0.99'] });
const SUBNETS = ['churn-a-net', 'churn-b-net', 'churn-c-net'] as const;

export interface ChurnOptions {
  /** The number of pod names in each namespace. */
  readonly names: number;
  /** How often each of them is created or deleted, approximately. */
  readonly rounds: number;
  /**
   * A controller is killed each time this many pods were created or deleted: counted by work, so that a fast machine sees as many kills as
   * a slow one.
   */
  readonly killEvery: number;
  /** How controllers reach both servers; by default directly, like all other clients. */
  readonly network?: Network;
  /** Whether enough random faults have happened: until then pods are created and deleted. */
  readonly enough?: () => boolean;
}

export interface Network {
  readonly kubeconfig: string;
  readonly ovnNb: string;
}

export interface ChurnReport {
  readonly created: number;
  readonly killed: number;
  readonly controllersKilled: number;
  readonly pods: number;
  readonly seconds: number;
}

/** Errors of a server that is overloaded or does not answer. */
const UNHEARD: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_TIMEOUT',
  'KUBE_UNREACHABLE',
  'KUBE_DISCONNECTED',
  'KUBE_UNAVAILABLE',
  'KUBE_INTERNAL',
  'KUBE_TOO_MANY_REQUESTS',
]);
/** Concurrent requests. */
const AT_A_TIME = 16;
/** A silent watch is noticed after 100 s, and its events may have to wait for those of another silent watch. */
const UNRELIABLE_PATIENCE_MS = 5 * PATIENCE_MS;

export async function churn(
  cluster: ScenarioCluster,
  { names, rounds, killEvery, network, enough = () => true }: ChurnOptions,
): Promise<ChurnReport> {
  const startController = (): ControllerProcess => cluster.startController([], network?.kubeconfig, network?.ovnNb);
  const begun = performance.now();
  await cluster.apply(NAMESPACES.map((name) => namespaceYaml(name)).join('') + NETWORKS);
  await startController().untilLogged('writing', { patienceMs: UNRELIABLE_PATIENCE_MS });
  for (const subnet of SUBNETS)
    await cluster.eventually(
      `Subnet ${subnet} is ready`,
      async () =>
        (await cluster.get('subnet', subnet)).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
      UNRELIABLE_PATIENCE_MS,
    );

  let [created, killed, controllersKilled] = [0, 0, 0];
  let killing = Promise.resolve();
  const killController = async (): Promise<void> => {
    // A controller that does not write yet leaves nothing half done.
    await cluster.controller.untilLogged('writing', { patienceMs: UNRELIABLE_PATIENCE_MS });
    await cluster.controller.kill9();
    startController();
    controllersKilled++;
  };
  const count = (): void => {
    if ((created + killed) % killEvery === 0) killing = killing.then(killController);
  };
  const all = NAMESPACES.flatMap((namespace) => Array.from({ length: names }, (_, at) => ({ namespace, name: `pod-${at}` })));
  const create = async (pod: (typeof all)[number]): Promise<void> => {
    let unheard = false;
    for (const end = performance.now() + PATIENCE_MS; ;) {
      try {
        await cluster.client.create(PODS, podObject(pod.namespace, pod.name));
        break;
      } catch (error) {
        if (!(error instanceof KubeError) || performance.now() > end) throw error;
        // The pod may have been created although the answer was lost.
        if (error.code === 'KUBE_ALREADY_EXISTS' && unheard && (await isThere(cluster, pod))) break;
        // The former pod of that name may still be terminating.
        if (error.code !== 'KUBE_ALREADY_EXISTS') {
          if (!UNHEARD.has(error.code)) throw error;
          unheard = true;
        }
        await sleep(50);
      }
    }
    created++;
    count();
  };
  const remove = async (pod: (typeof all)[number], force: boolean): Promise<void> => {
    for (const end = performance.now() + PATIENCE_MS; ;) {
      try {
        await cluster.client.delete(PODS, pod, force ? { gracePeriodSeconds: 0 } : {});
        break;
      } catch (error) {
        if (isKubeError(error, 'KUBE_NOT_FOUND')) break;
        if (!(error instanceof KubeError && UNHEARD.has(error.code)) || performance.now() > end) throw error;
        await sleep(50);
      }
    }
    killed++;
    count();
  };
  try {
    await inTurns(all, create);
    for (let round = 1; round < rounds || (round < 10 * rounds && !enough()); round++) {
      const some = all.filter(() => Math.random() < 0.5);
      await inTurns(some, async (pod) => {
        await remove(pod, Math.random() < 0.3);
        await create(pod);
      });
    }
    // A third of the pods is deleted for good.
    const last = all.filter((_, at) => at % 3 === 0);
    await inTurns(last, async (pod) => await remove(pod, false));
  } finally {
    await killing;
  }
  const pods = all.length - Math.ceil(all.length / 3);
  await allRun(cluster, pods);
  await cluster.converged(UNRELIABLE_PATIENCE_MS);
  const tools = {
    kubectl: (args: readonly string[]) => cluster.kubectl(args),
    nbctl: (...args: readonly string[]) => cluster.ovn.nbctl(...args),
  };
  assert.deepEqual(await disagreements(tools, NAMESPACES, SUBNETS), []);
  await cluster.invariantsHold();
  await cluster.kubectl(['delete', 'pods', '--all', '--wait=false', '-A']);
  await cluster.eventually(
    'every address is free',
    async () => !(await cluster.names('ip')).some((name) => name.includes('.churn-')),
    UNRELIABLE_PATIENCE_MS,
  );
  await cluster.converged(UNRELIABLE_PATIENCE_MS);
  assert.deepEqual(await disagreements(tools, NAMESPACES, SUBNETS), []);
  await cluster.kubectl(['delete', '--wait=false', '-f', '-'], NETWORKS);
  await cluster.eventually('every row is gone', async () => traces(await cluster.dump(), 'churn-').length === 0, UNRELIABLE_PATIENCE_MS);
  return { created, killed, controllersKilled, pods, seconds: (performance.now() - begun) / 1_000 };
}

async function allRun(cluster: ScenarioCluster, count: number): Promise<void> {
  await cluster.eventually(
    `${count} pods run`,
    async () => {
      const printed = await cluster.kubectl([
        'get',
        'pods',
        '-A',
        '-o',
        'jsonpath={range .items[*]}{.metadata.namespace} {.status.phase}{"\\n"}{end}',
      ]);
      const phases = printed.split('\n').filter((line) => line.startsWith('churn-'));
      const running = phases.filter((line) => line.endsWith(' Running')).length;
      if (phases.length !== count || running !== count) throw new Error(`${phases.length} pods, ${running} run`);
      return true;
    },
    UNRELIABLE_PATIENCE_MS,
  );
}

async function inTurns<T>(some: readonly T[], each: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...some];
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await each(one);
    }),
  );
}

/** Whether a pod of that name exists and is not being deleted. */
async function isThere(cluster: ScenarioCluster, pod: ObjectName): Promise<boolean> {
  const found = await cluster.client.find(PODS, pod);
  return found !== undefined && found.metadata.deletionTimestamp === undefined;
}

function podObject(namespace: string, name: string): KubeObject {
  const spec = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'none' }] };
  return { metadata: { namespace, name }, spec } as KubeObject;
}
