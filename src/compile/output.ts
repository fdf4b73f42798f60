/**
 * What a rule emits: the desired Northbound rows and members, Kubernetes objects and fields of them, address requests, reports. Plain data.
 * The outputs of all rules together are the desired state.
 */
import type { ConditionType } from '../api/condition-types.ts';
import type { Reason } from '../api/reasons.ts';
import type { Mac } from '../net/mac.ts';
import type { Owner } from '../nb/ownership.ts';
import type { RowId, RowRef } from '../nb/row-id.ts';
import type { ResourceName } from '../world/resources.ts';
import type { SelectorText } from '../world/selections/selector.ts';
import type { View } from '../world/selections/view.ts';
import type { AddressRequest } from '../world/reservations.ts';

export type Scalar = string | number | boolean;

/** Sets are arrays, maps are plain records, and null empties an optional column. */
export type ColumnValue = Scalar | RowRef | null | readonly (Scalar | RowRef)[] | Readonly<Record<string, string>>;

/** A row owner with its creation time: of two objects that claim one identity, the older one gets it. */
export interface RowOwner extends Owner {
  /** RFC 3339 creation time. */
  readonly created: string;
}

/**
 * A desired row. Of several outputs for one identity one is written, the same in every process (`older`); the others are conflicts. Columns
 * that it does not name keep their value (at an insert: the schema's default), except for `unlessEmitted` of the table.
 */
export interface RowOutput {
  readonly kind: 'row';
  readonly id: RowId;
  readonly owner: RowOwner;
  readonly rule: string;
  /**
   * For tables with rows that exist only as children of another row. `isOfOthers`: the parent is another program's, which this row is added
   * to and removed from, and nothing else of it is changed.
   */
  readonly parent?: { readonly id: RowId; readonly column: string; readonly isOfOthers?: true };
  readonly columns: Readonly<Record<string, ColumnValue>>;
  /** Kube-OVN's keys; the diff adds the ownership keys. */
  readonly externalIds?: Readonly<Record<string, string>>;
  /** The status of its owner names the row, or its parent and contents show the owner: one without keys is Kube-OVN's, and is adopted. */
  readonly named?: true;
  /** A leftover of Kube-OVN: retained as it is while its owner exists, where no other rule emits the row. */
  readonly leftover?: true;
}

/** One element of a shared set column, or one key of a shared map column. */
export interface Member {
  readonly kind: 'member';
  readonly row: RowId;
  readonly column: string;
  readonly member: RowRef | Scalar | { readonly key: string; readonly value: string };
}

/**
 * A member that a rule emits. Several rules may emit the same one. It takes effect while another rule emits the row, or the row is not
 * Kiln's to delete.
 */
export type MemberOutput = ElementOutput | KeyOutput;

export interface ElementOutput extends Member {
  readonly member: RowRef | Scalar;
}

/**
 * One key of a shared map column. Of several values for one key one is written, the same in every process (`olderKey`); the others are
 * conflicts, reported on the owners of all. A key that the row output has itself comes before all of them.
 */
export interface KeyOutput extends Member {
  readonly member: { readonly key: string; readonly value: string };
  readonly owner: RowOwner;
  readonly rule: string;
}

/**
 * The pods that a selector selects, as a view shows them, in a shared column of a row: as a member for each would be, in memory for the
 * selector alone. `selectorText` gives the selector.
 */
export interface SelectionOutput {
  readonly kind: 'selection';
  readonly row: RowId;
  readonly column: string;
  readonly selector: SelectorText;
  readonly view: View;
}

export type Json = string | number | bigint | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A desired condition; the diff adds times and observedGeneration. */
export interface ConditionOutput {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
  /** Type of the Event that is emitted once the condition has been written. */
  readonly event?: 'Normal' | 'Warning';
  /** Reason of the Event, where Kube-OVN has one for the situation. Its message begins with the reason of the condition. */
  readonly eventReason?: Reason;
  /** One Event per transition: none if only the message changes, such as a list of names that gets shorter. */
  readonly eventOnce?: true;
  /** A deadline is computed from its transition time, which then comes from the monotonic clock. */
  readonly timed?: true;
}

export interface EventOutput {
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  readonly message: string;
}

/**
 * Desired fields of an existing object. Other fields stay; null removes a field. Several rules may emit patches of one object: the diff
 * merges them into one write. It applies to the object with this uid only.
 */
export interface PatchOutput {
  readonly kind: 'patch';
  readonly resource: ResourceName;
  /** `namespace/name` or `name`. */
  readonly key: string;
  readonly uid: string;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly labels?: Readonly<Record<string, string | null>>;
  /**
   * By key that it removes: owner text of the object that the key was for, and that is gone. Such a key is a leftover, and goes by the plan of
   * the collection. Other keys go at once: the object changed, or what asked for them did.
   */
  readonly leftOf?: Readonly<Record<string, string>>;
  /** Whether the object has Kiln's finalizer. It is removed only if all rules that set this field emit false. */
  readonly finalizer?: boolean;
  /** Spec fields; the write has the resourceVersion of the object that the rules saw. */
  readonly spec?: Readonly<Record<string, Json>>;
  /** Status fields, compared one by one. */
  readonly status?: Readonly<Record<string, Json>>;
  /** Conditions by type; conditions of other types stay. */
  readonly conditions?: readonly ConditionOutput[];
  /** Types of conditions to remove. */
  readonly withoutConditions?: readonly ConditionType[];
  /** By condition type: the Event that is emitted once such a condition has been removed. */
  readonly eventsWithout?: Readonly<Record<string, EventOutput>>;
  /** Event that is emitted once after the patch has been written. */
  readonly event?: EventOutput;
}

/** An object that must exist. It is created if it does not; later changes of it are patches. */
export interface CreateOutput {
  readonly kind: 'create';
  readonly resource: ResourceName;
  readonly key: string;
  readonly object: { readonly [key: string]: Json | undefined };
}

export interface DeleteOutput {
  readonly kind: 'delete';
  readonly resource: ResourceName;
  readonly key: string;
  readonly uid: string;
  /** Owner text of the object that it was for, and that is gone: it is a leftover, and goes by the plan of the collection. */
  readonly leftOf?: string;
  /** Event that is emitted once after the API server has accepted the deletion. */
  readonly event?: EventOutput;
}

/**
 * A pod to evict as soon as its disruption budgets permit, so that its controller creates another one. The eviction is retried until then.
 */
export interface EvictOutput {
  readonly kind: 'evict';
  readonly resource: ResourceName;
  readonly key: string;
  readonly uid: string;
  /** Event that is emitted once after the API server has accepted the eviction. */
  readonly event?: EventOutput;
}

/** An address that an interface needs; the allocation step answers with a reservation. */
export interface AddressRequestOutput {
  readonly kind: 'address-request';
  readonly request: AddressRequest;
}

/** The addresses of a Subnet, for the allocator. */
export interface PoolOutput {
  readonly kind: 'pool';
  readonly subnet: string;
  /** Canonical CIDR of each family. */
  readonly v4?: string;
  readonly v6?: string;
  readonly gateways: readonly string[];
  /** MACs of its router port and its DHCP servers. */
  readonly gatewayMacs: readonly Mac[];
  /** `a` or `a..b`. */
  readonly excludeIps: readonly string[];
  /** Its IPPools. Where two overlap, the first has the addresses. */
  readonly named: readonly NamedPool[];
}

export interface NamedPool {
  readonly name: string;
  /** `a`, `a..b` or a CIDR. */
  readonly ips: readonly string[];
}

/** A fact about an object that its user should know: emitted as an Event when a rule begins to emit it. */
export interface ReportOutput {
  readonly kind: 'report';
  readonly resource: ResourceName;
  readonly key: string;
  readonly uid: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  readonly message: string;
}

export type ObjectOutput = PatchOutput | CreateOutput | DeleteOutput | EvictOutput;
/**
 * One output of a rule.
 *
 * Guarantees: outputs are plain data and compared by value. While a rule emits an equal output again, nothing happens; the diff compares an
 * identity with the World only after an output for it, or its observed state, has changed. What no rule emits any longer is collected
 * (rows, members), withdrawn (address requests, pools) or left as it is (objects and fields).
 *
 * Retries: an output stands until its rule withdraws it, so a failed write is planned and sent again, with growing delays for one that the
 * server rejects.
 */
export type Output = RowOutput | MemberOutput | SelectionOutput | ObjectOutput | AddressRequestOutput | PoolOutput | ReportOutput;

/** `<resource>/<namespace/name or name>`: identity of a Kubernetes object among outputs. */
export type ObjectId = string & { readonly __brand: 'ObjectId' };

export function objectId(resource: ResourceName, key: string): ObjectId {
  return `${resource}/${key}` as ObjectId;
}
