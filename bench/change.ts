/**
 * `change`: what one pod's coming and going costs a controller among 1,000 and among 50,000 pods.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PODS } from '../src/kube/resource.ts';
import { Crowd, podObject, untilRouted } from './crowd.ts';
import type { MeasuredController, Report } from './measured-controller.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

const WARM_UP = 15;

export interface Cost {
  readonly latencyMs: number;
  readonly cpuMs: number;
  readonly operations: number;
  readonly runs: number;
  readonly writes: number;
}

export async function change({ pods: sizes, changes }: Sizes['change'], standing: readonly string[]): Promise<BenchRow[]> {
  const costs: Cost[] = [];
  for (const pods of sizes) costs.push(await costAmong(pods, changes, standing));
  const [few, many] = costs as [Cost, Cost];
  const rows = sizes.flatMap((size, at): BenchRow[] => {
    const cost = costs[at] as Cost;
    const name = `${size} pods, one comes and goes`;
    return [
      { name: `${name}: the controller's processor time`, value: cost.cpuMs, unit: 'ms' },
      { name: `${name}: from its creation to its annotations, p50`, value: cost.latencyMs, unit: 'ms' },
      { name: `${name}: operations sent to OVN`, value: cost.operations, unit: '' },
      { name: `${name}: writes to the API server`, value: cost.writes, unit: '' },
      { name: `${name}: runs of rules and queries`, value: cost.runs, unit: '' },
    ];
  });
  return [
    ...rows,
    { name: `processor time at ${sizes[1]} to that at ${sizes[0]}`, value: many.cpuMs / few.cpuMs, unit: '×', aim: '≤ 1.5' },
    { name: `runs at ${sizes[1]} to those at ${sizes[0]}`, value: many.runs / few.runs, unit: '×', aim: '≤ 1.5' },
    { name: `operations at ${sizes[1]} to those at ${sizes[0]}`, value: many.operations / few.operations, unit: '×', aim: '≤ 1.5' },
  ];
}

async function costAmong(pods: number, changes: number, standing: readonly string[]): Promise<Cost> {
  const crowd = await Crowd.of({ pods, standing });
  try {
    return await costIn(crowd, `change-${pods}`, changes);
  } finally {
    await crowd.stop();
  }
}

export async function costIn(crowd: Pick<Crowd, 'client' | 'nodes' | 'controller'>, name: string, changes: number): Promise<Cost> {
  const controller = await crowd.controller(name);
  try {
    await controller.report('quiet');
    await comeAndGo(crowd, controller, 'warm', Math.min(WARM_UP, changes));
    const before = await settled(controller);
    const latencies = await comeAndGo(crowd, controller, 'new', changes);
    const after = await settled(controller);
    const each = (of: (report: Report) => number): number => (of(after) - of(before)) / changes;
    return {
      latencyMs: median(latencies),
      cpuMs: each(({ cpuMs }) => cpuMs),
      operations: each(({ operations }) => operations),
      runs: each(({ status }) => status.ruleRuns),
      writes: each(({ requests }) => requests['write'] ?? 0),
    };
  } finally {
    await controller.stop();
  }
}

/** One after the other. @returns milliseconds from the creation's answer to the annotations of each */
async function comeAndGo(
  crowd: Pick<Crowd, 'client' | 'nodes'>,
  controller: MeasuredController,
  prefix: string,
  count: number,
): Promise<number[]> {
  const latencies: number[] = [];
  for (let at = 0; at < count; at++) {
    const name = `${prefix}-${at}`;
    await crowd.client.create(PODS, podObject('space-0', name, crowd.nodes[at % crowd.nodes.length] ?? ''));
    const created = performance.now();
    await untilRouted(crowd.client, 'space-0', name);
    latencies.push(performance.now() - created);
    await crowd.client.delete(PODS, { namespace: 'space-0', name }, { gracePeriodSeconds: 0 });
    await controller.report('quiet');
  }
  return latencies;
}

/** A Subnet's status is written at most once a second: the last one has been. */
async function settled(controller: MeasuredController): Promise<Report> {
  await sleep(1_500);
  return controller.report('quiet');
}
