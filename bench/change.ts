/**
 * `change`: what creating and deleting one pod costs a controller among 1,000 and among 50,000 pods. Processor time is the median: now and
 * then V8 collects the whole heap, which among 50,000 pods takes as long as the sixty changes that are measured, and may or may not happen
 * during them.
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
  /** Median of one change. */
  readonly cpuMs: number;
  /** Mean of one change, including collections of the whole heap. */
  readonly meanCpuMs: number;
  readonly collections: number;
  readonly reads: number;
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
      { name: `${name}: the controller's processor time, p50`, value: cost.cpuMs, unit: 'ms' },
      { name: `${name}: on average, collections of its whole heap included`, value: cost.meanCpuMs, unit: 'ms' },
      { name: `${name}: such collections in all`, value: cost.collections, unit: '' },
      { name: `${name}: from its creation to its annotations, p50`, value: cost.latencyMs, unit: 'ms' },
      { name: `${name}: operations sent to OVN`, value: cost.operations, unit: '' },
      { name: `${name}: writes to the API server`, value: cost.writes, unit: '' },
      { name: `${name}: reads from it`, value: cost.reads, unit: '' },
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
    const before = await quietReport(controller);
    const { latencies, reports } = await comeAndGo(crowd, controller, 'new', changes);
    const after = await quietReport(controller);
    const spent = [before, ...reports].map(({ cpuMs }) => cpuMs);
    const each = (of: (report: Report) => number): number => (of(after) - of(before)) / changes;
    return {
      latencyMs: median(latencies),
      cpuMs: median(reports.map(({ cpuMs }, at) => cpuMs - (spent[at] ?? 0))),
      meanCpuMs: each(({ cpuMs }) => cpuMs),
      collections: after.collections - before.collections,
      reads: each(({ requests }) => requests['read'] ?? 0),
      operations: each(({ operations }) => operations),
      runs: each(({ status }) => status.ruleRuns),
      writes: each(({ requests }) => requests['write'] ?? 0),
    };
  } finally {
    await controller.stop();
  }
}

/**
 * Creates and deletes pods one after another. @returns for each the milliseconds from the answer to its creation to the annotations, and a
 * report at the end
 */
async function comeAndGo(
  crowd: Pick<Crowd, 'client' | 'nodes'>,
  controller: MeasuredController,
  prefix: string,
  count: number,
): Promise<{ readonly latencies: readonly number[]; readonly reports: readonly Report[] }> {
  const latencies: number[] = [];
  const reports: Report[] = [];
  for (let at = 0; at < count; at++) {
    const name = `${prefix}-${at}`;
    await crowd.client.create(PODS, podObject('space-0', name, crowd.nodes[at % crowd.nodes.length] ?? ''));
    const created = performance.now();
    await untilRouted(crowd.client, 'space-0', name);
    latencies.push(performance.now() - created);
    await crowd.client.delete(PODS, { namespace: 'space-0', name }, { gracePeriodSeconds: 0 });
    reports.push(await controller.report('quiet'));
  }
  return { latencies, reports };
}

/** Waits until the last write of a Subnet's status, at most one a second, is done, and no Event of a new leader is left to send. */
async function quietReport(controller: MeasuredController): Promise<Report> {
  for (;;) {
    await sleep(1_500);
    const report = await controller.report('quiet');
    if (report.status.eventsWaiting === 0) return report;
  }
}
