/** What a fresh controller would still do, as tests wait for it and judge it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FreshLook } from '../controller/fresh-look.ts';
import { planLines } from '../explain/plan-text.ts';
import { PATIENCE_MS, pauseAfter } from './patience.ts';

/** What others do beside is waited for as well. */
export const CONVERGENCE_MS = 3 * PATIENCE_MS;
const CALM_MS = 10_000;
const RESTLESS_MS = 60_000;

/** Waits until it is nothing. @returns whether it was at the first look */
export async function untilNothingIsLeft(look: FreshLook, patienceMs = CONVERGENCE_MS): Promise<boolean> {
  const begun = performance.now();
  for (let looks = 1; ; looks++) {
    await look.derived(PATIENCE_MS);
    const plan = look.plan();
    if (isEmpty(plan)) return looks === 1;
    const waited = performance.now() - begun;
    if (waited > patienceMs)
      throw new Error(`not converged after ${patienceMs / 1000} s; what is left to do:\n${planLines(plan).join('\n')}`);
    await sleep(pauseAfter(waited));
  }
}

/**
 * Waits until it is nothing but evictions, or the same for ten seconds: some of it may wait for the test itself. At most a minute: what
 * others do beside never ends.
 */
export async function untilCalm(look: FreshLook): Promise<void> {
  const begun = performance.now();
  for (let now = begun, since = begun, last = ''; now - since < CALM_MS && now - begun < RESTLESS_MS; now = performance.now()) {
    await look.derived(PATIENCE_MS);
    const plan = look.plan();
    if (plan.rows.length === 0 && plan.objects.every(({ verb }) => verb === 'evict')) return;
    const text = planLines(plan).join('\n');
    if (text !== last) [last, since] = [text, now];
    await sleep(pauseAfter(now - begun));
  }
}

/** @throws Error that lists it */
export function refuse(look: FreshLook): void {
  const plan = look.plan();
  if (!isEmpty(plan)) throw new Error(`a fresh controller would write:\n${planLines(plan).join('\n')}`);
}

function isEmpty({ rows, objects }: ReturnType<FreshLook['plan']>): boolean {
  return rows.length + objects.length === 0;
}
