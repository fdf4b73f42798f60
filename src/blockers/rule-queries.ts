/** Questions of the dependencies that only rules can answer: `compile` defines these queries. */
import type { DeclaredQuery } from '../world/world.ts';
import { declareQuery } from '../world/world.ts';

/** Who has an IP object now, a pod or a node: what the rules about pods and nodes know. */
export interface IpUser {
  readonly resource: 'pods' | 'nodes';
  readonly key: string;
}

export const ipUser: DeclaredQuery<IpUser | undefined> = declareQuery('ip-user');

/** A Subnet has no network yet, is sound, and is refused for its Vpc alone, which is being deleted: what the rules about Subnets know. */
export const subnetTooLate: DeclaredQuery<boolean> = declareQuery('subnet-too-late');

/** Subnets that a pod has addresses of without an IP object that says so: what the rules about pods know. */
export const podSubnets: DeclaredQuery<readonly string[]> = declareQuery('pod-subnets');
