/**
 * Ineffective fields: valid for OVN, and without effect at present, such as a match with a missing address set. Kiln writes the rows all
 * the same, since the set, the network or the namespace may be created later, and reports the field in a condition until then.
 */
import type { ConditionType } from '../api/condition-types.ts';
import type { Finding, Subject } from '../api/validation/finding.ts';
import { matchHostBits } from '../api/validation/host-bits.ts';
import { POD_INEFFECTIVE } from '../api/well-known.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { findingsText } from './findings-text.ts';
import { ineffectiveNames } from './ineffective-names.ts';
import type { PatchOutput } from './output.ts';

/** Abnormal-true: the object has the condition only while it is true. */
export const INEFFECTIVE = 'WithoutEffect';

/** On a pod, whose conditions other programs write too, the type has Kiln's prefix. */
export function ineffectiveType(resource: ResourceName): ConditionType {
  return traitsOf(resource).sharedConditions === true ? POD_INEFFECTIVE : INEFFECTIVE;
}

/** The condition, or its removal without findings. @param next a command */
export function ineffectiveCondition(
  findings: readonly Finding[],
  next: string,
  type: ConditionType = INEFFECTIVE,
): Pick<PatchOutput, 'conditions' | 'withoutConditions'> {
  // A finding about host bits names the condition only if there is no other one: its field is in effect, though not as written.
  const first = findings.find(({ code }) => code !== 'HostBitsCleared') ?? findings[0];
  if (first === undefined) return { withoutConditions: [type] };
  const message = `${findingsText(findings)}. All else is in effect; ${next}`;
  return { conditions: [{ type, status: 'True', reason: first.code, message, event: 'Warning' }] };
}

/** Ineffective parts of a valid match. @param field path of the match */
export function ineffectiveMatch(world: World, subject: Subject, field: string, match: string): readonly Finding[] {
  return [...ineffectiveNames(world, subject, field, match), ...matchHostBits(subject, field, match)];
}
