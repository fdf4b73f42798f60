/**
 * Test files that take long: about how many seconds alone on a machine of 2026, and how many cores they keep busy meanwhile, so that they
 * begin early and have room. Numbers need not be exact: they decide what runs beside what, never what passes.
 */
export interface LongFile {
  readonly seconds: number;
  /** Of the processes it starts too; infinite where it takes all there are, and so runs by itself. Without it, one. */
  readonly cores?: number;
  /**
   * It is ended, and fails, after so many minutes: many times what it takes, so that only one that hangs is ended. Without it, 60, and 40
   * in a quick step.
   */
  readonly minutes?: number;
  /** Into how many it is cut, each a process with `TEST_PART`, such as 2/3; without it, it is one. */
  readonly parts?: number;
}

export const LONG_FILES: Readonly<Record<string, LongFile>> = {
  'test/e2e/real.test.ts': { parts: 3, seconds: 1200, cores: 0.65, minutes: 120 },
  'test/e2e/lab.test.ts': { parts: 3, seconds: 990, cores: 0.65, minutes: 120 },
  'test/chaos/chaos.test.ts': { seconds: 285, cores: 0.7 },
  'test/bench/json.test.ts': { seconds: 158, cores: 0.7 },
  'test/churn/churn.test.ts': { seconds: 230, minutes: 120 },
  'test/sim/seeds.test.ts': { seconds: 113, cores: Number.POSITIVE_INFINITY, minutes: 90 },
  'test/conformance/real.test.ts': { seconds: 95, cores: 0.5 },
  'test/mutations/dangling-references.test.ts': { seconds: 66, cores: 0.1 },
  'test/sim/known-faults.test.ts': { seconds: 63, cores: Number.POSITIVE_INFINITY },
  'test/mutations/mutations.test.ts': { seconds: 60, cores: 0.35 },
  'test/conformance/side-by-side.test.ts': { seconds: 50 },
  'test/conformance/guide-manifests.test.ts': { seconds: 47 },
  'test/conformance/lab.test.ts': { seconds: 34, cores: 0.5 },
  'test/conformance/crds.test.ts': { seconds: 28 },
  'test/conformance/list-watch.test.ts': { seconds: 28, cores: 0.7 },
  'test/conformance/lab-crash.test.ts': { seconds: 26, cores: 0.7 },
  'test/e2e/ovn-25.03.test.ts': { seconds: 20 },
};
