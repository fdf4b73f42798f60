/**
 * `churn`: pods are created and deleted at a steady rate in a cluster that has pods already, on a real kube-apiserver and a real OVN with
 * northd. It measures how long each waits from its creation to its annotations, in which steps, and what a pod costs the API server. Beside
 * it the API server alone with the same writes: at the same rates, one after another for each pod, and as many as possible.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeClient } from '../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../src/kube/transport/connection.ts';
import { ListWatchCache } from '../src/kube/cache/list-watch-cache.ts';
import type { KubeObject } from '../src/kube/resource.ts';
import { PODS } from '../src/kube/resource.ts';
import { KubeTransport } from '../src/kube/transport/transport.ts';
import { installCrds } from '../lab/crd-installation.ts';
import { StandInKubelet } from '../lab/kubelet/stand-in-kubelet.ts';
import { OvnLab } from '../lab/ovn/ovn-lab.ts';
import { RealCluster } from '../lab/real-cluster/real-cluster.ts';
import { BareLives } from './bare-lives.ts';
import { podObject } from './crowd.ts';
import { MeasuredController } from './measured-controller.ts';
import { STEPS, type Timeline } from './pod-timeline.ts';
import type { BenchRow } from './row.ts';
import { processorTime, requestCounts, requestsBetween } from './server-load.ts';
import type { Sizes } from './sizes.ts';
import { percentile } from './statistics.ts';

/** A pod is deleted this long after its creation. */
const LIFE_MS = 3_000;
const NODES = 10;
const PREFIX = 'churn-';

interface Annotated extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
}

export async function churn({ rates, seconds: long }: Sizes['churn']): Promise<BenchRow[]> {
  const cluster = new RealCluster();
  const ovn = new OvnLab();
  await Promise.all([cluster.start(), ovn.start()]);
  const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: cluster.kubeconfig }), { connections: 64 }));
  try {
    await installCrds(client, false);
    const kubelet = new StandInKubelet({ client, nodes: NODES });
    await kubelet.start();
    await kubelet.stop();
    const controller = await MeasuredController.start(cluster.kubeconfig, ovn.nbEndpoint, 'churn', PREFIX);
    await controller.report('quiet');
    const bare = await BareLives.observed(client, 'node-1');
    await churnAt(client, 20, 3);
    const times = (): Promise<readonly (readonly [string, number])[]> =>
      Promise.all(
        (
          [
            ['kube-apiserver', cluster.pid('kube-apiserver')],
            ['etcd', cluster.pid('etcd')],
            ['kube-controller-manager', cluster.pid('kube-controller-manager')],
            ['the servers of OVN', ovn.pid('nb')],
            ['northd', ovn.pid('northd')],
            ['the controller', controller.pid],
            ['the benchmark', process.pid],
          ] as const
        ).map(async ([name, pid]) => [name, await processorTime(pid)] as const),
      );
    const rows: BenchRow[] = [];
    const waited = new Map<number, number>();
    for (const rate of rates) {
      await controller.report('quiet');
      const [counted, spent] = [await requestCounts(client), await times()];
      const { waits, made, created, annotated } = await churnAt(client, rate, long);
      const { timelines } = await controller.report('quiet');
      const spentSince = (await times()).map(([name, ms], at) => [name, ms - (spent[at]?.[1] ?? 0)] as const);
      const name = `${rate} pods/s`;
      waited.set(rate, percentile(waits, 99));
      rows.push(
        { name: `${name}: pods made and deleted a second, in truth`, value: made, unit: 'pods/s' },
        { name: `${name}: from creation to annotation, p50`, value: percentile(waits, 50), unit: 'ms' },
        {
          name: `${name}: from creation to annotation, p99`,
          value: percentile(waits, 99),
          unit: 'ms',
          ...(rate === 100 && { aim: '< 150' }),
        },
        { name: `${name}: pods that ended before they were bound`, value: created.size - annotated.size, unit: '' },
        ...stepRows(name, created, timelines, annotated),
        ...spentSince.map(([what, ms]) => ({
          name: `${name}: processor time for each pod, ${what}`,
          value: ms / created.size,
          unit: 'ms',
        })),
        ...requestsBetween(counted, await requestCounts(client))
          .filter(([, count]) => count >= created.size / 50)
          .map(([what, count]) => ({ name: `${name}: requests for each pod, ${what}`, value: count / created.size, unit: '' })),
      );
    }
    await controller.report('quiet');
    await controller.stop();
    for (const rate of rates) {
      const waits = await bare.at(rate, Math.min(long, 10), LIFE_MS);
      const name = `${rate} pods/s, the API server alone with the same writes`;
      rows.push(
        { name: `${name}: p50`, value: percentile(waits, 50), unit: 'ms' },
        { name: `${name}: p99`, value: percentile(waits, 99), unit: 'ms' },
        {
          name: `${rate} pods/s: p99 to that of the API server alone`,
          value: (waited.get(rate) ?? NaN) / percentile(waits, 99),
          unit: '×',
        },
      );
    }
    rows.push({
      name: 'the most lives of pods a second that the API server alone can take',
      value: await bare.most(long * 50),
      unit: 'pods/s',
    });
    return rows;
  } finally {
    await client.close();
    await ovn.stop();
    await cluster.stop();
  }
}

interface Churned {
  /** The wait of each pod, from the answer to its creation; its whole life if it never got annotations. */
  readonly waits: readonly number[];
  /** Pods created a second. */
  readonly made: number;
  /** The time by pod name, in milliseconds since the benchmark began. */
  readonly created: ReadonlyMap<string, number>;
  readonly annotated: ReadonlyMap<string, number>;
}

async function churnAt(client: KubeClient, rate: number, seconds: number): Promise<Churned> {
  const cache = new ListWatchCache<Annotated>({ client, resource: PODS });
  const created = new Map<string, number>();
  const annotated = new Map<string, number>();
  cache.onDelta((deltas) => {
    const now = performance.now();
    for (const { type, object } of deltas) {
      if (type !== 'upsert' || object.metadata.annotations?.['ovn.kubernetes.io/routed'] !== 'true') continue;
      if (!annotated.has(object.metadata.name)) annotated.set(object.metadata.name, now);
    }
  });
  await cache.start().untilSynced();
  const count = rate * seconds;
  const lives: Promise<void>[] = [];
  const started = performance.now();
  for (let at = 0; at < count; at++) {
    await sleep(Math.max(0, started + (at * 1_000) / rate - performance.now()));
    lives.push(live(client, `${PREFIX}${rate}-${seconds}-${at}`, `node-${(at % NODES) + 1}`, created));
  }
  const made = (count * 1_000) / (performance.now() - started);
  await Promise.all(lives);
  await cache.close();
  const waits = [...created].map(([name, at]) => Math.max(0, Math.min(LIFE_MS, (annotated.get(name) ?? Infinity) - at)));
  return { waits, made, created, annotated };
}

async function live(client: KubeClient, name: string, node: string, created: Map<string, number>): Promise<void> {
  await client.create(PODS, podObject('default', name, node));
  created.set(name, performance.now());
  await sleep(LIFE_MS);
  await client.delete(PODS, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
}

/** The duration of each step of a pod since the step before it. */
function stepRows(
  name: string,
  created: ReadonlyMap<string, number>,
  timelines: Readonly<Record<string, Timeline>>,
  annotated: ReadonlyMap<string, number>,
): readonly BenchRow[] {
  const lives = [...created].flatMap(([pod, at]) => {
    const steps = STEPS.map((step) => timelines[pod]?.[step]);
    const end = annotated.get(pod);
    return end === undefined ? [] : [[at + performance.timeOrigin, ...steps, end + performance.timeOrigin]];
  });
  const names = ['created', ...STEPS, 'annotations observed'];
  return names.slice(1).flatMap((step, at) => {
    const took = lives.flatMap((moments) => {
      const [from, to] = [moments[at], moments[at + 1]];
      return from === undefined || to === undefined ? [] : [to - from];
    });
    if (took.length === 0) return [];
    return [50, 99].map((share) => ({ name: `${name}: ${names[at]} → ${step}, p${share}`, value: percentile(took, share), unit: 'ms' }));
  });
}
