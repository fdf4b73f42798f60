/** Every scenario. Those that end processes come last. */
import { addresses } from './addresses.ts';
import { bindings } from './bindings.ts';
import { crashes } from './crashes.ts';
import { defaultNetwork } from './default-network.ts';
import { deletionOrder } from './deletion-order.ts';
import { families } from './families.ts';
import { foreignRows } from './foreign-rows.ts';
import { gateways } from './gateways.ts';
import { leaders } from './leaders.ts';
import type { Scenario } from './scenario.ts';
import { subnets } from './subnets.ts';
import { userGuide } from './user-guide.ts';
import { vpcRoutes } from './vpc-routes.ts';

const THEMES: readonly (readonly Scenario[])[] = [
  defaultNetwork,
  userGuide,
  vpcRoutes,
  subnets,
  gateways,
  families,
  bindings,
  addresses,
  deletionOrder,
  foreignRows,
  leaders,
  crashes,
];

export const SCENARIOS: readonly Scenario[] = THEMES.flat();
