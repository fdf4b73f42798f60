/**
 * Conditions: what rules say against what the object shows. Times are stamped only where something changed.
 */
import type { Condition } from '../api/kubernetes/meta.ts';
import type { ConditionOutput } from '../compile/output.ts';
import { conditionMessage } from '../text/visible-text.ts';
import { parsedTime } from '../world/conditions.ts';

export interface ConditionDiff {
  /** The whole list as it should be written. */
  readonly conditions: readonly Condition[];
  /** Those that are new, or whose status, reason or message changed. */
  readonly changed: readonly ConditionOutput[];
  /** Those of the changed whose Event is due. */
  readonly told: readonly ConditionOutput[];
  /** Types that were there and are taken away. */
  readonly removed: readonly string[];
}

export interface ConditionStamp {
  /** RFC 3339. */
  readonly now: string;
  /** Likewise, the date that moments pass by: later than `now` where the clock was set back. */
  readonly date: string;
  readonly observedGeneration: number | undefined;
  /** Kube-OVN's kinds carry `lastUpdateTime` and `observedGeneration`; pods do not. */
  readonly extended: boolean;
}

/** @returns undefined when all conditions are as they should be */
export function diffConditions(
  observed: readonly Condition[],
  stated: readonly ConditionOutput[],
  without: readonly string[],
  stamp: ConditionStamp,
): ConditionDiff | undefined {
  const wanted = stated.map(visibleCondition);
  const changed: ConditionOutput[] = [];
  const told: ConditionOutput[] = [];
  const removed: string[] = [];
  const conditions: Condition[] = [];
  const named = new Map<string, ConditionOutput>(wanted.map((one) => [one.type, one]));
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
    if (want.event !== undefined && !(want.eventOnce === true && sameState)) told.push(want);
    conditions.push(stamped(want, held.status === want.status ? held.lastTransitionTime : undefined, stamp));
  }
  for (const want of named.values()) {
    differs = true;
    changed.push(want);
    if (want.event !== undefined) told.push(want);
    conditions.push(stamped(want, undefined, stamp));
  }
  return differs ? { conditions, changed, told, removed } : undefined;
}

/** Compared as it is written: else what was escaped would differ from what is wanted for ever. */
function visibleCondition(condition: ConditionOutput): ConditionOutput {
  const message = conditionMessage(condition.message);
  return message === condition.message ? condition : { ...condition, message };
}

/** Clocks of machines differ by less. */
const DAY_MS = 24 * 3_600_000;

/**
 * Somebody edited since when it is so into something that is no time, or what ends so long after it would wait for a day that a clock showed by
 * mistake: nobody could reckon with that, so it is so from now on.
 */
function withReadableTime(held: Condition, want: ConditionOutput | undefined, stamp: ConditionStamp): Condition {
  const { lastTransitionTime } = held;
  if (typeof lastTransitionTime !== 'string') return held;
  const since = parsedTime(lastTransitionTime);
  if (since !== undefined && (want?.timed !== true || since <= Date.parse(stamp.date) + DAY_MS)) return held;
  return { ...held, lastTransitionTime: begins(want, stamp) };
}

function begins(want: ConditionOutput | undefined, { now, date }: ConditionStamp): string {
  return want?.timed === true ? date : now;
}

/**
 * The generation to write where a condition says the same of a newer spec: whoever waits for `observedGeneration` is to see it. One
 * that the server never kept (a CRD without the field) is not written again and again.
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
