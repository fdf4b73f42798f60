/** Every scenario. Those that end processes come last. */
import { defaultNetwork } from './default-network.ts';
import { gateways } from './gateways.ts';
import type { Scenario } from './scenario.ts';
import { subnets } from './subnets.ts';
import { userGuide } from './user-guide.ts';
import { vpcRoutes } from './vpc-routes.ts';

export const SCENARIOS: readonly Scenario[] = [...defaultNetwork, ...userGuide, ...vpcRoutes, ...subnets, ...gateways];
