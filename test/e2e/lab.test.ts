import { isInShare, LONG_RUN } from '../../src/testing/long-run.ts';
import { SCENARIOS } from '../scenarios/all.ts';
import { scenarioSuite } from '../scenarios/suite.ts';

// All of them run on a real API server, and the conformance suite holds the two together. One that is asked for by its name is not left out.
const isNamed = process.env['SCENARIO'] !== undefined || process.execArgv.some((flag) => flag.startsWith('--test-name-pattern'));
const every = LONG_RUN || isNamed;
const SHARES = 3;
const chosen = SCENARIOS.filter(({ name, only }) => every || only === 'lab' || isInShare(name, SHARES));

scenarioSuite("scenarios on the laboratory's API server", { api: 'lab' }, chosen);
