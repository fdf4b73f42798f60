import type { DeclaredQuery } from '../../../world/world.ts';
import { declareQuery } from '../../../world/world.ts';

/** Subnets of a pod's addresses that have no IP object; defined by the rules for pods. */
export const podSubnets: DeclaredQuery<readonly string[]> = declareQuery('pod-subnets');
