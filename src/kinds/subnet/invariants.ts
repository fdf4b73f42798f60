import type { KindInvariants } from '../../invariants/kind-invariants.ts';
import { subnetCounts } from './invariants/subnet-counts.ts';

export const invariants: KindInvariants = subnetCounts;
