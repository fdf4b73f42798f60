import type { DeclaredQuery } from '../../../world/world.ts';
import { declareQuery } from '../../../world/world.ts';

export interface IpUser {
  readonly resource: 'pods' | 'nodes';
  readonly key: string;
}

/** The present user of an IP object, a pod or a node; defined by the rules for IP objects. */
export const ipUser: DeclaredQuery<IpUser | undefined> = declareQuery('ip-user');
