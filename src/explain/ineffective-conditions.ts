/**
 * The parts of an object that have no effect: not implemented, or ineffective at present; and what another object contradicts. Read from its conditions; computed for kinds
 * without conditions.
 */
import { POD_UNIMPLEMENTED, POD_INEFFECTIVE } from '../api/well-known.ts';
import { ineffectiveWithoutCondition } from '../compile/ineffective-rules.ts';
import { findingsText } from '../compile/findings-text.ts';
import { INEFFECTIVE } from '../compile/ineffective-condition.ts';
import { conditionsOf } from '../world/conditions.ts';
import type { ResourceName } from '../world/resources.ts';
import { keyOf } from '../world/resources.ts';
import type { AnyObservedObject, World } from '../world/world.ts';

export interface IneffectiveCondition {
  /** `not implemented` holds for this version of Kiln; a user can correct what is `without effect`, or in `conflict` with another object. */
  readonly what: 'not implemented' | 'without effect' | 'conflict';
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly since: string;
}

const TYPES: readonly (readonly [type: string, what: IneffectiveCondition['what']])[] = [
  [INEFFECTIVE, 'without effect'],
  [POD_INEFFECTIVE, 'without effect'],
  ['NotCarriedOut', 'not implemented'],
  ['NatConflict', 'conflict'],
  [POD_UNIMPLEMENTED, 'not implemented'],
];

/** At most one of each type. */
export function ineffectiveConditions(world: World, resource: ResourceName, object: AnyObservedObject): readonly IneffectiveCondition[] {
  const since = object.metadata.creationTimestamp;
  const computed = ineffectiveWithoutCondition(world, resource, keyOf(object), object);
  const [first] = computed;
  if (first !== undefined) return [{ what: 'without effect', reason: first.code, message: findingsText(computed), since }];
  const conditions = conditionsOf(resource, object);
  if (conditions.length === 0) return [];
  return TYPES.flatMap(([type, what]) => {
    const found = conditions.find((one) => one.type === type && one.status === 'True');
    if (found === undefined) return [];
    const { reason = type, message = '', lastTransitionTime = since } = found;
    return [{ what, reason, message, since: lastTransitionTime }];
  });
}
