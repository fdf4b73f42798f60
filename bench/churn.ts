/**
 * `churn`: pods that come and go at a steady rate in a cluster that has pods already, on a real kube-apiserver and a real OVN with
 * northd: how long each waits from its creation to its annotations.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeClient } from '../src/kube/client.ts';
import { connectionFromKubeconfig } from '../src/kube/connection.ts';
import { ListWatchCache } from '../src/kube/list-watch-cache.ts';
import type { KubeObject } from '../src/kube/resource.ts';
import { PODS } from '../src/kube/resource.ts';
import { KubeTransport } from '../src/kube/transport.ts';
import { installCrds } from '../src/lab/crd-installation.ts';
import { StandInKubelet } from '../src/lab/kubelet/stand-in-kubelet.ts';
import { OvnLab } from '../src/lab/ovn/ovn-lab.ts';
import { RealCluster } from '../src/lab/real-cluster/real-cluster.ts';
import { podObject } from './crowd.ts';
import { MeasuredController } from './measured-controller.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';
import { percentile } from './statistics.ts';

/** A pod is deleted so long after it was made. */
const LIFE_MS = 3_000;
const NODES = 10;

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
    const controller = await MeasuredController.start(cluster.kubeconfig, ovn.nbEndpoint, 'churn');
    await controller.report('quiet');
    await churnAt(client, 20, 3);
    const rows: BenchRow[] = [];
    for (const rate of rates) {
      const before = await controller.report();
      const { waits, made, unbound } = await churnAt(client, rate, long);
      const after = await controller.report();
      const seconds = (after.upMs - before.upMs) / 1_000;
      const name = `${rate} pods/s`;
      rows.push(
        { name: `${name}: pods made and deleted a second, in truth`, value: made, unit: 'pods/s' },
        { name: `${name}: from creation to annotation, p50`, value: percentile(waits, 50), unit: 'ms' },
        {
          name: `${name}: from creation to annotation, p99`,
          value: percentile(waits, 99),
          unit: 'ms',
          ...(rate === 100 && { aim: '< 150' }),
        },
        { name: `${name}: pods that ended before they were bound`, value: unbound, unit: '' },
        { name: `${name}: the controller's processor time, of one core`, value: (after.cpuMs - before.cpuMs) / (seconds * 10), unit: '%' },
      );
    }
    await controller.report('quiet');
    await controller.stop();
    return rows;
  } finally {
    await client.close();
    await ovn.stop();
    await cluster.stop();
  }
}

/** @returns what each pod waited, from the answer to its creation (its whole life where it was in vain), and how many were made a second */
async function churnAt(
  client: KubeClient,
  rate: number,
  seconds: number,
): Promise<{ waits: readonly number[]; made: number; unbound: number }> {
  const cache = new ListWatchCache<Annotated>({ client, resource: PODS });
  const created = new Map<string, number>();
  const annotated = new Map<string, number>();
  cache.onDelta((deltas) => {
    const now = performance.now();
    for (const { type, object } of deltas)
      if (type === 'upsert' && object.metadata.annotations?.['ovn.kubernetes.io/routed'] === 'true' && !annotated.has(object.metadata.name))
        annotated.set(object.metadata.name, now);
  });
  await cache.start().untilSynced();
  const count = rate * seconds;
  const lives: Promise<void>[] = [];
  const started = performance.now();
  for (let at = 0; at < count; at++) {
    await sleep(Math.max(0, started + (at * 1_000) / rate - performance.now()));
    lives.push(live(client, `churn-${rate}-${seconds}-${at}`, `node-${(at % NODES) + 1}`, created));
  }
  const made = (count * 1_000) / (performance.now() - started);
  await Promise.all(lives);
  await cache.close();
  const waits = [...created].map(([name, at]) => Math.max(0, Math.min(LIFE_MS, (annotated.get(name) ?? Infinity) - at)));
  return { waits, made, unbound: created.size - annotated.size };
}

async function live(client: KubeClient, name: string, node: string, created: Map<string, number>): Promise<void> {
  await client.create(PODS, podObject('default', name, node));
  created.set(name, performance.now());
  await sleep(LIFE_MS);
  await client.delete(PODS, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
}
