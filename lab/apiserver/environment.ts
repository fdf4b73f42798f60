/** Time, randomness and turns, from outside: a simulator gives its own. */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Environment {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly uid: () => string;
  /** Five characters for `generateName`. */
  readonly suffix: () => string;
  /** Runs a step of a background controller in a later turn. */
  readonly schedule: (step: () => void) => void;
  /** Runs once after that many milliseconds; what is returned cancels it. */
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

/** The second that was written last, and its text: many objects are made in one. */
let written = NaN;
let writtenAs = '';

/** RFC 3339 with seconds, as `metadata` times are. */
export function timestamp(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1_000);
  if (second !== written) {
    writtenAs = `${new Date(second * 1_000).toISOString().slice(0, 19)}Z`;
    written = second;
  }
  return writtenAs;
}
