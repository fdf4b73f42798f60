import { isInShare, LONG_RUN } from '../../src/testing/long-run.ts';
import { SCENARIOS } from '../scenarios/all.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { scenarioSuite } from '../scenarios/suite.ts';

// All of them run on a real API server, and the conformance suite holds the two together. One that is asked for by its name is not left out.
const isNamed = process.env['SCENARIO'] !== undefined || process.execArgv.some((flag) => flag.startsWith('--test-name-pattern'));
const every = LONG_RUN || isNamed;
// A third, mostly of those that run side by side: one that runs alone takes as long as four of them.
const shares = ({ alone }: Scenario): number => (alone === true ? 7 : 2);
const chosen = SCENARIOS.filter((scenario) => every || scenario.only === 'lab' || isInShare(scenario.name, shares(scenario)));

scenarioSuite("scenarios on the laboratory's API server", { api: 'lab' }, chosen);
