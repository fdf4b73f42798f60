/**
 * The lease of an unused address (no relation to Kubernetes' Lease): an annotation with a duration on its IP object, Vip or EIP. It begins
 * with condition `Idle`, so a restart changes nothing. A use ends it; when the use ends, a new lease begins.
 */
import type { ConditionType } from '../api/condition-types.ts';
import { parseDuration } from '../api/values/duration.ts';
import type { Condition, Labels } from '../api/kubernetes/meta.ts';
import { kilnAnnotation } from '../api/well-known.ts';
import type { ResourceName } from '../world/resources.ts';
import { parsedTime } from '../world/conditions.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import type { ConditionOutput, DeleteOutput } from './output.ts';

/** Abnormal-true: an address with a lease is unused. Its transition time is the begin of the lease. */
const IDLE = 'Idle';
const INVALID = 'LeaseInvalid';
export const LEASE_CONDITIONS: readonly ConditionType[] = [IDLE, INVALID];

export type AddressLease =
  | { readonly kind: 'none' }
  /** The address lease runs, or its duration is invalid. */
  | { readonly kind: 'reported'; readonly condition: ConditionOutput }
  | { readonly kind: 'expired'; readonly deletion: DeleteOutput };

/** An object with an address that may have a lease. */
export interface Leased {
  readonly resource: ResourceName;
  readonly name: string;
  readonly uid: string;
  readonly annotations: Labels;
  readonly conditions: readonly Partial<Condition>[];
  /** As text; empty for none. */
  readonly address: string;
  readonly used: boolean;
}

const NONE: AddressLease = { kind: 'none' };

/** The problem of an object's lease annotation; undefined if it is valid or absent. */
export function leaseProblem(resource: ResourceName, name: string, annotations: Labels): string | undefined {
  const text = annotations[kilnAnnotation.lease];
  return text === undefined || parseDuration(text) !== undefined ? undefined : unreadable(traitsOf(resource).kind, name, text);
}

function unreadable(kind: string, name: string, text: string): string {
  return `${kind} ${name}: annotation ${kilnAnnotation.lease} "${text}" is not a duration such as 24h, 90m or 7d; the address is kept without a lease`;
}

export function addressLease(world: World, { resource, name, uid, annotations, conditions, address, used }: Leased): AddressLease {
  const text = annotations[kilnAnnotation.lease];
  if (text === undefined) return NONE;
  const { kind } = traitsOf(resource);
  const duration = parseDuration(text);
  if (duration === undefined)
    return reported({ type: INVALID, status: 'True', reason: 'LeaseInvalid', message: unreadable(kind, name, text), event: 'Warning' });
  if (used) return NONE;
  const begun = unusedSince(conditions);
  if (begun === undefined) return reported(unusedCondition(`nothing uses the address; its lease of ${text} begins`));
  const end = begun + duration;
  if (!world.deadlines.passed(end))
    return reported(unusedCondition(`nothing uses the address; its lease of ${text} ends at ${timeText(end)}`));
  const message = `the lease of ${text} ended at ${timeText(end)} and nothing used ${address === '' ? 'it' : `address ${address}`}; the ${kind} object is deleted`;
  return {
    kind: 'expired',
    deletion: { kind: 'delete', resource, key: name, uid, event: { type: 'Normal', reason: 'LeaseEnded', message } },
  };
}

function reported(condition: ConditionOutput): AddressLease {
  return { kind: 'reported', condition };
}

function unusedCondition(message: string): ConditionOutput {
  return { type: IDLE, status: 'True', reason: 'LeaseRuns', message, timed: true };
}

/** Transition time of condition `Idle`, in milliseconds since the epoch. */
function unusedSince(conditions: readonly Partial<Condition>[]): number | undefined {
  return parsedTime(conditions.find((one) => one?.type === IDLE && one.status === 'True')?.lastTransitionTime);
}

function timeText(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
