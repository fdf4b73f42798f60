import type { DeclaredQuery } from '../../../world/world.ts';
import { declareQuery } from '../../../world/world.ts';

/**
 * The networks of the Subnet of an OvnEip, if its address is outside of them: the Subnet was removed by force and made again with others.
 * Empty if it is inside, or none is in effect. Defined by the rules for OvnEips.
 */
export const outOfNetwork: DeclaredQuery<string> = declareQuery('ovn-eip-out-of-network');
