/** When a program that runs until it is told to end is told so. */
import { watchOutput } from './output-watch.ts';
import { watchStarters } from './starter-watch.ts';

/** Ends with the first of SIGINT, SIGTERM and SIGHUP (a terminal that was closed), or when the npm that started it or the reader of its output has ended; a second signal ends the process at once. */
export function interrupted(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    watchStarters(() => done('SIGTERM'));
    watchOutput(() => done('SIGTERM'));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(130));
        done(signal);
      });
    }
  });
}
