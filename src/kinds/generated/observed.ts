/** Part `observed` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { observed as service } from '../service/observed.ts';

export const OBSERVED_OF_KINDS = {
  services: service,
} as const;
