import { isInShare, LONG_RUN } from '../../src/testing/long-run.ts';
import type { Scenario } from './scenario.ts';

/** A scenario chosen by name runs wherever it is chosen. */
const isNamed = process.env['SCENARIO'] !== undefined || process.execArgv.some((flag) => flag.startsWith('--test-name-pattern'));

/**
 * The scenarios that a test file runs: all of them in `npm run test:long`, where each runs on every API server. In `npm test` each runs once:
 * half on a real API server, half on the laboratory's, which the conformance suite keeps equal to it and which costs half.
 */
export function scenariosOfRun(api: 'lab' | 'real', scenarios: readonly Scenario[]): readonly Scenario[] {
  if (LONG_RUN || isNamed) return scenarios;
  return scenarios.filter((scenario) => (scenario.only ?? apiOfShortRun(scenario)) === api);
}

/** Half of each kind: one that runs alone takes as long as four of those that run in parallel. */
function apiOfShortRun({ name, apiServerSince }: Scenario): 'lab' | 'real' {
  return apiServerSince === undefined && isInShare(name, 2) ? 'lab' : 'real';
}
