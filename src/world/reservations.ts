/** Addresses in the World: a rule emits an address request, and the reservation is an entry of a table. */
import type { Reason } from '../api/reasons.ts';
import type { Address } from '../net/address.ts';

/** The addresses that an interface requests. Idempotent by claimant: a claimant that holds an address gets that one again. */
export interface AddressRequest {
  /** The claimant, e.g. `web-0.shop#<pod uid>`; a name alone where the address outlives the pod. */
  readonly claimant: string;
  /** Subnets to allocate from: the first one with a free address. */
  readonly subnets: readonly string[];
  readonly families: 'v4' | 'v6' | 'dual' | 'subnet';
  readonly v4?: string;
  readonly v6?: string;
  /** Static addresses, of which the first free one is allocated: each is one address or a `v4,v6` pair. */
  readonly anyOf?: readonly string[];
  /** Addresses that are not chosen for it, though they are free. */
  readonly avoid?: readonly string[];
  /** Names of IPPools to allocate from: the first one with a free address. Absent: addresses of no pool. */
  readonly pools?: readonly string[];
  readonly mac?: string;
  /** Claimants that declare the same group may have these addresses together. */
  readonly sharingGroup?: string;
  /** The user did not choose this address or MAC: another one will do if a claimant with precedence has it. */
  readonly yields?: true;
  /** Claimants, this one among them, that are granted their requests together or not at all: none holds only a part of what it needs. */
  readonly together?: readonly string[];
  /** For a node: only nodes get addresses of the join Subnet. */
  readonly ofNode?: true;
  /** It has no MAC, only addresses. */
  readonly withoutMac?: true;
  /** RFC 3339 creation time of the claimant's object: requests are answered oldest first. */
  readonly since: string;
}

export type Reservation =
  | {
      readonly kind: 'granted';
      readonly claimant: string;
      readonly subnet: string;
      readonly v4: string;
      readonly v6: string;
      readonly mac: string;
    }
  | {
      readonly kind: 'failed';
      readonly claimant: string;
      readonly code: Reason;
      readonly message: string;
    };

/** A Subnet's addresses in one snapshot, in Kube-OVN's text format; counts are exact. */
export interface FamilyUsage {
  readonly available: bigint;
  readonly using: bigint;
  readonly availableRange: string;
  readonly usingRange: string;
}

export interface SubnetUsage {
  readonly v4: FamilyUsage;
  readonly v6: FamilyUsage;
  /** Addresses of foreign ports among those that the allocator would give out; IPv4 first. */
  readonly foreignPorts?: readonly ForeignPortAddresses[];
  /** Addresses of nodes among those; IPv4 first, ascending. */
  readonly nodeAddresses?: readonly AddressOfNodes[];
}

export interface AddressOfNodes {
  /** `node n1`; several if two kubelets report the same address. */
  readonly claimants: readonly string[];
  readonly address: Address;
}

export interface ForeignPortAddresses {
  readonly family: 4 | 6;
  readonly count: bigint;
  readonly range: string;
}
