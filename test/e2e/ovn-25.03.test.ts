import { defaultNetwork } from '../scenarios/default-network.ts';
import { scenarioSuite } from '../scenarios/suite.ts';
import { userGuide } from '../scenarios/user-guide.ts';

scenarioSuite('scenarios on OVN 25.03', { api: 'lab', ovn: '25.03' }, [...defaultNetwork, ...userGuide]);
