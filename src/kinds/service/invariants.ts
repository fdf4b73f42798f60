import type { KindInvariants } from '../../invariants/kind-invariants.ts';
import { serviceVips } from './invariants/service-vips.ts';

export const invariants: KindInvariants = serviceVips;
