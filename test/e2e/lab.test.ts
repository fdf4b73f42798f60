import { SCENARIOS } from '../scenarios/all.ts';
import { scenariosOfRun } from '../scenarios/short-run.ts';
import { scenarioSuite } from '../scenarios/suite.ts';

await scenarioSuite("scenarios on the laboratory's API server", { api: 'lab' }, scenariosOfRun('lab', SCENARIOS));
