import type { DrawnKind } from '../../testing/drawn-kind.ts';
import { addressSpec, names } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = { weight: 2, names: names('eip', 2), spec: (draws) => addressSpec(draws, 'externalSubnet', 'v4Ip') };
