/**
 * `memory`: the resident memory of a fresh controller in a cluster whose pods are all bound: its peak, after convergence, and for each pod.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from './crowd.ts';
import type { Report } from './measured-controller.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';

export async function memory({ pods, restSeconds }: Sizes['memory'], standing: readonly string[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const rests: { readonly size: number; readonly report: Report }[] = [];
  for (const size of pods) {
    const report = await restOf(size, restSeconds, standing);
    rests.push({ size, report });
    rows.push(
      { name: `${size} pods: at rest`, value: report.residentMb, unit: 'MB' },
      { name: `${size} pods: the most`, value: report.peakMb, unit: 'MB', ...(size === 50_000 && { aim: '< 1,000' }) },
      { name: `${size} pods: memory of JavaScript at rest`, value: report.heapMb, unit: 'MB' },
      { name: `${size} pods: processor time until rest`, value: report.cpuMs / 1_000, unit: 's' },
    );
  }
  const [least, most] = [rests.at(0), rests.at(-1)];
  if (least !== undefined && most !== undefined && most.size > least.size) {
    const more = most.report.residentMb - least.report.residentMb;
    rows.push({ name: 'each further pod, at rest', value: (more * 1_024) / (most.size - least.size), unit: 'kB' });
  }
  return rows;
}

async function restOf(pods: number, restSeconds: number, standing: readonly string[]): Promise<Report> {
  const crowd = await Crowd.of({ pods, standing });
  try {
    const controller = await crowd.controller(`memory-${pods}`);
    await controller.report('quiet');
    await sleep(restSeconds * 1_000);
    const report = await controller.report();
    await controller.stop();
    return report;
  } finally {
    await crowd.stop();
  }
}
