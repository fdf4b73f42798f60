/** Calls a listener. Its exception does not reach the caller or other listeners: it surfaces as an uncaught exception. */
export function callIsolated(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
