/** A check that failed, with all details. */
export interface Failure {
  /** "src/net/cidr.test.ts › parses › refuses a host part". */
  readonly name: string;
  readonly detail: string;
}

/** A test that did not run, and why. */
export interface Skip {
  readonly name: string;
  readonly reason: string;
}

/** The results of a step. Results add up. */
export interface Tally {
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly skips: readonly Skip[];
  /** Processor time, if known, including all started processes. */
  readonly cpuSeconds?: number;
}

export const NOTHING: Tally = { passed: 0, failures: [], skips: [] };

export function add(a: Tally, b: Tally): Tally {
  return {
    passed: a.passed + b.passed,
    failures: [...a.failures, ...b.failures],
    skips: [...a.skips, ...b.skips],
    cpuSeconds: (a.cpuSeconds ?? 0) + (b.cpuSeconds ?? 0),
  };
}

/** Reference data lies beside the checkout only on the project's own machines; its absence is the one valid reason. */
const EXCUSED = /\.\.\/shared/;

/** Where nothing may be skipped, a skip is a failure, unless only reference data beside the checkout is missing. */
export function forbidSkips(tally: Tally): Tally {
  const forbidden = tally.skips.filter(({ reason }) => !EXCUSED.test(reason));
  const failures = forbidden.map(({ name, reason }) => ({ name, detail: `skipped, which CI=true does not allow: ${reason}` }));
  return { ...tally, failures: [...tally.failures, ...failures], skips: tally.skips.filter((skip) => !forbidden.includes(skip)) };
}
