/** Part `commands` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { commands as ip } from '../ip/commands.ts';

export const COMMANDS_OF_KINDS = {
  ips: ip,
} as const;
