/** Conditions: desired against observed. A condition gets a new time only if it changed. */
import type { Condition } from '../api/kubernetes/meta.ts';
import type { Reason } from '../api/reasons.ts';
import type { ConditionOutput } from '../compile/output.ts';
import { conditionMessage } from '../text/visible-text.ts';
import { parsedTime } from '../world/conditions.ts';

export interface ConditionDiff {
  /** The whole list to write. */
  readonly conditions: readonly Condition[];
  /** New conditions, and those with a changed status, reason or message. */
  readonly changed: readonly ConditionOutput[];
  /** The changed conditions for which an Event is due. */
  readonly withEvent: readonly ConditionOutput[];
  /** Types of removed conditions. */
  readonly removed: readonly string[];
}

/** An Event to emit once the write that it belongs to has succeeded. */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  readonly message: string;
}

/** The Event of a condition; undefined if it has none. */
export function eventOfCondition({ event: type, eventReason, reason, message }: ConditionOutput): PlannedEvent | undefined {
  if (type === undefined) return undefined;
  return eventReason === undefined ? { type, reason, message } : { type, reason: eventReason, message: `${reason}: ${message}` };
}

export interface ConditionStamp {
  /** RFC 3339. */
  readonly now: string;
  /** Likewise, by the monotonic clock: later than `now` after the machine's clock was set back. */
  readonly monotonic: string;
  readonly observedGeneration: number | undefined;
  /** Conditions of Kube-OVN's kinds have `lastUpdateTime` and `observedGeneration`; those of pods do not. */
  readonly extended: boolean;
}

/**
 * Compares conditions by type. Types that the rules do not name stay.
 * @param without types to remove
 * @returns undefined if all conditions are as desired
 */
export function diffConditions(
  observed: readonly Condition[],
  emitted: readonly ConditionOutput[],
  without: readonly string[],
  stamp: ConditionStamp,
): ConditionDiff | undefined {
  const desired = emitted.map(visibleCondition);
  const changed: ConditionOutput[] = [];
  const withEvent: ConditionOutput[] = [];
  const removed: string[] = [];
  const conditions: Condition[] = [];
  const named = new Map<string, ConditionOutput>(desired.map((one) => [one.type, one]));
  let differs = false;
  for (const one of observed) {
    const want = named.get(one.type);
    const held = withReadableTime(one, want, stamp);
    if (want === undefined) {
      if (without.includes(held.type)) {
        differs = true;
        removed.push(held.type);
      } else conditions.push(one);
      continue;
    }
    named.delete(held.type);
    if (held.status === want.status && (held.reason ?? '') === want.reason && (held.message ?? '') === want.message) {
      const observedGeneration = newerGeneration(held, stamp);
      if (observedGeneration !== undefined || held !== one) differs = true;
      conditions.push(observedGeneration === undefined ? held : { ...held, observedGeneration, lastUpdateTime: stamp.now });
      continue;
    }
    differs = true;
    changed.push(want);
    const sameState = held.status === want.status && (held.reason ?? '') === want.reason;
    if (want.event !== undefined && !(want.eventOnce === true && sameState)) withEvent.push(want);
    conditions.push(stamped(want, held.status === want.status ? held.lastTransitionTime : undefined, stamp));
  }
  for (const want of named.values()) {
    differs = true;
    changed.push(want);
    if (want.event !== undefined) withEvent.push(want);
    conditions.push(stamped(want, undefined, stamp));
  }
  return differs ? { conditions, changed, withEvent, removed } : undefined;
}

/** The condition with the message as it is written: an escaped message would else differ from the desired one for ever. */
function visibleCondition(condition: ConditionOutput): ConditionOutput {
  const message = conditionMessage(condition.message);
  return message === condition.message ? condition : { ...condition, message };
}

/** More than clocks of machines differ. */
const DAY_MS = 24 * 3_600_000;

/**
 * Replaces a transition time by now, if no deadline can be computed from it: a user wrote a text that is no time, or a timed condition
 * begins more than a day in the future, since a clock was wrong.
 */
function withReadableTime(held: Condition, want: ConditionOutput | undefined, stamp: ConditionStamp): Condition {
  const { lastTransitionTime } = held;
  if (typeof lastTransitionTime !== 'string') return held;
  const since = parsedTime(lastTransitionTime);
  if (since !== undefined && (want?.timed !== true || since <= Date.parse(stamp.monotonic) + DAY_MS)) return held;
  return { ...held, lastTransitionTime: begins(want, stamp) };
}

function begins(want: ConditionOutput | undefined, { now, monotonic }: ConditionStamp): string {
  return want?.timed === true ? monotonic : now;
}

/**
 * The generation to write if the condition is the same for a newer spec: clients wait for `observedGeneration`. Undefined if the server
 * dropped the field before (an older CRD), since each turn would write it again.
 */
function newerGeneration(held: Condition, { extended, observedGeneration }: ConditionStamp): number | undefined {
  if (!extended || observedGeneration === undefined || held.observedGeneration === undefined) return undefined;
  return held.observedGeneration < observedGeneration ? observedGeneration : undefined;
}

function stamped(want: ConditionOutput, since: string | undefined, stamp: ConditionStamp): Condition {
  const base = { type: want.type, status: want.status, reason: want.reason, message: want.message };
  const lastTransitionTime = since ?? begins(want, stamp);
  if (!stamp.extended) return { ...base, lastTransitionTime };
  return {
    ...base,
    ...(stamp.observedGeneration === undefined ? {} : { observedGeneration: stamp.observedGeneration }),
    lastUpdateTime: stamp.now,
    lastTransitionTime,
  };
}
