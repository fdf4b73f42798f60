import type { Tally } from './tally.ts';

/** Something that runs by itself and passes or fails: a checker, a test file, a part of a long test file. */
export interface Job {
  /** The part of the whole that it belongs to: "unit", "e2e". */
  readonly step: string;
  /** "test/e2e/real.test.ts (2 of 3)". */
  readonly name: string;
  /** How many cores it keeps busy, on the average: less than one where it mostly waits for others. */
  readonly cores: number;
  readonly run: (stop: AbortSignal) => Promise<Tally>;
}
