import { isInShare, LONG_RUN } from '../../src/testing/long-run.ts';
import type { Scenario } from './scenario.ts';

/** One in so many runs on a real API server. */
const REAL_SHARE = 4;
/** One in so many of those that run alone, of which each takes as long as four others. */
const ALONE_SHARE = 2;

/** A scenario chosen by name runs wherever it is chosen. */
const isNamed = process.env['SCENARIO'] !== undefined || process.execArgv.some((flag) => flag.startsWith('--test-name-pattern'));

/**
 * The scenarios that a test file runs: all of them in `npm run test:long`, where each runs on every API server. In `npm test` those
 * that run beside others run once, and half of those that run alone: a quarter on a real API server, the rest on the laboratory's, which the
 * conformance suite keeps equal to it and which costs half.
 */
export function scenariosOfRun(api: 'lab' | 'real', scenarios: readonly Scenario[]): readonly Scenario[] {
  if (LONG_RUN || isNamed) return scenarios;
  return scenarios.filter((scenario) => isOfShortRun(scenario) && (scenario.only ?? apiOfShortRun(scenario)) === api);
}

function isOfShortRun({ name, alone, only }: Scenario): boolean {
  return alone !== true || only !== undefined || isInShare(`alone: ${name}`, ALONE_SHARE);
}

function apiOfShortRun({ name, apiServerSince }: Scenario): 'lab' | 'real' {
  return apiServerSince === undefined && !isInShare(name, REAL_SHARE) ? 'lab' : 'real';
}
