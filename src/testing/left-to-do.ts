/** The plan of a fresh controller: tests wait until it is empty, and assert that. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FreshController } from '../controller/fresh-controller.ts';
import { planLines } from '../explain/plan-text.ts';
import { PATIENCE_MS, pauseAfter } from './patience.ts';
import { until } from './until.ts';

/** Includes the work of concurrent scenarios. */
export const CONVERGENCE_MS = 3 * PATIENCE_MS;
const STABLE_MS = 10_000;
const LONGEST_MS = 60_000;

/** Waits until the plan is empty. @returns whether it was at the first look */
export async function untilNothingIsLeft(look: FreshController, patienceMs = CONVERGENCE_MS): Promise<boolean> {
  let looks = 0;
  const nothingIsLeft = async (): Promise<boolean> => {
    looks++;
    await look.derived(PATIENCE_MS);
    return isEmpty(look.plan());
  };
  await until('the cluster has converged', nothingIsLeft, patienceMs, () => `what is left to do:\n${planLines(look.plan()).join('\n')}`);
  return looks === 1;
}

/**
 * Waits until the plan has only evictions, or is unchanged for ten seconds: a part of it may wait for the test itself. At most a minute:
 * concurrent scenarios never end.
 */
export async function untilStable(look: FreshController): Promise<void> {
  const begun = performance.now();
  for (let now = begun, since = begun, last = ''; now - since < STABLE_MS && now - begun < LONGEST_MS; now = performance.now()) {
    await look.derived(PATIENCE_MS);
    const plan = look.plan();
    if (plan.rows.length === 0 && plan.objects.every(({ verb }) => verb === 'evict')) return;
    const text = planLines(plan).join('\n');
    if (text !== last) [last, since] = [text, now];
    await sleep(pauseAfter(now - begun));
  }
}

/** @throws Error with the plan, if it is not empty */
export function assertNothingLeft(look: FreshController): void {
  const plan = look.plan();
  if (!isEmpty(plan)) throw new Error(`a fresh controller would write:\n${planLines(plan).join('\n')}`);
}

function isEmpty({ rows, objects }: ReturnType<FreshController['plan']>): boolean {
  return rows.length + objects.length === 0;
}
