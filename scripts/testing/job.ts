import type { Tally } from './tally.ts';

/** A process that passes or fails: a checker, a test file, a part of a long test file. */
export interface Job {
  /** The step that it belongs to: "unit", "e2e". */
  readonly step: string;
  /** "test/e2e/real.test.ts (2 of 3)". */
  readonly name: string;
  /** How many cores it keeps busy on average: less than one if it mostly waits for other processes. */
  readonly cores: number;
  readonly run: (stop: AbortSignal) => Promise<Tally>;
}
