/** How a member's database begins: with the file that it has, with a new cluster, or as a new member of the cluster. */
import type { ClusterRecord, DatabaseRecord } from './cluster-record.ts';
import type { DatabaseName } from './databases.ts';

export type Beginning =
  | { readonly with: 'its file' }
  | { readonly with: 'a new cluster' }
  /** `id` of the cluster, if it is known; addresses of other members. */
  | { readonly with: 'the others'; readonly id: string | undefined; readonly others: readonly string[] };

export interface Circumstances {
  readonly name: DatabaseName;
  readonly hasFile: boolean;
  /** The Node and its address. */
  readonly node: string;
  readonly address: string;
  readonly record: ClusterRecord;
  /** Addresses of all nodes with members. */
  readonly members: readonly string[];
}

/**
 * One member founds the cluster: the one that the record names. Once the record has the cluster, a member without a file has lost it, and joins:
 * a second cluster would have the half of the clients. A cluster whose only member lost its file is lost; the controller writes Northbound again.
 */
export function beginningOf({ name, hasFile, node, address, record, members }: Circumstances): Beginning {
  if (hasFile) return { with: 'its file' };
  const known: DatabaseRecord | undefined = record[name];
  const others = (known === undefined ? members : Object.values(known.servers)).filter((one) => one !== address);
  if (known === undefined) return record.founder === node ? { with: 'a new cluster' } : { with: 'the others', id: undefined, others };
  return others.length === 0 ? { with: 'a new cluster' } : { with: 'the others', id: known.id, others: [...new Set(others)] };
}
