import { PATIENCE_MS } from '../../testing/patience.ts';

/** Lets I/O go on until the condition holds. @throws Error naming what was waited for, when the patience of a test has ended */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
