/** What can hold an address. */

/**
 * The source of the claim: an IP, Vip or EIP object, the annotation of a live pod, a reservation in memory, an owned row, a node. `service`
 * is an address of the Subnet itself (interconnection address of an underlay Subnet, multicast querier) or of a foreign port in its switch:
 * held, but not counted as in use, no reason to keep the Subnet, and without precedence over a claimant.
 */
export type HolderKind = 'ip' | 'pod' | 'reservation' | 'row' | 'vip' | 'eip' | 'node' | 'foreign-port';

export interface Holder {
  readonly kind: HolderKind;
  /** Unique within the kind and never reused: it contains a UID if there is one. */
  readonly key: string;
  /**
   * The identity of an interface. All holders of one interface (IP object, pod annotation, port row, reservation) have the same claimant, so
   * they never conflict with each other. Guarantee: an interface has the same claimant in every process, also after a restart.
   */
  readonly claimant: string;
  /** Two claimants share an address without a conflict only if both declare the same sharing group. */
  readonly sharingGroup?: string;
  /** Order in a conflict, lowest first: creation time in milliseconds. Without a rank: last. */
  readonly rank?: number;
}
