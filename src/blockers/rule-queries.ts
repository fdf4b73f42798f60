/** Queries of the dependencies that `compile` defines, since only rules know the answers. */
import type { DeclaredQuery } from '../world/world.ts';
import { declareQuery } from '../world/world.ts';

/** The present user of an IP object, a pod or a node; defined by the rules for IP objects. */
export interface IpUser {
  readonly resource: 'pods' | 'nodes';
  readonly key: string;
}

export const ipUser: DeclaredQuery<IpUser | undefined> = declareQuery('ip-user');

/**
 * Whether a Subnet is valid, has no network yet, and is not accepted only since its Vpc is being deleted; defined by the rules for Subnets.
 */
export const isSubnetLateForVpc: DeclaredQuery<boolean> = declareQuery('subnet-late-for-vpc');

/** Subnets of a pod's addresses that have no IP object; defined by the rules for pods. */
export const podSubnets: DeclaredQuery<readonly string[]> = declareQuery('pod-subnets');
