import { SCENARIOS } from '../scenarios/all.ts';
import { scenariosOfRun } from '../scenarios/short-run.ts';
import { scenarioSuite } from '../scenarios/suite.ts';

await scenarioSuite('scenarios on a real kube-apiserver', { api: 'real' }, scenariosOfRun('real', SCENARIOS));
