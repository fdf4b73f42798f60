/**
 * Runs the checks of the project, as many side by side as the machine has cores for, and ends with one line that counts them.
 *
 *   npm test                          all that ends within 20 minutes on two cores
 *   npm run test:long                 everything, within 75 minutes: chaos, churn, many lives, every scenario on every API server and OVN
 *   npm test -- unit                  one step: types, lint, format, layering, unit, or a folder of test/
 *   npm test -- src/net               the tests below a folder, or one test file
 *
 * When interrupted, it ends the running jobs, prints the results so far and exits with 130.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildForTests } from './testing/built-program.ts';
import { idleCores } from './testing/idle-cores.ts';
import { Progress, reportText } from './testing/print.ts';
import { runJobs } from './testing/schedule.ts';
import { selectJobs } from './testing/steps.ts';
import { forbidSkips } from './testing/tally.ts';

/**
 * The most minutes on two cores. A run that takes longer reports it and does not fail: the machine may have been busy with something else.
 */
const MOST_SECONDS = { short: 20 * 60, long: 75 * 60 };

process.chdir(join(import.meta.dirname, '..'));

const LONG = '--long';
const names = process.argv.slice(2).filter((argument) => argument !== LONG);
const long = process.argv.includes(LONG);

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

try {
  const jobs = selectJobs(names, long);
  const progress = new Progress(jobs);
  const begun = performance.now();
  await buildForTests(jobs);
  const cores = availableParallelism();
  await runJobs(jobs, {
    cores,
    stop: stop.signal,
    idle: idleCores(cores),
    onEnd: (job, tally, seconds) => progress.ended(job, tally, seconds),
  });
  const found = progress.total();
  const most = names.length > 0 ? undefined : MOST_SECONDS[long ? 'long' : 'short'];
  console.log(['', ...progress.times((performance.now() - begun) / 1000, most)].join('\n'));
  const tally = process.env['CI'] === 'true' ? forbidSkips(found) : found;
  console.log(reportText(tally));
  process.exitCode = stop.signal.aborted ? 130 : tally.failures.length === 0 && tally.passed > 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
