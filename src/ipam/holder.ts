/** What can hold an address. */

/**
 * The source of the claim: an IP, Vip or EIP object, the annotation of a live pod, a reservation in memory, an owned row, the port of a node
 * in the join Subnet, a foreign port in the Subnet's switch, or a node that is a host in its physical network (`node-address`).
 */
export type HolderKind = 'ip' | 'pod' | 'reservation' | 'row' | 'vip' | 'eip' | 'node' | 'foreign-port' | 'node-address';

/**
 * Passive holders: the allocator gives their address to no claimant. Otherwise they are left out: the address does not count as in use, it
 * does not keep the Subnet from being deleted, and any other holder of it has precedence.
 */
export function isPassive(kind: HolderKind): boolean {
  return kind === 'foreign-port' || kind === 'node-address';
}

export interface Holder {
  readonly kind: HolderKind;
  /** Unique within the kind and never reused: it contains a UID if there is one. */
  readonly key: string;
  /**
   * The identity of an interface. All holders of one interface (IP object, pod annotation, port row, reservation) have the same claimant,
   * so they never conflict with each other. Guarantee: an interface has the same claimant in every process, also after a restart.
   */
  readonly claimant: string;
  /** Two claimants share an address without a conflict only if both declare the same sharing group. */
  readonly sharingGroup?: string;
  /** Order in a conflict, lowest first: creation time in milliseconds. Without a rank: last. */
  readonly rank?: number;
}
