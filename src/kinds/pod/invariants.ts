import type { KindInvariants } from '../../invariants/kind-invariants.ts';
import { allocatedPods } from './invariants/allocated-pods.ts';

export const invariants: KindInvariants = allocatedPods;
