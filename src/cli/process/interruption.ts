/** Waits for the end of a program that runs until it is interrupted. */
import { watchOutput } from './output-watch.ts';
import { watchAncestors } from './ancestor-watch.ts';

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP (the terminal was closed), or when the npm that started the process or the reader of its
 * output has ended. A second signal ends the process at once.
 */
export function interrupted(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    watchAncestors(() => done('SIGTERM'));
    watchOutput(() => done('SIGTERM'));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(130));
        done(signal);
      });
    }
  });
}
