/**
 * What a rule says should exist: Northbound rows and members, Kubernetes objects and what of them, addresses, notices.
 * Plain data; every output names the object because of which it exists.
 */
import type { ConditionType } from '../api/condition-types.ts';
import type { Reason } from '../api/reasons.ts';
import type { Mac } from '../net/mac.ts';
import type { Owner } from '../nb/ownership.ts';
import type { RowId, RowRef } from '../nb/row-id.ts';
import type { ResourceName } from '../world/resources.ts';
import type { AddressRequest } from '../world/reservations.ts';

export type Scalar = string | number | boolean;

/** Set columns are arrays, map columns plain records, an optional column that is to be empty is null. */
export type ColumnValue = Scalar | RowRef | null | readonly (Scalar | RowRef)[] | Readonly<Record<string, string>>;

/** An owner with what decides between two claims to one identity: the older object wins. */
export interface Claimant extends Owner {
  /** RFC 3339 creation time. */
  readonly created: string;
}

/** A row that should exist. Columns not named keep the value they have (on insert: the schema's default). */
export interface RowOutput {
  readonly kind: 'row';
  readonly id: RowId;
  readonly owner: Claimant;
  readonly rule: string;
  /** For rows that live in a column of another row. */
  readonly parent?: { readonly id: RowId; readonly column: string };
  readonly columns: Readonly<Record<string, ColumnValue>>;
  /** Kube-OVN's keys; vendor and owner keys are added by the diff. */
  readonly externalIds?: Readonly<Record<string, string>>;
  /** The status of its owner names the row: one without keys is Kube-OVN's, and is adopted. */
  readonly named?: true;
  /** A leftover of Kube-OVN: retained as it is while its owner exists, where no other rule emits the row. */
  readonly leftover?: true;
  /** Of a row that is kept as it is: what may have been written into it last. What its seal says that was is wanted of it. */
  readonly sealed?: readonly RowOutput[];
}

/** One element of a shared set column, or one key of a shared map column, of a row that another rule (or nobody) wants. */
export interface MemberOutput {
  readonly kind: 'member';
  readonly row: RowId;
  readonly column: string;
  readonly member: RowRef | Scalar | { readonly key: string; readonly value: string };
}

export type Json = string | number | bigint | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A condition as rules state it; times and observedGeneration are added when it is written. */
export interface ConditionOutput {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
  /** Emit an Event of this type when the condition is written. */
  readonly event?: 'Normal' | 'Warning';
  /** The Event is for the transition: not again when only the message changes, as a list of names does with each that goes. */
  readonly eventOnce?: true;
  /** Something ends so long after its transition time: that is of the date that moments pass by, which a clock that is set back does not change. */
  readonly timed?: true;
}

export interface EventOutput {
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  readonly message: string;
}

/** What some fields of an existing object should be. Fields not named are left alone; null removes. */
export interface PatchOutput {
  readonly kind: 'patch';
  readonly resource: ResourceName;
  /** `namespace/name` or `name`. */
  readonly key: string;
  readonly uid: string;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly labels?: Readonly<Record<string, string | null>>;
  /** Whether Kiln's finalizer should be there. Of several rules that speak, all must agree to let it go. */
  readonly finalizer?: boolean;
  /** Spec fields; sent with the resourceVersion they were derived from. */
  readonly spec?: Readonly<Record<string, Json>>;
  /** Status fields, each compared and written on its own. */
  readonly status?: Readonly<Record<string, Json>>;
  /** Conditions by type; types not named are left alone. */
  readonly conditions?: readonly ConditionOutput[];
  /** Condition types that should not be there. */
  readonly withoutConditions?: readonly ConditionType[];
  /** By condition type: Events to emit when such a condition was there and is taken away. */
  readonly eventsWithout?: Readonly<Record<string, EventOutput>>;
  /** Event to emit once when this patch has been written. */
  readonly event?: EventOutput;
}

/** An object that should exist; made when it does not. What it should say later is a PatchOutput's matter. */
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
  /** Event to emit once when the server has taken the deletion. */
  readonly event?: EventOutput;
}

/** A pod that is to leave as soon as its disruption budgets allow, so that its owner makes another. */
export interface EvictOutput {
  readonly kind: 'evict';
  readonly resource: 'pods';
  readonly key: string;
  readonly uid: string;
  /** Event to emit once when the server has taken the eviction. */
  readonly event?: EventOutput;
}

/** An address some interface needs; the allocation step answers with a reservation. */
export interface AddressRequestOutput {
  readonly kind: 'address-request';
  readonly request: AddressRequest;
}

/** What the allocator is to know of a Subnet that hands out addresses. */
export interface PoolOutput {
  readonly kind: 'pool';
  readonly subnet: string;
  /** Canonical network of each family it has. */
  readonly v4?: string;
  readonly v6?: string;
  readonly gateways: readonly string[];
  /** Of its port on a router, and of its DHCP servers. */
  readonly gatewayMacs: readonly Mac[];
  /** `a` or `a..b`. */
  readonly excludeIps: readonly string[];
  /** Its IPPools, each once: of two that overlap, the first counts. */
  readonly named: readonly NamedPool[];
}

export interface NamedPool {
  readonly name: string;
  /** `a`, `a..b` or a CIDR. */
  readonly ips: readonly string[];
}

/** A standing fact people should read on the object: emitted as an Event when it appears. */
export interface NoticeOutput {
  readonly kind: 'notice';
  readonly resource: ResourceName;
  readonly key: string;
  readonly uid: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  readonly message: string;
}

export type ObjectOutput = PatchOutput | CreateOutput | DeleteOutput | EvictOutput;
export type Output = RowOutput | MemberOutput | ObjectOutput | AddressRequestOutput | PoolOutput | NoticeOutput;

/** `<resource>/<namespace/name or name>`: identity of a Kubernetes object among outputs. */
export type ObjectId = string & { readonly __brand: 'ObjectId' };

export function objectId(resource: ResourceName, key: string): ObjectId {
  return `${resource}/${key}` as ObjectId;
}
