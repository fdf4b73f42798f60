/** Plays histories one after another, on a fresh cluster now and then. */
import type { ScenarioClusterOptions } from '../../src/testing/scenario-cluster.ts';
import { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { namespaceYaml } from '../scenarios/pods.ts';
import type { Fault } from './history.ts';
import { drawHistory, historyText, NAMESPACES } from './history.ts';
import { checkDeletion, checkConverged } from './checks.ts';
import { Player } from './player.ts';

export interface ChaosOptions {
  readonly api: ScenarioClusterOptions['api'];
  /** The seed of each history, in order. */
  readonly seeds: Iterable<number>;
  readonly runs: number;
  /** No history begins after this many milliseconds. */
  readonly forMs?: number;
  readonly say?: (line: string) => void;
}

export interface ChaosFailure {
  readonly seed: number;
  /** The history, what was found, and the end of the controller's log. */
  readonly text: string;
}

export interface ChaosReport {
  readonly histories: number;
  readonly operations: number;
  readonly faults: ReadonlyMap<Fault, number>;
  /** Transactions that failed at the fence. */
  readonly fenced: number;
  readonly failures: readonly ChaosFailure[];
}

/** A new cluster keeps databases small and failures independent. */
const HISTORIES_A_CLUSTER = 20;
const FAULTS: readonly Fault[] = [
  'kill -9 the controller',
  'kill -9 the controller',
  'kill -9 the Northbound database',
  'a second controller',
  'stop the leader past its Lease, then wake it',
  'somebody takes the term',
];
/**
 * The laboratory's API server runs in this process, so it cannot be killed. A real one takes seconds to start, so it is killed less often
 * than the others.
 */
const REAL_FAULTS: readonly Fault[] = [...FAULTS, ...FAULTS, 'kill -9 kube-apiserver'];

/** Consecutive seeds. */
export function* seedsFrom(first: number): Generator<number> {
  for (let seed = first; ; seed++) yield seed;
}

export async function runChaos({
  api,
  seeds,
  runs,
  forMs = Number.POSITIVE_INFINITY,
  say = () => undefined,
}: ChaosOptions): Promise<ChaosReport> {
  const begun = performance.now();
  const faults = new Map<Fault, number>();
  const failures: ChaosFailure[] = [];
  let [histories, operations, fenced] = [0, 0, 0];
  let cluster: ScenarioCluster | undefined;
  try {
    for (const seed of seeds) {
      if (histories >= runs || performance.now() - begun >= forMs) break;
      if (cluster === undefined || histories % HISTORIES_A_CLUSTER === 0) {
        await cluster?.stop();
        cluster = await startCluster(api);
      }
      const history = drawHistory(seed, api === 'real' ? REAL_FAULTS : FAULTS);
      const since = performance.now();
      const player = new Player(cluster);
      histories++;
      for (const { operations: some, fault } of history.bursts) {
        operations += some.length;
        if (fault !== undefined) faults.set(fault.what, (faults.get(fault.what) ?? 0) + 1);
      }
      let found: unknown;
      try {
        const foreign = await cluster.foreignRows();
        for (const burst of history.bursts) await player.burst(burst);
        await cluster.ensureController();
        await checkConverged(cluster, foreign);
        await checkDeletion(cluster, foreign, history);
      } catch (error) {
        found = error ?? 'undefined';
      }
      fenced += player.met.fenced;
      const took = `${((performance.now() - since) / 1_000).toFixed(1)} s`;
      if (found === undefined) {
        say(`✔ seed ${history.seed}: ${history.bursts.flatMap((burst) => burst.fault?.what ?? []).join(', ') || 'no fault'} (${took})`);
        continue;
      }
      const reason = found instanceof Error ? (found.stack ?? found.message) : JSON.stringify(found);
      const text = `${historyText(history)}\n\n${reason}\n\n${await controllerLogs(cluster)}`;
      failures.push({ seed: history.seed, text });
      say(`✖ seed ${history.seed} (${took})\n${text}`);
      await cluster.stop();
      cluster = undefined;
    }
  } finally {
    await cluster?.stop();
  }
  return { histories, operations, faults, fenced, failures };
}

async function startCluster(api: ScenarioClusterOptions['api']): Promise<ScenarioCluster> {
  const cluster = await ScenarioCluster.start({ api });
  await cluster.apply(NAMESPACES.map((name) => namespaceYaml(name)).join(''));
  await cluster.startController().untilLogged('writing');
  await cluster.converged();
  return cluster;
}

/** What shows whether a controller is behind, waits, or has stuck writes. */
const STATE =
  /^kiln_(leader|ready|term|api_writes_(pending|total)|api_objects_held|rows_set_aside|rule_failures_total|watch_|snapshot_objects|lists_doubted|ovsdb_(connected|lies|refuses))/;

/** State and last lines of each controller that runs. */
async function controllerLogs(cluster: ScenarioCluster): Promise<string> {
  const texts: string[] = [];
  for (const controller of cluster.controllers) {
    const metrics = await controller.metrics().catch((error: unknown) => `no metrics: ${String(error)}`);
    const stack = await controller.stack().catch((error: unknown) => `no stack: ${String(error)}`);
    const state = metrics.split('\n').filter((line) => STATE.test(line) && !line.endsWith(' 0'));
    const lines = await controller.log().catch(() => []);
    const end = lines.slice(-40).map((line) => JSON.stringify(line).slice(0, 400));
    texts.push(
      `controller ${controller.pid ?? 'that ended'}, its state:\n${state.join('\n')}\nits stack:\n${stack}\nthe end of its log:\n${end.join('\n')}`,
    );
  }
  return texts.join('\n\n');
}

export function reportText({ histories, operations, faults, fenced, failures }: ChaosReport): string {
  const counts = [...faults].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([fault, count]) => `${count} × ${fault}`);
  return [
    `${histories} histories, ${operations} operations, faults: ${counts.join(', ') || 'none'}`,
    `${fenced} transactions refused at the fence`,
    failures.length === 0 ? 'every invariant held' : `${failures.length} failed: seeds ${failures.map(({ seed }) => seed).join(', ')}`,
  ].join('\n');
}
