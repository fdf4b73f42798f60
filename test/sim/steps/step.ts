/** A history is a list of steps: plain data, so that it can be kept in a file, shortened, and done again. */
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import type { Tenancy } from '../../../src/world/settings.ts';
import type { ApiFault, TransactionFault } from '../cluster/armed-faults.ts';

/** `<group>/<version>/<plural>`; `v1/pods` for the core. */
export type ApiPath = string;

/** What people and other programs do. */
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
  | { readonly do: 'strip'; readonly path: ApiPath; readonly namespace: string; readonly name: string }
  /** Deleted without its finalizers and made again at once under its name, with another uid. */
  | { readonly do: 'recreate'; readonly path: ApiPath; readonly namespace: string; readonly name: string; readonly patch?: JsonObject }
  /** Deleted at once, whatever its finalizers say. */
  | { readonly do: 'vanish'; readonly path: ApiPath; readonly namespace: string; readonly name: string }
  | { readonly do: 'node'; readonly name: string; readonly up: boolean }
  /** With ovn-nbctl, on the row of that name, or of that place in the table's order. */
  | { readonly do: 'row'; readonly table: string; readonly place: number; readonly name?: string; readonly change: RowChange }
  /** Inside of ours: of the row of that name, with these addresses; a port under that name. */
  | {
      readonly do: 'foreign';
      readonly name: string;
      readonly what: ForeignRows | 'remove';
      readonly into?: string;
      readonly addresses?: string;
      readonly called?: string;
    };

/** What another program makes: networks of its own, rows that have a name of ours, rows inside of ours. */
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
  /** It has the vendor's mark alone, as Kube-OVN's rows have. */
  | { readonly kind: 'forget-owner' }
  /** Another one like it, with another UUID. */
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'set'; readonly columns: JsonObject }
  | { readonly kind: 'clear-members'; readonly column: string }
  /** Keys more in a map. */
  | { readonly kind: 'keys'; readonly column: string; readonly keys: Readonly<Record<string, string>> }
  /** Another row of Kiln's, of that place in its table's order, goes into a column of this one, which is Kiln's too. */
  | { readonly kind: 'put'; readonly column: string; readonly of: string; readonly at: number };

export type Fault =
  | { readonly fault: 'api'; readonly what: ApiFault }
  | { readonly fault: 'transaction'; readonly what: TransactionFault }
  | { readonly fault: 'break-watches'; readonly plural?: string }
  /** The server forgets its past: every watch of the kind gets 410. */
  | { readonly fault: 'gone'; readonly plural: string }
  | { readonly fault: 'end-watches' }
  | { readonly fault: 'delay'; readonly plural: string; readonly ms: number }
  | { readonly fault: 'repeat'; readonly plural: string; readonly times: number }
  | { readonly fault: 'disconnect' }
  | { readonly fault: 'database-restart'; readonly downMs: number }
  | { readonly fault: 'database-leader' }
  | { readonly fault: 'kill'; readonly controller: string; readonly afterWrites: number; readonly restartMs: number }
  | { readonly fault: 'stop'; readonly controller: string; readonly ms: number; readonly asleep: boolean }
  /** Stopped right after it sent its next transaction, which arrives when it goes on; its clock does not count the time. */
  | { readonly fault: 'stop-sending'; readonly controller: string; readonly ms: number }
  | { readonly fault: 'jump'; readonly controller: string; readonly ms: number }
  | { readonly fault: 'term-lost' }
  /** Somebody writes a term by so much newer than the one in force: nobody who leads has it. */
  | { readonly fault: 'term-ahead'; readonly by: number }
  /** What that one asks of its Lease is refused for so long, and all else goes on. */
  | { readonly fault: 'lease-cut'; readonly controller: string; readonly ms: number }
  /** Somebody is faster: right before a transaction takes effect, a row that it is about changes hands, goes, or gets a row of theirs inside. */
  | { readonly fault: 'race'; readonly how: Race }
  /** Somebody is faster: right before a patch or a deletion of a controller takes effect, they do this to its object. */
  | { readonly fault: 'overtake'; readonly how: Overtaking };

export type Race = 'disown' | 'delete' | 'inside';

export type Overtaking = 'recreate' | 'vanish' | 'delete';

export type Step =
  | ({ readonly kind: 'operation' } & Operation)
  | ({ readonly kind: 'fault' } & Fault)
  | { readonly kind: 'wait'; readonly ms: number }
  /** Faults end, everything comes to rest, and everything is judged. */
  | {
      readonly kind: 'rest';
      /** Nodes that are lost stay lost: no kubelet says that a pod is gone. */
      readonly lost?: true;
    };

export interface History {
  readonly version: 1;
  readonly seed: number;
  readonly controllers: number;
  /** `open` unless it is said. */
  readonly tenancy?: Tenancy;
  readonly steps: readonly Step[];
}
