/**
 * The lease of an address that nothing uses: an annotation with a duration on its IP object. It runs from the moment the IP object shows
 * that nothing uses it, which a condition tells, so that a restart changes nothing; a use ends it, and the next idle time starts it anew.
 */
import type { IP } from '../../api/ip.ts';
import { parseDuration } from '../../api/duration.ts';
import type { Condition } from '../../api/meta.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import type { World } from '../../world/world.ts';
import type { IpHolder } from './ip-holder.ts';
import type { ConditionOutput, DeleteOutput } from '../output.ts';

/** Abnormal-true: an address with a lease is idle. Its transition time is the start of the lease. */
const IDLE = 'Idle';
const INVALID = 'LeaseInvalid';
export const LEASE_CONDITIONS: readonly string[] = [IDLE, INVALID];

export type Lease =
  | { readonly kind: 'none' }
  /** Something to tell: it runs, or it cannot be read. */
  | { readonly kind: 'told'; readonly condition: ConditionOutput }
  | { readonly kind: 'over'; readonly deletion: DeleteOutput };

const NONE: Lease = { kind: 'none' };

export function leaseOf(world: World, ip: IP, holder: IpHolder): Lease {
  const text = ip.metadata.annotations?.[kilnAnnotation.lease];
  if (text === undefined) return NONE;
  const { name, uid } = ip.metadata;
  const duration = parseDuration(text);
  if (duration === undefined)
    return told({
      type: INVALID,
      status: 'True',
      reason: 'LeaseInvalid',
      message: `IP ${name}: annotation ${kilnAnnotation.lease} "${text}" is not a duration such as 24h, 90m or 7d; the address is kept without a lease`,
      event: 'Warning',
    });
  // A pod or a node uses its address; a user's reservation and a StatefulSet only keep one.
  if (holder.kind !== 'reservation' && holder.kind !== 'statefulset') return NONE;
  const begun = idleSince(ip);
  if (begun === undefined) return told(idle(`nothing uses the address; its lease of ${text} begins`));
  const end = begun + duration;
  if (!world.deadlines.passed(end)) return told(idle(`nothing uses the address; its lease of ${text} ends at ${timeText(end)}`));
  const message = `the lease of ${text} ended at ${timeText(end)} and nothing used ${ip.spec.ipAddress === '' ? 'it' : `address ${ip.spec.ipAddress}`}; the IP object is deleted`;
  return {
    kind: 'over',
    deletion: { kind: 'delete', resource: 'ips', key: name, uid, event: { type: 'Normal', reason: 'LeaseEnded', message } },
  };
}

function told(condition: ConditionOutput): Lease {
  return { kind: 'told', condition };
}

function idle(message: string): ConditionOutput {
  return { type: IDLE, status: 'True', reason: 'LeaseRuns', message };
}

/** Since when the IP object says that nothing uses it, in milliseconds since the epoch. */
function idleSince(ip: IP): number | undefined {
  const text = ip.metadata.annotations?.[kilnAnnotation.conditions];
  if (text === undefined) return undefined;
  let conditions: unknown;
  try {
    conditions = JSON.parse(text);
  } catch {
    // Somebody wrote nonsense into the annotation; it is written again, and the lease begins anew.
    return undefined;
  }
  if (!Array.isArray(conditions)) return undefined;
  const since = (conditions as readonly Partial<Condition>[]).find(
    (one) => one?.type === IDLE && one.status === 'True',
  )?.lastTransitionTime;
  const begun = typeof since === 'string' ? Date.parse(since) : Number.NaN;
  return Number.isNaN(begun) ? undefined : begun;
}

function timeText(moment: number): string {
  return new Date(moment).toISOString().replace(/\.\d+Z$/, 'Z');
}
