/** A history is a list of steps: plain data, so that it can be kept in a file, shortened, and replayed. */
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import type { Tenancy } from '../../../src/world/settings.ts';
import type { ApiFault, TransactionFault } from '../cluster/armed-faults.ts';

/** `<group>/<version>/<plural>`; `v1/pods` for the core. */
export type ApiPath = string;

/** What users and other programs do. */
export type Operation =
  | { readonly do: 'create'; readonly path: ApiPath; readonly namespace: string; readonly object: JsonObject }
  /** A merge patch of the spec, of the metadata, or of the status. */
  | {
      readonly do: 'edit';
      readonly path: ApiPath;
      readonly namespace: string;
      readonly name: string;
      readonly patch: JsonObject;
      readonly status?: boolean;
    }
  | { readonly do: 'delete'; readonly path: ApiPath; readonly namespace: string; readonly name: string; readonly grace?: number }
  | { readonly do: 'remove-finalizers'; readonly path: ApiPath; readonly namespace: string; readonly name: string }
  /** Deleted without its finalizers and made again at once under its name, with another uid. */
  | { readonly do: 'recreate'; readonly path: ApiPath; readonly namespace: string; readonly name: string; readonly patch?: JsonObject }
  /** Removed by force. */
  | { readonly do: 'remove-by-force'; readonly path: ApiPath; readonly namespace: string; readonly name: string }
  | { readonly do: 'node'; readonly name: string; readonly up: boolean }
  /** With ovn-nbctl, on the row of that name, or at that place in the table's order. */
  | { readonly do: 'row'; readonly table: string; readonly place: number; readonly name?: string; readonly change: RowChange }
  /** `into`: our row of that name gets it; `called`: the name of the port, with these addresses. */
  | {
      readonly do: 'foreign';
      readonly name: string;
      readonly what: ForeignRows | 'remove';
      readonly into?: string;
      readonly addresses?: string;
      readonly called?: string;
    };

/** What another program makes: networks of its own, rows with a name of ours, rows inside ours. */
export type ForeignRows =
  | 'switch'
  | 'router'
  | 'group'
  | 'load-balancer'
  | 'same-name'
  | 'same-router'
  | 'same-port'
  | 'same-group'
  | 'port-in-ours'
  | 'acl-in-ours'
  | 'qos-in-ours'
  | 'route-in-ours'
  | 'policy-in-ours'
  | 'nat-in-ours'
  | 'balancer-in-ours'
  | 'port-in-router'
  | 'acl-in-group';

export type RowChange =
  | { readonly kind: 'delete' }
  /** The row keeps only the vendor, like Kube-OVN's rows. */
  | { readonly kind: 'forget-owner' }
  /** Makes a copy, with another UUID. */
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'set'; readonly columns: JsonObject }
  | { readonly kind: 'clear-members'; readonly column: string }
  /** Adds keys to a map. */
  | { readonly kind: 'keys'; readonly column: string; readonly keys: Readonly<Record<string, string>> }
  /** Puts another row of ours, at that place in its table's order, into a column of this row of ours. */
  | { readonly kind: 'put'; readonly column: string; readonly of: string; readonly at: number };

export type Fault =
  | { readonly fault: 'api'; readonly what: ApiFault }
  | { readonly fault: 'transaction'; readonly what: TransactionFault }
  | { readonly fault: 'break-watches'; readonly plural?: string }
  /** The server compacts its history: every watch of the kind gets 410. */
  | { readonly fault: 'gone'; readonly plural: string }
  | { readonly fault: 'end-watches' }
  | { readonly fault: 'delay'; readonly plural: string; readonly ms: number }
  | { readonly fault: 'repeat'; readonly plural: string; readonly times: number }
  | { readonly fault: 'disconnect' }
  | { readonly fault: 'database-restart'; readonly downMs: number }
  | { readonly fault: 'database-leader' }
  | { readonly fault: 'kill'; readonly controller: string; readonly afterWrites: number; readonly restartMs: number }
  | { readonly fault: 'stop'; readonly controller: string; readonly ms: number; readonly asleep: boolean }
  /** Stopped right after it sent its next transaction, which arrives when the process continues; its clock does not count the time. */
  | { readonly fault: 'stop-sending'; readonly controller: string; readonly ms: number }
  | { readonly fault: 'jump'; readonly controller: string; readonly ms: number }
  | { readonly fault: 'term-lost' }
  /** Another program writes a term that is newer by this number: no leader has it. */
  | { readonly fault: 'term-ahead'; readonly by: number }
  /** Its requests for the Lease fail for this time, and everything else goes on. */
  | { readonly fault: 'lease-cut'; readonly controller: string; readonly ms: number }
  /**
   * Another program is first: right before a transaction takes effect, one of its rows changes owner, is deleted, or gets a foreign row
   * inside.
   */
  | { readonly fault: 'race'; readonly how: Race }
  /** Another client is first: right before a patch or a deletion of a controller takes effect, it does this to the object. */
  | { readonly fault: 'overtake'; readonly how: Overtaking };

export type Race = 'disown' | 'delete' | 'inside';

export type Overtaking = 'recreate' | 'remove-by-force' | 'delete';

export type Step =
  | ({ readonly kind: 'operation' } & Operation)
  | ({ readonly kind: 'fault' } & Fault)
  | { readonly kind: 'wait'; readonly ms: number }
  /** Faults end, everything converges, and everything is checked. */
  | {
      readonly kind: 'converge';
      /** Lost nodes stay lost: no kubelet confirms a deletion. */
      readonly lost?: true;
    };

export interface History {
  readonly version: 1;
  readonly seed: number;
  readonly controllers: number;
  /** Default `open`. */
  readonly tenancy?: Tenancy;
  /** Rows of other programs are in the database from the beginning. Default: none. */
  readonly neighbours?: boolean;
  readonly steps: readonly Step[];
}
