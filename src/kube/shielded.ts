/** Calls a listener so that its bug breaks nobody else: it surfaces as an uncaught exception of its own. */
export function shielded(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
