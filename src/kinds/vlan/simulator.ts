import type { DrawnKind } from '../../testing/drawn-kind.ts';
import { names } from '../../testing/drawn-kind.ts';

/** Few tags and networks, so that Vlans are in conflict. */
export const simulator: DrawnKind = {
  weight: 3,
  names: names('vlan', 3),
  spec: (draws) => ({ id: draws.below(3), provider: draws.pick(['pn0', 'pn1']) }),
};
