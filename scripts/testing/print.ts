/** What is printed while jobs run and when all have ended. */
import type { Job } from './job.ts';
import { add, NOTHING, type Tally } from './tally.ts';

/** How many of the longest jobs are named in the end. */
const SLOWEST = 10;

interface Ended {
  readonly name: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Prints a line for each job that ends, and one for each step once all its jobs have ended. */
export class Progress {
  readonly #left = new Map<string, number>();
  readonly #sums = new Map<string, Tally>();
  /** The sum over the jobs of a step, side by side or not. */
  readonly #seconds = new Map<string, number>();
  readonly #ended: Ended[] = [];
  readonly #print: (line: string) => void;

  constructor(jobs: readonly Job[], print: (line: string) => void = console.log) {
    this.#print = print;
    for (const { step } of jobs) this.#left.set(step, (this.#left.get(step) ?? 0) + 1);
  }

  ended({ step, name }: Job, tally: Tally, seconds: number): void {
    const { passed, failures, skips, cpuSeconds = 0 } = tally;
    this.#ended.push({ name, seconds, cpuSeconds });
    const mark = failures.length > 0 ? '✖' : skips.length > 0 ? '﹣' : '✔';
    const counts = [`${passed} passed`];
    if (failures.length > 0) counts.push(`${failures.length} FAILED`);
    if (skips.length > 0) counts.push(`${skips.length} skipped`);
    this.#print(`${mark} ${name}: ${counts.join(', ')} (${timesText(seconds, cpuSeconds)})`);
    for (const failure of failures) this.#print(`    ✖ ${failure.name}`);
    const left = (this.#left.get(step) ?? 1) - 1;
    const sum = add(this.#sums.get(step) ?? NOTHING, tally);
    const all = (this.#seconds.get(step) ?? 0) + seconds;
    this.#left.set(step, left);
    this.#sums.set(step, sum);
    this.#seconds.set(step, all);
    if (left === 0) this.#print(stepLine(step, sum, all));
  }

  /** Results of all steps; first a line for each that was interrupted. */
  total(): Tally {
    for (const [step, left] of this.#left) if (left > 0) this.#print(`── ${step}: ${left} of its files did not run`);
    return [...this.#sums.values()].reduce(add, NOTHING);
  }

  /**
   * The slowest jobs, and the duration of all.
   *
   * @param seconds from the start of the first job to the end of the last one
   * @param most the most it may take; by default there is no limit
   */
  times(seconds: number, most?: number): readonly string[] {
    const slowest = this.#ended.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
    const cpuSeconds = this.#ended.reduce((sum, ended) => sum + ended.cpuSeconds, 0);
    const lines = [`it took ${minutesText(seconds)}, and ${minutesText(cpuSeconds)} of a processor`];
    if (most !== undefined && seconds > most) lines.push(`TOO LONG: it is to end within ${minutesText(most)} on two cores that are free`);
    if (this.#ended.length < 2) return lines;
    const width = Math.max(...slowest.map(({ name }) => name.length));
    return [
      `the slowest ${slowest.length} of ${this.#ended.length}:`,
      ...slowest.map(({ name, seconds: own, cpuSeconds: cpu }) => `  ${name.padEnd(width)}  ${timesText(own, cpu)}`),
      ...lines,
    ];
  }
}

function stepLine(step: string, { passed, failures, skips, cpuSeconds = 0 }: Tally, seconds: number): string {
  const head = `── ${step} `;
  const counts = `${passed} passed, ${failures.length} failed, ${skips.length} skipped`;
  return `${head}${'─'.repeat(Math.max(2, 20 - head.length))} ${counts} (${timesText(seconds, cpuSeconds)})`;
}

/** "12.5 s, 0.60 cores": the average of busy cores, if known. */
function timesText(seconds: number, cpuSeconds: number): string {
  return `${seconds.toFixed(1)} s${cpuSeconds === 0 ? '' : `, ${(cpuSeconds / Math.max(seconds, 0.001)).toFixed(2)} cores`}`;
}

function minutesText(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Skips and failures with all details; the last line counts. */
export function reportText({ passed, failures, skips }: Tally): string {
  const lines: string[] = [];
  if (skips.length > 0) lines.push(`\n!! ${skips.length} SKIPPED !!`);
  for (const { name, reason } of skips) lines.push(`  ﹣ ${name}\n      because: ${reason}`);
  for (const { name, detail } of failures) lines.push(`\n✖ ${name}\n${detail.replaceAll(/^/gm, '    ')}`);
  lines.push(`\n${passed} passed, ${failures.length} failed`);
  return lines.join('\n');
}
