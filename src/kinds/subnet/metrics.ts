import type { KindMetrics } from '../../controller/reports/kind-metrics.ts';
import { exposeSubnetAddresses } from './metrics/subnet-addresses.ts';

export const metrics: KindMetrics = exposeSubnetAddresses;
