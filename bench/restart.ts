/**
 * `restart`: a fresh controller in a cluster whose pods are all bound: how long until it leads and has converged, the memory that takes,
 * and that it writes nothing but its term.
 */
import { Crowd } from './crowd.ts';
import { newestRevision } from './etcd.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';

export async function restart({ pods }: Sizes['restart'], standing: readonly string[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const size of pods) rows.push(...(await restartAmong(size, standing)));
  return rows;
}

async function restartAmong(pods: number, standing: readonly string[]): Promise<BenchRow[]> {
  const crowd = await Crowd.of({ pods, standing });
  try {
    const before = await written(crowd);
    const controller = await crowd.controller(`restart-${pods}`);
    const report = await controller.report('quiet');
    await controller.stop();
    const { status, longestTurn: turn } = report;
    if (status.rowsWritten + status.objectsWritten > 0 || (await written(crowd)) !== before)
      throw new Error(`a fresh controller wrote: ${JSON.stringify(status)}`);
    const large = pods === 50_000;
    const name = `${pods} pods`;
    return [
      {
        name: `${name}: from the start of the process until nothing is left to do`,
        value: report.upMs / 1_000,
        unit: 's',
        ...(large && { aim: '< 20' }),
      },
      { name: `${name}: of that, until everything was listed and the Lease was held`, value: (report.leadingMs ?? 0) / 1_000, unit: 's' },
      { name: `${name}: processor time`, value: report.cpuMs / 1_000, unit: 's' },
      { name: `${name}: the most memory`, value: report.peakMb, unit: 'MB', ...(large && { aim: '< 1,000' }) },
      { name: `${name}: memory of JavaScript at the end`, value: report.heapMb, unit: 'MB' },
      {
        name: `${name}: longest turn of the event loop`,
        value: turn.ms,
        unit: 'ms',
        ...(large && { aim: '< 200' }),
      },
      {
        name: `${name}: of that, processor time of the main thread (${turn.from === turn.to ? turn.to : `${turn.from}, then ${turn.to}`})`,
        value: turn.ownMs,
        unit: 'ms',
      },
      { name: `${name}: of that, collections of garbage`, value: turn.collectionMs, unit: 'ms' },
      { name: `${name}: rows and objects written`, value: status.rowsWritten + status.objectsWritten, unit: '', aim: '= 0' },
      { name: `${name}: runs of rules and queries`, value: status.ruleRuns, unit: '' },
    ];
  } finally {
    await crowd.stop();
  }
}

/**
 * The servers' state: the newest change to a pod or to one of Kiln's kinds, and all rows of the Northbound database but that of NB_Global.
 */
async function written(crowd: Crowd): Promise<string> {
  const { etcdUrl } = crowd;
  const revisions = [await newestRevision(etcdUrl, '/registry/pods/'), await newestRevision(etcdUrl, '/registry/kubeovn.io/')];
  return [...revisions, await crowd.northboundFingerprint()].join(' ');
}
