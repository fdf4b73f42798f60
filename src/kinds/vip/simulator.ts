import type { DrawnKind } from '../../testing/drawn-kind.ts';
import { addressSpec, names } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = { weight: 3, names: names('vip', 3), spec: (draws) => addressSpec(draws, 'subnet', 'v4ip') };
