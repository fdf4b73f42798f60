import { PATIENCE_MS } from '../../testing/patience.ts';

/** Lets I/O run until the condition holds. @throws Error with `what`, when the patience of a test has ended */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
