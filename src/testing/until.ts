/** How tests wait: they poll, with one timeout, and the error names the condition. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from './patience.ts';

const SHORTEST_MS = 1;
/** The longest pause after a probe that costs nothing: a test may wait for a state that passes soon. */
const LONGEST_CHEAP_MS = 5;
const LONGEST_MS = 500;

type Awaitable<T> = T | Promise<T>;

/**
 * Polls until the probe returns anything but undefined or false, and returns it. The pause is a fifth of the time waited so far, and at
 * most ten times as long as the probe took: so a wait ends little later than it could, and a probe that starts a program is called rarely.
 * @param what the condition, for the error's text
 * @param state what was found instead, for the error's text
 * @throws Error after the timeout; what the probe throws, at once
 */
export async function until<T>(
  what: string,
  probe: () => Awaitable<T | undefined | false>,
  timeoutMs = PATIENCE_MS,
  state: () => string = () => '',
): Promise<T> {
  const begun = performance.now();
  for (;;) {
    const called = performance.now();
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    const now = performance.now();
    const waited = now - begun;
    if (waited > timeoutMs) throw new Error(`not after ${timeoutMs / 1000} s: ${[what, state()].filter((text) => text !== '').join(': ')}`);
    const longest = Math.min(Math.max(10 * (now - called), LONGEST_CHEAP_MS), LONGEST_MS);
    await sleep(Math.min(Math.max(waited / 5, SHORTEST_MS), longest));
  }
}

/** As `until`; a probe that throws, as a failing assertion does, counts as not yet, and the timeout's error names the last such error. */
export async function eventually<T>(what: string, probe: () => Awaitable<T | undefined | false>, timeoutMs = PATIENCE_MS): Promise<T> {
  let last: unknown;
  const attempt = async (): Promise<T | undefined | false> => {
    try {
      const found = await probe();
      last = undefined;
      return found;
    } catch (error) {
      last = error;
      return undefined;
    }
  };
  const state = (): string => (last === undefined ? '' : last instanceof Error ? last.message : JSON.stringify(last));
  return until(what, attempt, timeoutMs, state);
}
