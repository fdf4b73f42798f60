/** A check that failed, with all there is to say about it. */
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

/** What a step found. Results add up. */
export interface Tally {
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly skips: readonly Skip[];
  /** Of processors, where it is known: all that it started included. */
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

/** Reference data lies beside the checkout on the project's own machines; its absence is the one good excuse. */
const EXCUSED = /\.\.\/shared/;

/** Where nothing may be skipped, a skip is a failure, unless reference data beside the checkout is what is missing. */
export function forbidSkips(tally: Tally): Tally {
  const forbidden = tally.skips.filter(({ reason }) => !EXCUSED.test(reason));
  const failures = forbidden.map(({ name, reason }) => ({ name, detail: `skipped, which CI=true does not allow: ${reason}` }));
  return { ...tally, failures: [...tally.failures, ...failures], skips: tally.skips.filter((skip) => !forbidden.includes(skip)) };
}
