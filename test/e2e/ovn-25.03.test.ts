import { LONG_RUN } from '../../src/testing/long-run.ts';
import { SCENARIOS } from '../scenarios/all.ts';
import { defaultNetwork } from '../scenarios/default-network.ts';
import { natTraces } from '../scenarios/nat-traces.ts';
import { scenarioSuite } from '../scenarios/suite.ts';
import { userGuide } from '../scenarios/user-guide.ts';

/** The scenarios in which OVN 25.03 differs. The others run only in a long run. */
const few = [...defaultNetwork, ...natTraces, ...userGuide];

await scenarioSuite('scenarios on OVN 25.03', { api: 'lab', ovn: '25.03' }, LONG_RUN ? SCENARIOS : few);
