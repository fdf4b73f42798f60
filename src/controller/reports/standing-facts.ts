/**
 * Facts that hold and are reported by an Event. A new leader compares them with the Events on the server: the earlier leader may have
 * stopped between writing a condition and sending its Event.
 */
import type { Desired } from '../../compile/desired.ts';
import type { ConditionOutput, ReportOutput } from '../../compile/output.ts';
import type { ObjectSource } from '../../commit/object-writer.ts';
import { eventOfCondition } from '../../diff/condition-diff.ts';
import { conditionOf } from '../../world/conditions.ts';

/** Well within the hour for which the server keeps Events: the Event of an older condition was sent, and may have expired. */
const RECENT_MS = 600_000;

/** A fact that is reported by an Event. */
export interface StandingFact {
  /** Of the object. */
  readonly uid: string;
  readonly reason: string;
  readonly message: string;
  /** The Event of a `transition` may have an earlier message. */
  readonly of: 'report' | 'condition' | 'transition';
}

export interface StandingReport extends ReportOutput {
  /** Its Event may have an earlier message. */
  readonly once?: true;
}

/** Objects between two yields: some milliseconds. */
const AT_ONCE = 2_000;

/**
 * Reports, and conditions that were written lately; `undefined`: the caller may yield.
 * @param now milliseconds since the epoch
 */
export function* standingReports(desired: Desired, source: Pick<ObjectSource, 'get'>, now: number): Generator<StandingReport | undefined> {
  yield* desired.reports.all;
  let looked = 0;
  for (const id of desired.objects.ids) {
    if (++looked % AT_ONCE === 0) yield undefined;
    for (const output of desired.objects.of(id)) {
      if (output.kind !== 'patch') continue;
      const { resource, key, uid, conditions = [] } = output;
      for (const condition of conditions) {
        const event = eventOfCondition(condition);
        if (event === undefined || !isWrittenLately(condition, source.get(resource, key), resource, now)) continue;
        yield { kind: 'report', resource, key, uid, ...event, ...(condition.eventOnce === true && { once: true }) };
      }
    }
  }
}

/** A condition that is not written yet gets its Event with the write. */
function isWrittenLately(
  { type, status, reason, message }: ConditionOutput,
  object: ReturnType<ObjectSource['get']>,
  resource: ReportOutput['resource'],
  now: number,
): boolean {
  const held = object === undefined ? undefined : conditionOf(resource, object, type);
  if (held?.status !== status || held.reason !== reason || (held.message ?? '') !== message) return false;
  return now - Date.parse(held.lastUpdateTime ?? held.lastTransitionTime ?? '') < RECENT_MS;
}

/** Every fact that is reported by an Event, sent or not. */
export function* standingFacts({ reports, objects }: Pick<Desired, 'reports' | 'objects'>): Generator<StandingFact> {
  for (const { uid, reason, message } of reports.fresh) yield { uid, reason, message, of: 'report' };
  for (const id of objects.ids)
    for (const output of objects.of(id))
      if (output.kind === 'patch')
        for (const condition of output.conditions ?? []) {
          const event = eventOfCondition(condition);
          if (event === undefined) continue;
          const { reason, message } = event;
          yield { uid: output.uid, reason, message, of: condition.eventOnce === true ? 'transition' : 'condition' };
        }
}
