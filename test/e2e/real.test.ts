import { SCENARIOS } from '../scenarios/all.ts';
import { scenarioSuite } from '../scenarios/suite.ts';

await scenarioSuite('scenarios on a real kube-apiserver', { api: 'real' }, SCENARIOS);
