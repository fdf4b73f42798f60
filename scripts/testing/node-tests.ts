import { add, NOTHING, type Tally } from './tally.ts';
import { runTestFile } from './test-file.ts';

/** How test files are run. */
export interface NodeTestOptions {
  /** How many files at a time. */
  readonly concurrency: number;
  /** A file that takes longer is ended, and fails by its name. */
  readonly timeoutMs: number;
}

/** Runs each file in a process of its own, prints one line a file, and returns what was found. */
export async function runNodeTests(files: readonly string[], { concurrency, timeoutMs }: NodeTestOptions): Promise<Tally> {
  const waiting = [...files];
  const work = async (): Promise<Tally> => {
    let sum = NOTHING;
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const begun = performance.now();
      const tally = await runTestFile(file, timeoutMs);
      printFile(file, tally, performance.now() - begun);
      sum = add(sum, tally);
    }
    return sum;
  };
  const sums = await Promise.all(Array.from({ length: concurrency }, work));
  return sums.reduce(add, NOTHING);
}

function printFile(file: string, { passed, failures, skips }: Tally, milliseconds: number): void {
  const mark = failures.length > 0 ? '✖' : skips.length > 0 ? '﹣' : '✔';
  const counts = [`${passed} passed`];
  if (failures.length > 0) counts.push(`${failures.length} FAILED`);
  if (skips.length > 0) counts.push(`${skips.length} skipped`);
  console.log(`${mark} ${file}: ${counts.join(', ')} (${(milliseconds / 1000).toFixed(1)} s)`);
  for (const failure of failures) console.log(`    ✖ ${failure.name}`);
}
