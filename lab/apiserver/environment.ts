/** Time, randomness and turns, injected: a simulator has its own. */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Environment {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly uid: () => string;
  /** Five characters for `generateName`. */
  readonly suffix: () => string;
  /** Runs a step of a background controller in a later turn. */
  readonly schedule: (step: () => void) => void;
  /** Runs once after that many milliseconds. @returns cancels it */
  readonly after: (milliseconds: number, run: () => void) => () => void;
}

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

export const systemEnvironment: Environment = {
  now: () => Date.now(),
  uid: () => randomUUID(),
  suffix: () => [...randomBytes(5)].map((byte) => SUFFIX_LETTERS[byte % SUFFIX_LETTERS.length]).join(''),
  schedule: (step) => void setImmediate(step),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** The last formatted second and its text: many objects are created in one second. */
let written = NaN;
let writtenAs = '';

/** RFC 3339 in seconds, the format of times in `metadata`. */
export function timestamp(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1_000);
  if (second !== written) {
    writtenAs = `${new Date(second * 1_000).toISOString().slice(0, 19)}Z`;
    written = second;
  }
  return writtenAs;
}
