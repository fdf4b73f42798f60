/**
 * Runs the checks of the project, cheapest first, and ends with one line that counts them.
 *
 *   npm test                          everything
 *   npm test -- unit                  one step: types, lint, layering, unit, or a folder of test/
 *   npm test -- src/net               the tests below a folder, or one test file
 */
import { join } from 'node:path';
import { selectSteps, type Step } from './testing/steps.ts';
import { add, forbidSkips, NOTHING, type Tally } from './testing/tally.ts';

process.chdir(join(import.meta.dirname, '..'));

async function runStep(step: Step): Promise<Tally> {
  console.log(`\n── ${step.name} ${'─'.repeat(Math.max(0, 70 - step.name.length))}`);
  const begun = performance.now();
  const tally = await step.run();
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`   ${step.name}: ${tally.passed} passed, ${tally.failures.length} failed, ${tally.skips.length} skipped in ${seconds} s`);
  return tally;
}

function report({ passed, failures, skips }: Tally): void {
  if (skips.length > 0) console.log(`\n!! ${skips.length} SKIPPED !!`);
  for (const { name, reason } of skips) console.log(`  ﹣ ${name}\n      because: ${reason}`);
  for (const { name, detail } of failures) console.log(`\n✖ ${name}\n${detail.replaceAll(/^/gm, '    ')}`);
  console.log(`\n${passed} passed, ${failures.length} failed`);
}

try {
  let tally = NOTHING;
  for (const step of selectSteps(process.argv.slice(2))) tally = add(tally, await runStep(step));
  if (process.env['CI'] === 'true') tally = forbidSkips(tally);
  report(tally);
  process.exitCode = tally.failures.length === 0 && tally.passed > 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
