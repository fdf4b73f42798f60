import { SCENARIOS } from '../scenarios/all.ts';
import { scenarioSuite } from '../scenarios/suite.ts';

scenarioSuite("scenarios on the laboratory's API server", { api: 'lab' }, SCENARIOS);
