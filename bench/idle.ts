/** `idle`: what a controller costs while nothing happens in a cluster of 10,000 bound pods. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from './crowd.ts';
import type { MeasuredController, Report } from './measured-controller.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';

/** A report once nothing was read or written for five seconds. */
async function atRest(controller: MeasuredController): Promise<Report> {
  const asked = ({ requests }: Report): number => (requests['read'] ?? 0) + (requests['write'] ?? 0);
  for (let before = await controller.report(); ;) {
    await sleep(5_000);
    const now = await controller.report();
    if (asked(now) === asked(before)) return now;
    before = now;
  }
}

export async function idle({ pods, seconds: long }: Sizes['idle'], standing: readonly string[]): Promise<BenchRow[]> {
  const crowd = await Crowd.of({ pods, standing });
  try {
    const controller = await crowd.controller('idle');
    await controller.report('quiet');
    const before = await atRest(controller);
    await sleep(long * 1_000);
    const after = await controller.report();
    await controller.stop();
    const seconds = (after.upMs - before.upMs) / 1_000;
    const requests = (what: string): number => (after.requests[what] ?? 0) - (before.requests[what] ?? 0);
    return [
      {
        name: `${pods} pods: processor time, of one core`,
        value: ((after.cpuMs - before.cpuMs) / (seconds * 1_000)) * 100,
        unit: '%',
        aim: '< 1',
      },
      { name: 'requests that read or write objects', value: requests('read') + requests('write'), unit: '', aim: '= 0' },
      { name: 'watches that were opened anew', value: requests('watch'), unit: '' },
      { name: 'requests that keep the Lease, a minute', value: (requests('lease') / seconds) * 60, unit: '/min' },
      { name: 'operations sent to the Northbound database', value: after.operations - before.operations, unit: '', aim: '= 0' },
      { name: 'runs of rules and queries', value: after.status.ruleRuns - before.status.ruleRuns, unit: '', aim: '= 0' },
    ];
  } finally {
    await crowd.stop();
  }
}
