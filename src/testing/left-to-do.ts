/** What a fresh controller would still do, as tests wait for it and judge it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FreshLook } from '../controller/fresh-look.ts';
import { planText } from '../explain/plan-text.ts';
import { PATIENCE_MS, pauseAfter } from './patience.ts';

const CALM_MS = 10_000;

/** Waits until it is nothing. @returns whether it was at the first look */
export async function untilNothingIsLeft(look: FreshLook): Promise<boolean> {
  const begun = performance.now();
  for (let looks = 1; ; looks++) {
    await look.derived(PATIENCE_MS);
    const plan = look.plan();
    if (isEmpty(plan)) return looks === 1;
    const waited = performance.now() - begun;
    if (waited > PATIENCE_MS) throw new Error(`not settled after ${PATIENCE_MS / 1000} s; what is left to do:\n${planText(plan)}`);
    await sleep(pauseAfter(waited));
  }
}

/** Waits until it is nothing but evictions, or for ten seconds: some of it may wait for the test itself. */
export async function untilCalm(look: FreshLook): Promise<void> {
  for (let waited = 0, begun = performance.now(); waited < CALM_MS; waited = performance.now() - begun) {
    await look.derived(PATIENCE_MS);
    const { rows, objects } = look.plan();
    if (rows.length === 0 && objects.every(({ verb }) => verb === 'evict')) return;
    await sleep(pauseAfter(waited));
  }
}

/** @throws Error that lists it */
export function refuse(look: FreshLook): void {
  const plan = look.plan();
  if (!isEmpty(plan)) throw new Error(`a fresh controller would write:\n${planText(plan)}`);
}

function isEmpty({ rows, objects }: ReturnType<FreshLook['plan']>): boolean {
  return rows.length + objects.length === 0;
}
