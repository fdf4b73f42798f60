import { isInShare, LONG_RUN } from '../../src/testing/long-run.ts';
import { SCENARIOS } from '../scenarios/all.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { scenarioSuite } from '../scenarios/suite.ts';

// All scenarios run on a real API server, and the conformance suite keeps the lab equal to it. A scenario chosen by name is always run.
const isNamed = process.env['SCENARIO'] !== undefined || process.execArgv.some((flag) => flag.startsWith('--test-name-pattern'));
const every = LONG_RUN || isNamed;
// About a third of the scenarios, mostly those that run in parallel: one that runs alone takes as long as four of them.
const shares = ({ alone }: Scenario): number => (alone === true ? 7 : 2);
const chosen = SCENARIOS.filter((scenario) => every || scenario.only === 'lab' || isInShare(scenario.name, shares(scenario)));

await scenarioSuite("scenarios on the laboratory's API server", { api: 'lab' }, chosen);
