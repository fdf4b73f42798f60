/** Who can hold an address. */

/**
 * Where the claim comes from: an IP, Vip or EIP object, a live pod's annotation, a reservation in memory, an owned row, a node;
 * `service` is the Subnet's own (the interconnection address of an underlay Subnet, the multicast querier), or another program's port in
 * its switch: held, but neither counted as in use nor a reason to keep the Subnet, and never before a claimant who has the address.
 */
export type HolderKind = 'ip' | 'pod' | 'reservation' | 'row' | 'vip' | 'eip' | 'node' | 'service';

export interface Holder {
  readonly kind: HolderKind;
  /** Unique within the kind, and never used again for another thing: with a UID in it wherever there is one. */
  readonly key: string;
  /**
   * The logical identity behind it, the same for all holders of one interface (its IP object, its pod's annotation, its port, its
   * reservation), so that these do not conflict with each other.
   */
  readonly claimant: string;
  /** Two claimants may hold one address only where both declare the same group. */
  readonly share?: string;
  /** Order in a conflict, lowest first: the creation time in milliseconds. Without it, last. */
  readonly rank?: number;
}
