/**
 * `memory`: the resident memory of a fresh controller, as the image runs it, in a cluster whose pods are all bound: its peak, after
 * convergence, and for each pod. Beside it what kube-ovn-controller takes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from './crowd.ts';
import type { ImageMemory } from './image-controller.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';

/**
 * Of kube-ovn-controller, measured once beside Kiln: the most memory in a restart among 1,000 pods was 121 MB, of which a pod costs 28 kB
 * (137 MB while 1,000 pods are bound, 244 MB while 5,000 are).
 */
const UPSTREAM = { baseMb: 95, podKb: 28 } as const;

export async function memory({ pods, restSeconds }: Sizes['memory'], standing: readonly string[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const rests: { readonly size: number; readonly taken: ImageMemory }[] = [];
  for (const size of pods) {
    const taken = await restOf(size, restSeconds, standing);
    rests.push({ size, taken });
    const upstream = Math.round(UPSTREAM.baseMb + (size * UPSTREAM.podKb) / 1_024);
    const name = size <= 10 ? 'empty cluster' : `${size} pods`;
    rows.push(
      { name: `${name}: at rest`, value: taken.residentMb, unit: 'MB', aim: `≤ ${upstream} (kube-ovn-controller)` },
      { name: `${name}: of that, pages of Node's program file`, value: taken.fileMb, unit: 'MB' },
      { name: `${name}: of that, memory of JavaScript`, value: taken.heapMb, unit: 'MB' },
      {
        name: `${name}: the most`,
        value: taken.peakMb,
        unit: 'MB',
        aim: size === 50_000 ? '< 1,000' : `≤ ${upstream} (kube-ovn-controller)`,
      },
      { name: `${name}: processor time until rest`, value: taken.cpuSeconds, unit: 's' },
    );
  }
  const [least, most] = [rests.at(0), rests.at(-1)];
  if (least !== undefined && most !== undefined && most.size > least.size) {
    const more = most.taken.residentMb - least.taken.residentMb;
    const each = (more * 1_024) / (most.size - least.size);
    rows.push({ name: 'each further pod, at rest', value: each, unit: 'kB', aim: `≤ ${UPSTREAM.podKb} (kube-ovn-controller)` });
  }
  return rows;
}

async function restOf(pods: number, restSeconds: number, standing: readonly string[]): Promise<ImageMemory> {
  const crowd = await Crowd.of({ pods, standing });
  try {
    const controller = await crowd.imageController();
    await controller.untilQuiet();
    await sleep(restSeconds * 1_000);
    const taken = await controller.memory();
    await controller.stop();
    return taken;
  } finally {
    await crowd.stop();
  }
}
