/** Part `metrics` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { metrics as subnet } from '../subnet/metrics.ts';

export const METRICS_OF_KINDS = {
  subnets: subnet,
} as const;
