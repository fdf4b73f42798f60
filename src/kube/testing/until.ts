/** Lets I/O go on until the condition holds. @throws Error naming what was waited for, after `timeoutMs` of real time */
export async function until(what: string, condition: () => boolean, timeoutMs = 5_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
