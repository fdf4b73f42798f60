import { defaultNetwork } from './default-network.ts';
import type { Scenario } from './scenario.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...defaultNetwork,
];
