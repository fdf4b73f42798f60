/** A translation as OVN carries it out: pairs of an external and an inner address in the router of a Vpc. */
import type { Finding } from '../../api/validation/finding.ts';
import type { Family } from '../../net/address.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import type { Problem } from './external-problem.ts';

/** One family of a translation. */
export interface Pair {
  readonly family: Family;
  readonly external: string;
  /** An address, or the network of an OvnSnatRule. */
  readonly inner: string;
}

export interface Translation {
  readonly kind: 'translation';
  readonly vpc: string;
  readonly eip: string;
  /** Subnet of the EIP. */
  readonly external: string;
  readonly pairs: readonly Pair[];
  /** Of an OvnFip: the MAC of the port; empty for none. */
  readonly mac: string;
  /** Of an OvnFip: the name of the port; empty for none. */
  readonly port: string;
  /** Of an OvnFip: the node of the port translates, instead of a gateway node. */
  readonly distributed: boolean;
  /** Of an OvnDnatRule; empty for others. */
  readonly protocol: string;
  readonly externalPort: string;
  readonly internalPort: string;
  /** Record of the spec that it carries out (`../../kinds/ovn-fip/table/former-specs.ts`); empty for the annotation of a pod. */
  readonly spec: string;
  /** What of it reaches nothing, as it looks. */
  readonly outside?: Finding;
  /** Why it is in effect although its spec is not carried out as it stands. */
  readonly reported?: Problem;
}

export function natId(router: string, type: string, external: string, inner: string): RowId {
  return rowId('NAT', router, type, external, inner);
}
