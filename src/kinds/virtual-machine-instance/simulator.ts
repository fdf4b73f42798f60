import type { DrawnKind } from '../../testing/drawn-kind.ts';
import { NAMES } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = { weight: 2, names: NAMES.machines, spec: () => ({}) };
