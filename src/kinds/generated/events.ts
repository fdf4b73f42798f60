/** Part `events` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { events as subnet } from '../subnet/events.ts';
import { events as ip } from '../ip/events.ts';

export const EVENTS_OF_KINDS = {
  subnets: subnet,
  ips: ip,
} as const;
