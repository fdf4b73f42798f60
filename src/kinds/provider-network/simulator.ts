import type { DrawnKind } from '../../testing/drawn-kind.ts';
import { names, NAMES, some } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = {
  weight: 2,
  names: names('pn', 2),
  spec: (draws) => ({
    defaultInterface: 'eth1',
    excludeNodes: draws.chance(0.5) ? some(draws, NAMES.nodes) : [],
  }),
};
