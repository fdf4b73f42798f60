import type { KindInvariants } from '../../invariants/kind-invariants.ts';
import { sharedAddresses } from './invariants/shared-addresses.ts';

export const invariants: KindInvariants = sharedAddresses;
