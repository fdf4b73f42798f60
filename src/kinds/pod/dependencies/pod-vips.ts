import type { DeclaredQuery } from '../../../world/world.ts';
import { declareQuery } from '../../../world/world.ts';

/**
 * Vips whose addresses a pod uses, as its own or beside its own; defined by the rules for pods. A pod that only names one, which any tenant
 * can do, uses none.
 */
export const podVips: DeclaredQuery<readonly string[]> = declareQuery('pod-vips');
