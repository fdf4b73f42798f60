/** What is printed while jobs run and when all have ended. */
import type { Job } from './job.ts';
import { add, NOTHING, type Tally } from './tally.ts';

/** A line for each job that ends, and one for each step of which all have ended. */
export class Progress {
  readonly #left = new Map<string, number>();
  readonly #sums = new Map<string, Tally>();
  readonly #print: (line: string) => void;

  constructor(jobs: readonly Job[], print: (line: string) => void = console.log) {
    this.#print = print;
    for (const { step } of jobs) this.#left.set(step, (this.#left.get(step) ?? 0) + 1);
  }

  ended({ step, name }: Job, tally: Tally, seconds: number): void {
    const { passed, failures, skips } = tally;
    const mark = failures.length > 0 ? '✖' : skips.length > 0 ? '﹣' : '✔';
    const counts = [`${passed} passed`];
    if (failures.length > 0) counts.push(`${failures.length} FAILED`);
    if (skips.length > 0) counts.push(`${skips.length} skipped`);
    this.#print(`${mark} ${name}: ${counts.join(', ')} (${seconds.toFixed(1)} s)`);
    for (const failure of failures) this.#print(`    ✖ ${failure.name}`);
    const left = (this.#left.get(step) ?? 1) - 1;
    const sum = add(this.#sums.get(step) ?? NOTHING, tally);
    this.#left.set(step, left);
    this.#sums.set(step, sum);
    if (left === 0) this.#print(stepLine(step, sum));
  }

  /** Of all steps; first a line for each that was interrupted. */
  total(): Tally {
    for (const [step, left] of this.#left) if (left > 0) this.#print(`── ${step}: ${left} of its files did not run`);
    return [...this.#sums.values()].reduce(add, NOTHING);
  }
}

function stepLine(step: string, { passed, failures, skips }: Tally): string {
  const head = `── ${step} `;
  return `${head}${'─'.repeat(Math.max(2, 20 - head.length))} ${passed} passed, ${failures.length} failed, ${skips.length} skipped`;
}

/** Skips and failures with all there is to say about them; the last line counts. */
export function reportText({ passed, failures, skips }: Tally): string {
  const lines: string[] = [];
  if (skips.length > 0) lines.push(`\n!! ${skips.length} SKIPPED !!`);
  for (const { name, reason } of skips) lines.push(`  ﹣ ${name}\n      because: ${reason}`);
  for (const { name, detail } of failures) lines.push(`\n✖ ${name}\n${detail.replaceAll(/^/gm, '    ')}`);
  lines.push(`\n${passed} passed, ${failures.length} failed`);
  return lines.join('\n');
}
